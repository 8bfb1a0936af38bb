//! Memory that clients hold by not reading their responses.

use super::tenants::create_large_people;
use super::*;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

/// Connections that never read; a client address may have 256.
const CONNECTIONS: usize = 240;
const MAX_MEGABYTES: f64 = 200.0;
/// Time in which the responses are created, well below the write timeout of a connection.
const TIME: Duration = Duration::from_secs(10);

pub(super) fn run(_: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let key = create_large_people(instance, "a")?.key;
    let idle = instance.service.own_bytes()?;
    let request =
        format!("GET /v1/employees?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n");
    let (unread, peak) = instance.service.peak_bytes_during(|| {
        let mut unread = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            let mut stream = TcpStream::connect(instance.service.address)?;
            stream.write_all(request.as_bytes())?;
            unread.push(stream);
        }
        wait(TIME)?;
        Ok(unread)
    })?;
    let [peak, idle] = [peak, idle].map(|bytes| bytes as f64 / MEGABYTE);
    Ok(vec![Line::new(
        format!("Memory of {} unread answers of 3.3 MB, above idle, without mapped files", unread.len()),
        instance.store,
        [format!("peak {peak:.0} MB"), format!("idle {idle:.0} MB")],
        ((peak - idle).max(0.0), "MB"),
        Limit::AtMost(MAX_MEGABYTES),
    )])
}
