//! One request through the proxy.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use socket2::SockRef;

use crate::{Fault, REPORT, Shared};

/// Bytes that a truncated response lacks: more than the end of a chunked body, so that its last line is missing.
const MISSING: usize = 40;

pub(crate) fn pass(client: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut reader = BufReader::new(client);
    let head = head(&mut reader)?;
    let length = header(&head, "content-length").and_then(|value| value.parse().ok()).unwrap_or_default();
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let client = reader.get_mut();
    if head.first().is_some_and(|line| line.split(' ').nth(1) == Some(REPORT)) {
        return respond(client, "200 OK", "", &shared.report().to_string());
    }
    let fault = shared.note(header(&head, "idempotency-key"));
    match fault {
        Fault::Reset => return reset(client),
        Fault::Unavailable => return refuse(client, "503 Unavailable", "unavailable", ""),
        Fault::Limited => return refuse(client, "429 Too Many", "rate_limited", "retry-after: 1\r\n"),
        Fault::None | Fault::ResetAfter | Fault::TruncatedAfter | Fault::SlowAfter => {}
    }
    let response = exchange(shared, &head, &body)?;
    match fault {
        Fault::ResetAfter => reset(client),
        Fault::SlowAfter => client.read(&mut [0]).map(drop),
        Fault::TruncatedAfter => client.write_all(&response[..response.len().saturating_sub(MISSING)]),
        Fault::None | Fault::Reset | Fault::Unavailable | Fault::Limited => client.write_all(&response),
    }
}

/// Reads the lines before the body.
fn head(reader: &mut impl BufRead) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end() {
            "" => return Ok(lines),
            line => lines.push(line.to_owned()),
        }
    }
}

fn header<'a>(head: &'a [String], name: &str) -> Option<&'a str> {
    let mut fields = head.iter().skip(1).filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Sends a request to the service and reads its response to the end of the connection.
fn exchange(shared: &Shared, head: &[String], body: &[u8]) -> io::Result<Vec<u8>> {
    let mut server = TcpStream::connect(shared.service)?;
    let header_lines = head.iter().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let headers: String = header_lines.map(|line| format!("{line}\r\n")).collect();
    server.write_all(format!("{headers}connection: close\r\n\r\n").as_bytes())?;
    server.write_all(body)?;
    let mut response = Vec::new();
    server.read_to_end(&mut response)?;
    Ok(response)
}

/// Makes the connection end with a reset when it is closed.
fn reset(client: &TcpStream) -> io::Result<()> {
    SockRef::from(client).set_linger(Some(Duration::ZERO))
}

fn refuse(client: &mut TcpStream, status: &str, code: &str, headers: &str) -> io::Result<()> {
    let body =
        format!("{{\"error\": {{\"code\": \"{code}\", \"message\": \"spoiled\", \"request_id\": \"req_0\"}}}}");
    respond(client, status, headers, &body)
}

fn respond(client: &mut TcpStream, status: &str, headers: &str, body: &str) -> io::Result<()> {
    let fixed_headers =
        format!("content-type: application/json\r\ncontent-length: {}\r\nconnection: close", body.len());
    client.write_all(format!("HTTP/1.1 {status}\r\n{fixed_headers}\r\n{headers}\r\n{body}").as_bytes())
}
