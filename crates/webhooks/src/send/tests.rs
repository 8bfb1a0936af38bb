//! Attempts over connections that were closed, and connections with long responses.

use super::*;
use candor_outbound::{Driver, MeteredSocket};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Returns a connection whose other end is closed, but which still looks usable.
async fn closed_connection(address: SocketAddr) -> Connection {
    let (_, allowance) = MeteredSocket::new(TcpStream::connect(address).await.unwrap());
    let (ours, theirs) = tokio::io::duplex(1024);
    let (mut sender, connection) = http1::handshake(TokioIo::new(ours)).await.unwrap();
    let driver = Driver::new(tokio::spawn(async move { connection.await.unwrap_or_default() }));
    sender.ready().await.unwrap();
    drop(theirs);
    Connection { wire: Wire::One(sender), allowance, driver: Arc::new(driver) }
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed_undrained() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let policy = Policy::new_trusting(vec!["127.0.0.0/8".parse().unwrap()]);
    let dialer = Dialer::new(policy, HostNames::default(), &[]).unwrap();
    let inner = Inner { dialer, pool: Pool::default(), drains: Drains::new(4) };
    let sender = Sender { inner: Arc::new(inner) };
    let mut open = vec![];
    for number in 0..6 {
        let request = WebhookRequest {
            organization: OrganizationId::from_bytes([1; 16]),
            url: format!("http://{address}/"),
            headers: vec![],
            custom_headers: vec![],
            body: Bytes::from_static(b"{}"),
            deadline: Duration::from_secs(20),
        };
        let response = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            assert!(socket.read(&mut [0; 1024]).await.unwrap() > 0);
            socket.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n").await.unwrap();
            socket
        };
        let (attempt, socket) = tokio::join!(sender.send(request), response);
        assert_eq!(attempt.response_status, 200);
        assert!(number > 0 || sender.inner.drains.len() == 1);
        assert!(sender.inner.drains.len() <= 2, "half of the limit for one organization");
        open.push(socket);
    }
    for mut socket in open {
        let mut rest = vec![];
        // The connection ends, with an error if it was closed before the whole answer was read.
        let _ = socket.read_to_end(&mut rest).await;
    }
    assert_eq!(sender.kept_connections(), 0);
}

#[tokio::test]
async fn request_unsent_on_a_closed_connection_is_sent_on_a_new_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = Url::parse(&format!("http://{address}/")).unwrap();
    let sender =
        Sender::new(SenderSettings { trusted: vec!["127.0.0.0/8".parse().unwrap()], ..SenderSettings::default() });
    let sender = sender.unwrap();
    let body = Bytes::from_static(b"{}");
    let connection = closed_connection(address).await;
    let exchange_result = sender.exchange(&url, &HeaderMap::new(), &body, address, connection).await;
    assert_eq!(exchange_result.map(|_| ()), Err(NoResponse::Unsent));

    sender.inner.pool.put(Key::new(&url, address), closed_connection(address).await);
    let deadline = Duration::from_secs(20);
    let organization = OrganizationId::from_bytes([1; 16]);
    let (headers, custom_headers) = (vec![], vec![]);
    let request = WebhookRequest { organization, url: url.to_string(), headers, custom_headers, body, deadline };
    let response = async {
        for _ in 0..2 {
            // The first two sockets are those that `closed_connection` opened for the byte allowance. They stay
            // unused.
            drop(listener.accept().await.unwrap());
        }
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut read = [0; 1024];
        assert!(socket.read(&mut read).await.unwrap() > 0);
        socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    };
    let (attempt, ()) = tokio::join!(sender.send(request), response);
    assert_eq!(attempt.response_status, 204);
}
