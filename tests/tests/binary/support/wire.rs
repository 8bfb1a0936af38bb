//! HTTP/1.1 parsing, for the client and for the receiver.

use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpStream;

/// Header names in lower case, with their values.
pub(crate) type Headers = Vec<(String, String)>;

pub(crate) fn line(reader: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// Reads the headers and the empty line after them.
pub(crate) fn headers(reader: &mut BufReader<TcpStream>) -> io::Result<Headers> {
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        let Some((name, value)) = line.split_once(':') else { return Ok(headers) };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

pub(crate) fn header<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
}

pub(crate) fn exactly(reader: &mut BufReader<TcpStream>, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads a body that is chunked or has a `Content-Length`.
pub(crate) fn body(reader: &mut BufReader<TcpStream>, headers: &Headers) -> io::Result<Vec<u8>> {
    if header(headers, "transfer-encoding") == Some("chunked") {
        return chunks(reader);
    }
    let length = header(headers, "content-length").and_then(|value| value.parse().ok());
    length.map_or(Ok(Vec::new()), |length| exactly(reader, length))
}

fn chunks(reader: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(&line(reader)?, 16).map_err(io::Error::other)?;
        body.extend(exactly(reader, size)?);
        line(reader)?;
        if size == 0 {
            return Ok(body);
        }
    }
}
