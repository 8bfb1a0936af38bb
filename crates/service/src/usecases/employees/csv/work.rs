//! Work on a file that needs no store: on a blocking thread, in turns with other tenants.

use std::io::{self, Write};

use bytes::Bytes;
use candor_people_csv::{CellCounter, Report};

use crate::context::error::Error;
use crate::context::request::RequestContext;

/// Number of cells after which work on a large file gives its turn to another tenant: a few milliseconds.
const PIECE_CELLS: usize = 8 * 1024;
/// Number of bytes of a report that count as one cell.
const BYTES_OF_A_CELL: usize = 8;

/// Runs work on a file when the tenant's turn comes. Work on a large file gives the turn back after every
/// [`PIECE_CELLS`] cells. While the work waits, it keeps its thread; the turn of the upload bounds the number of
/// these threads.
pub(super) async fn run<T: Send + 'static>(
    context: &RequestContext,
    is_large: bool,
    work: impl FnOnce(&mut CellCounter<'_>) -> T + Send + 'static,
) -> Result<T, Error> {
    let tenant = context.caller.tenant;
    if is_large {
        return Ok(context.services.large_work.run_in_pieces(tenant, PIECE_CELLS, work).await?);
    }
    Ok(context.services.large_work.run(tenant, || work(&mut |_| {})).await?)
}

/// Renders a report as JSON, and reports the progress.
///
/// # Errors
/// [`Error::Bug`].
pub(super) fn render(report: &Report, progress: &mut CellCounter<'_>) -> Result<Bytes, Error> {
    let mut body = ReportBody { bytes: vec![], counted: 0, progress };
    serde_json::to_writer(&mut body, report).map_err(|error| Error::Bug(error.to_string()))?;
    Ok(body.bytes.into())
}

/// Rendered bytes of a report, and the number of bytes that were reported as progress so far.
struct ReportBody<'p> {
    bytes: Vec<u8>,
    counted: usize,
    progress: &'p mut CellCounter<'p>,
}

impl Write for ReportBody<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(part);
        let cells = (self.bytes.len() - self.counted) / BYTES_OF_A_CELL;
        self.counted += cells * BYTES_OF_A_CELL;
        if cells > 0 {
            (self.progress)(cells);
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use candor_domain::time::Timestamp;
    use candor_people_csv::{self as csv, File, PlanOptions, StoredRows};

    use super::*;

    #[test]
    fn report_is_rendered_in_pieces() {
        let rows: String = (0..200).map(|row| format!("a{row}@\n")).collect();
        let file = File::read(format!("email\n{rows}").as_bytes()).unwrap();
        let now = Timestamp::from_millis(1_000);
        let options = PlanOptions { clear_empty: false, is_admin: false, connector: None, at: now };
        let plan = csv::plan(&file, &StoredRows::default(), &HashSet::new(), &options, &mut Default::default);
        let report = Report::from_outcomes(&file, plan.outcomes.iter());
        let mut pieces = vec![];
        let body = render(&report, &mut |cells| pieces.push(cells)).unwrap();
        assert_eq!(body, serde_json::to_vec(&report).unwrap());
        let longest = pieces.iter().max().copied().unwrap_or(0) * BYTES_OF_A_CELL;
        assert!(longest < 200, "{longest} bytes at once");
        assert!((pieces.iter().sum::<usize>() + 1) * BYTES_OF_A_CELL > body.len());
    }
}
