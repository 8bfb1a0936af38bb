//! HTTP/1.1 without TLS: responses, silence, slow bytes, floods and resets.

use std::sync::Arc;
use std::time::Duration;

use candor_domain::attempt_failure::FailureReason::{
    Closed, Connect, Gone, Malformed, Redirect, Status, Timeout, TooLarge,
};
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_events::{WebhookRequest, WebhookTransport};
use candor_subscriptions::RequestedPause;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::support::{
    AMPLE, OK, Receiver, SHORT, acknowledged, attempt, detail, failed, outcome_of, post, request, reset, sender,
    wait_until,
};

#[tokio::test]
async fn request_is_a_post_with_the_given_headers_and_body() {
    let (see, seen) = tokio::sync::oneshot::channel();
    let see = std::sync::Mutex::new(Some(see));
    let receiver = Receiver::start(move |mut socket| {
        let see = see.lock().unwrap().take();
        async move {
            let text = request(&mut socket).await.unwrap();
            see.unwrap().send(text).unwrap();
            socket.write_all(OK).await.unwrap();
        }
    })
    .await;
    assert_eq!(attempt(receiver.url(), AMPLE).await, acknowledged(200));
    let expected_request = format!(
        "POST /hook?x=1 HTTP/1.1\r\nContent-Type: application/json\r\nX-Service-Event: test.ping\r\nHost: {}\r\n\
         Content-Length: 39\r\n\r\n{}",
        receiver.address,
        crate::support::BODY
    );
    assert_eq!(seen.await.unwrap(), expected_request);
}

#[tokio::test]
async fn redirect_never_sees_the_custom_headers() {
    let (see, seen) = tokio::sync::oneshot::channel();
    let see = std::sync::Mutex::new(Some(see));
    let inside = Receiver::start(|_| async { panic!("the redirect was followed") }).await;
    let head = format!("HTTP/1.1 307 Moved\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", inside.url());
    let receiver = Receiver::start(move |mut socket| {
        let (see, head) = (see.lock().unwrap().take(), head.clone());
        async move {
            see.unwrap().send(request(&mut socket).await.unwrap()).unwrap();
            socket.write_all(head.as_bytes()).await.unwrap();
        }
    })
    .await;
    let bearer = Secret::new("Bearer 1234".to_owned());
    let post = WebhookRequest {
        custom_headers: vec![("authorization".to_owned(), bearer)],
        ..post(receiver.url(), AMPLE)
    };
    assert!(!format!("{post:?}").contains("1234"));
    assert_eq!(outcome_of(&sender(), post).await, failed(307, Redirect));
    assert!(seen.await.unwrap().contains("\r\nAuthorization: Bearer 1234\r\n"));
}

#[tokio::test]
async fn only_a_2xx_response_acknowledges() {
    let table: [(&'static [u8], _); 10] = [
        (OK, acknowledged(200)),
        (b"HTTP/1.1 204 No Content\r\n\r\n", acknowledged(204)),
        (b"HTTP/1.1 299 Whatever\r\ncontent-length: 0\r\n\r\n", acknowledged(299)),
        (b"HTTP/1.0 200 OK\r\n\r\n", acknowledged(200)),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", acknowledged(202)),
        (b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", failed(400, Status)),
        (b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", failed(410, Gone)),
        (b"HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nbusy", failed(503, Status)),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", failed(101, Status)),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", failed(304, Redirect)),
    ];
    for (response, wanted) in table {
        let receiver = Receiver::answering(response).await;
        assert_eq!(attempt(receiver.url(), AMPLE).await, wanted, "{}", String::from_utf8_lossy(response));
    }
}

#[tokio::test]
async fn redirect_target_is_reported_without_its_query() {
    let table: [(&'static [u8], _); 4] = [
        (
            b"HTTP/1.1 301 Moved\r\nlocation: https://www.example.com/in?a=b\r\n\r\n",
            Some("https://www.example.com/in"),
        ),
        (b"HTTP/1.1 302 Found\r\nlocation: https://:1\r\n\r\n", None),
        (b"HTTP/1.1 302 Found\r\n\r\n", None),
        (b"HTTP/1.1 201 Created\r\nlocation: https://example.com/1\r\n\r\n", None),
    ];
    for (response, wanted) in table {
        let receiver = Receiver::answering(response).await;
        let failure_detail = detail(&sender(), post(receiver.url(), AMPLE)).await;
        assert_eq!(failure_detail.as_deref(), wanted, "{}", String::from_utf8_lossy(response));
    }
}

#[tokio::test]
async fn retry_after_of_a_response_is_reported_if_valid() {
    let table: [(&'static [u8], _); 6] = [
        (
            b"HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n",
            Some(RequestedPause::Seconds(120)),
        ),
        (
            b"HTTP/1.1 429 Busy\r\nRetry-After: 99999999999999999999\r\ncontent-length: 0\r\n\r\n",
            Some(RequestedPause::Seconds(u64::MAX)),
        ),
        (
            b"HTTP/1.1 503 Busy\r\nretry-after: Sun, 01 Mar 2026 08:15:31 GMT\r\ncontent-length: 0\r\n\r\n",
            Some(RequestedPause::At(Timestamp::from_millis(1_772_352_931_000))),
        ),
        (b"HTTP/1.1 503 Busy\r\nretry-after: -5\r\ncontent-length: 0\r\n\r\n", None),
        (b"HTTP/1.1 503 Busy\r\nretry-after:\r\ncontent-length: 0\r\n\r\n", None),
        (b"HTTP/1.1 503 Busy\r\nretry-after: 5\r\nretry-after: 9\r\ncontent-length: 0\r\n\r\n", None),
    ];
    for (response, wanted) in table {
        let receiver = Receiver::answering(response).await;
        let attempt = sender().send(post(receiver.url(), AMPLE)).await;
        assert_eq!(attempt.retry_after, wanted, "{}", String::from_utf8_lossy(response));
    }
}

#[tokio::test]
async fn redirect_to_a_private_address_is_not_followed() {
    let inside = Receiver::answering(OK).await;
    for status in [301_u16, 302, 303, 307, 308] {
        let location = inside.url();
        let receiver = Receiver::start(move |mut socket| {
            let head = format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            async move {
                request(&mut socket).await;
                socket.write_all(head.as_bytes()).await.unwrap();
            }
        })
        .await;
        assert_eq!(attempt(receiver.url(), AMPLE).await, failed(status, Redirect));
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn silent_receiver_times_out_at_the_deadline() {
    let silent = Receiver::start(|mut socket| async move {
        request(&mut socket).await;
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(attempt(silent.url(), SHORT).await, failed(0, Timeout));
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    assert_eq!(attempt(format!("http://{}/", deaf.local_addr().unwrap()), SHORT).await, failed(0, Timeout));
}

#[tokio::test]
async fn closed_port_fails_to_connect() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(attempt(format!("http://{address}/"), AMPLE).await, failed(0, Connect));
}

/// Sends `start`, then `part` again and again with a pause in between, until the sender closes the connection.
async fn drip(mut socket: TcpStream, start: &'static [u8], part: &'static [u8], pause: Duration) {
    request(&mut socket).await;
    if socket.write_all(start).await.is_ok() {
        while socket.write_all(part).await.is_ok() {
            if pause > Duration::ZERO {
                tokio::time::sleep(pause).await;
            }
        }
    }
}

#[tokio::test]
async fn endless_response_is_cut_off_and_its_connection_closed() {
    const OK_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n";
    let (at_once, slowly) = (Duration::ZERO, Duration::from_millis(10));
    let many: &'static [u8] = Box::leak(
        format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(101)).into_boxed_str().into_boxed_bytes(),
    );
    let block: &'static [u8] = Box::leak(vec![b'x'; 16 * 1024].into_boxed_slice());
    let chunk: &'static [u8] =
        Box::leak(format!("1000\r\n{}\r\n", "x".repeat(4096)).into_boxed_str().into_boxed_bytes());
    let table = [
        (
            "a head byte by byte",
            b"HTTP/1.1 200 OK\r\nx: " as &[u8],
            b"x" as &[u8],
            slowly,
            SHORT,
            failed(0, Timeout),
        ),
        ("an endless header", b"HTTP/1.1 200 OK\r\nx: ", block, at_once, AMPLE, failed(0, TooLarge)),
        ("endless headers", OK_HEAD, b"x: y\r\n", at_once, AMPLE, failed(0, TooLarge)),
        ("too many headers", many, b"", slowly, AMPLE, failed(0, TooLarge)),
        ("a flood of 1xx", b"", b"HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n", at_once, AMPLE, failed(0, TooLarge)),
        ("1xx now and then", b"", b"HTTP/1.1 102 Processing\r\n\r\n", slowly, SHORT, failed(0, Timeout)),
        ("an endless status line", b"HTTP/1.1 200 ", block, at_once, AMPLE, failed(0, TooLarge)),
        ("an endless body", b"HTTP/1.1 200 OK\r\n\r\n", block, at_once, AMPLE, acknowledged(200)),
        (
            "an endless chunked body",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            chunk,
            at_once,
            AMPLE,
            acknowledged(200),
        ),
        (
            "a body byte by byte",
            b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n",
            b"x",
            slowly,
            AMPLE,
            acknowledged(200),
        ),
        (
            "an endless failure",
            b"HTTP/1.1 500 Oh\r\ncontent-length: 99999999999\r\n\r\n",
            block,
            at_once,
            AMPLE,
            failed(500, Status),
        ),
    ];
    for (what, start, part, pause, deadline, wanted) in table {
        let receiver = Receiver::start(move |socket| drip(socket, start, part, pause)).await;
        let sender = crate::support::sender();
        let result = crate::support::outcome_of(&sender, crate::support::post(receiver.url(), deadline)).await;
        assert_eq!(result, wanted, "{what}");
        if !part.is_empty() {
            wait_until(what, || receiver.ended() == 1).await;
        }
    }
}

#[tokio::test]
async fn connection_closed_before_the_status_is_a_failure() {
    let table: [(&str, Option<&'static [u8]>, _); 6] = [
        ("after accept", None, failed(0, Closed)),
        ("after the request", Some(b""), failed(0, Closed)),
        ("within the status line", Some(b"HTTP/1.1 20"), failed(0, Closed)),
        ("within the headers", Some(b"HTTP/1.1 200 OK\r\nx: y\r\n"), failed(0, Closed)),
        ("within an informational answer", Some(b"HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n"), failed(0, Closed)),
        ("within a failure's body", Some(b"HTTP/1.1 500 Oh\r\ncontent-length: 9\r\n\r\nx"), failed(500, Status)),
    ];
    for (what, response, wanted) in table {
        for crash in [false, true] {
            let check = Arc::new(Notify::new());
            let check_of_receiver = Arc::clone(&check);
            let receiver = Receiver::start(move |mut socket| {
                let check_signal = Arc::clone(&check);
                async move {
                    if let Some(response) = response {
                        request(&mut socket).await;
                        socket.write_all(response).await.unwrap();
                    }
                    if crash {
                        // A reset can overtake earlier data. So a complete status must have been read before the
                        // reset.
                        if wanted.0 > 0 {
                            check_signal.notified().await;
                        }
                        reset(&socket);
                    }
                }
            })
            .await;
            let sender = sender();
            assert_eq!(outcome_of(&sender, post(receiver.url(), AMPLE)).await, wanted, "{what}, reset: {crash}");
            check_of_receiver.notify_one();
            wait_until(what, || receiver.ended() == 1).await;
            assert_eq!(sender.kept_connections(), 0, "{what}, reset: {crash}");
        }
    }
}

#[tokio::test]
async fn response_that_is_not_http_is_malformed() {
    let table: [&'static [u8]; 4] = [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"\x00\x01\x02\x03\r\n\r\n",
    ];
    for response in table {
        let receiver = Receiver::answering(response).await;
        assert_eq!(
            attempt(receiver.url(), AMPLE).await,
            failed(0, Malformed),
            "{}",
            String::from_utf8_lossy(response)
        );
    }
}

#[tokio::test]
async fn proxy_variables_of_the_environment_are_ignored() {
    let proxy = Receiver::answering(b"HTTP/1.1 502 Proxy\r\ncontent-length: 0\r\n\r\n").await;
    let test_program = std::env::current_exe().unwrap();
    let mut child_command = tokio::process::Command::new(test_program);
    child_command.args(["--exact", "plain::request_is_a_post_with_the_given_headers_and_body"]);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        child_command.env(name, format!("http://{}", proxy.address));
    }
    let output = child_command.output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    assert_eq!(proxy.connections(), 0);
}
