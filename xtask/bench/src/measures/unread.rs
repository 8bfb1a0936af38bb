//! Memory that clients hold by not reading their answers.

use crate::Outcome;
use crate::options::Options;
use crate::report::{Limit, Line};
use crate::service::pause;
use crate::stage::{Side, Stage};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::tenants::tenant_of_large_people;

/// Connections that never read; a client address may have 256.
const CONNECTIONS: usize = 240;
const MOST_MEGABYTES: f64 = 200.0;
const MEGABYTE: f64 = 1_000_000.0;
/// Time in which the answers are made, well below the time after which a connection that takes nothing is closed.
const WATCHED: Duration = Duration::from_secs(10);

pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    stage.measured(options).map(measure).collect()
}

fn measure(side: &Side) -> Outcome<Line> {
    let key = tenant_of_large_people(side, "a")?;
    let idle = side.service.own_bytes()?;
    let ask = || -> Outcome<Vec<TcpStream>> {
        let head = format!("Host: localhost\r\nAuthorization: Bearer {key}\r\n\r\n");
        let mut unread = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            let mut stream = TcpStream::connect(side.service.address)?;
            write!(stream, "GET /v1/employees?limit=100 HTTP/1.1\r\n{head}")?;
            unread.push(stream);
        }
        let begun = Instant::now();
        while begun.elapsed() < WATCHED {
            pause();
        }
        Ok(unread)
    };
    let (unread, peak) = side.service.peak_bytes_during(ask)?;
    Ok(Line {
        what: format!("Memory of {} unread answers of 3.3 MB, above idle, without mapped files", unread.len()),
        store: Some(side.store),
        measured: format!("peak {:.0} MB", peak as f64 / MEGABYTE),
        against: format!("idle {:.0} MB", idle as f64 / MEGABYTE),
        value: peak.saturating_sub(idle) as f64 / MEGABYTE,
        unit: "MB",
        limit: Limit::AtMost(MOST_MEGABYTES),
    })
}
