//! Connections that the sender keeps or shares, and connections that the receiver closes.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use candor_domain::attempt_failure::FailureReason::{Closed, Timeout};
use candor_port_events::WebhookTransport;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::support::{
    AMPLE, BODY, OK, Receiver, SHORT, acknowledged, failed, outcome_of, post, request, sender, wait_until,
};
use crate::tls::Authority;

/// Makes `wanted` attempts over one connection. Waits after each attempt until another task has returned the
/// connection to the pool.
async fn attempts_over_one_connection(receiver: &Receiver, wanted: usize) {
    let sender = sender();
    for _ in 0..wanted {
        assert_eq!(outcome_of(&sender, post(receiver.url(), AMPLE)).await, acknowledged(200));
        wait_until("the connection is kept", || sender.kept_connections() == 1).await;
    }
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn connection_is_kept_after_a_short_response() {
    attempts_over_one_connection(&Receiver::answering(OK).await, 5).await;
    let with_body = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
    attempts_over_one_connection(&Receiver::answering(with_body).await, 5).await;
}

#[tokio::test]
async fn connection_is_closed_after_a_long_response() {
    let long = format!("HTTP/1.1 200 OK\r\ncontent-length: 4097\r\n\r\n{}", "x".repeat(4097));
    let receiver = Receiver::answering(Box::leak(long.into_bytes().into_boxed_slice())).await;
    let sender = sender();
    for _ in 0..3 {
        assert_eq!(outcome_of(&sender, post(receiver.url(), AMPLE)).await, acknowledged(200));
        wait_until("each connection is closed", || receiver.ended() == receiver.connections()).await;
    }
    assert_eq!(receiver.connections(), 3);
}

#[tokio::test]
async fn attempt_on_a_closed_idle_connection_succeeds() {
    let receiver = Receiver::start(|mut socket| async move {
        request(&mut socket).await;
        socket.write_all(OK).await.unwrap();
    })
    .await;
    let sender = sender();
    for wanted in 1..=3 {
        assert_eq!(outcome_of(&sender, post(receiver.url(), AMPLE)).await, acknowledged(200));
        assert_eq!(receiver.connections(), wanted);
        let is_pool_empty = || {
            sender.sweep();
            sender.kept_connections() == 0
        };
        wait_until("the sender has noticed the closed connection", is_pool_empty).await;
    }
}

#[tokio::test]
async fn request_that_was_read_is_not_sent_again_in_an_attempt() {
    let (read, connections) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (reading, served) = (Arc::clone(&read), Arc::clone(&connections));
    let receiver = Receiver::start(move |mut socket| {
        let first = served.fetch_add(1, Ordering::SeqCst) == 0;
        let read = Arc::clone(&reading);
        async move {
            for responses in [true, !first] {
                if request(&mut socket).await.is_some() {
                    read.fetch_add(1, Ordering::SeqCst);
                }
                if responses {
                    socket.write_all(OK).await.unwrap();
                }
            }
        }
    })
    .await;
    let sender = sender();
    assert_eq!(outcome_of(&sender, post(receiver.url(), AMPLE)).await, acknowledged(200));
    wait_until("the connection is kept", || sender.kept_connections() == 1).await;
    assert_eq!(outcome_of(&sender, post(receiver.url(), AMPLE)).await, failed(0, Closed));
    assert_eq!((receiver.connections(), read.load(Ordering::SeqCst)), (1, 2), "the request is not sent again");
    assert_eq!(
        outcome_of(&sender, post(receiver.url(), AMPLE)).await,
        acknowledged(200),
        "the next attempt opens a connection"
    );
}

/// Serves HTTP/2 and acknowledges every request, except a request for `/hang`, which gets no response.
async fn http2(socket: TcpStream, acceptor: TlsAcceptor) {
    let Ok(stream) = acceptor.accept(socket).await else { return };
    let service = service_fn(|request: Request<Incoming>| async move {
        assert_eq!((request.version(), request.method().as_str()), (Version::HTTP_2, "POST"));
        if request.uri().path() == "/hang" {
            std::future::pending::<()>().await;
        }
        let body = request.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, BODY.as_bytes());
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"thanks"))))
    });
    hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await
        .ok();
}

#[tokio::test]
async fn concurrent_attempts_share_one_http2_connection() {
    let authority = Authority::new();
    let acceptor = authority.acceptor("127.0.0.1", &[b"h2", b"http/1.1"]);
    let receiver = Receiver::start(move |socket| http2(socket, acceptor.clone())).await;
    let url = format!("https://{}/hook?x=1", receiver.address);
    let sender = authority.sender();
    assert_eq!(outcome_of(&sender, post(&url, AMPLE)).await, acknowledged(200));
    wait_until("the connection is kept", || sender.kept_connections() == 1).await;
    let attempts: Vec<_> = (0..20)
        .map(|_| {
            let (sender, request) = (sender.clone(), post(&url, AMPLE));
            tokio::spawn(async move { sender.send(request).await.response_status })
        })
        .collect();
    for attempt in attempts {
        assert_eq!(attempt.await.unwrap(), 200);
    }
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn unresponsive_shared_connection_is_not_reused() {
    let authority = Authority::new();
    let acceptor = authority.acceptor("127.0.0.1", &[b"h2"]);
    let receiver = Receiver::start(move |socket| http2(socket, acceptor.clone())).await;
    let sender = authority.sender();
    let url = |path: &str| format!("https://{}{path}", receiver.address);
    assert_eq!(outcome_of(&sender, post(url("/"), AMPLE)).await, acknowledged(200));
    wait_until("the connection is kept", || sender.kept_connections() == 1).await;
    assert_eq!(outcome_of(&sender, post(url("/hang"), SHORT)).await, failed(0, Timeout));
    assert_eq!(outcome_of(&sender, post(url("/"), AMPLE)).await, acknowledged(200));
    assert_eq!(receiver.connections(), 2);
}
