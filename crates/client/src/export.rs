//! Exports: every line of a data set. An interrupted response is continued from its last checkpoint.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "operations")]
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::Method;
use serde::Deserialize;

use crate::client::Candor;
use crate::error::Error;
use crate::generated::basic_types::ExportedResource;
#[cfg(feature = "operations")]
use crate::generated::types::ExportLine;
use crate::request::{Core, Spec};

/// Maximum number of interruptions in a row, without a new checkpoint between them. A further one fails the
/// export.
const MAX_FAILURES: u32 = 8;
/// Pause after the first interruption. The pause doubles with each further interruption in a row.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Upper bound of every pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Resources and start position of [`Candor::export`].
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    resources: Vec<ExportedResource>,
    cursor: Option<String>,
}

impl ExportOptions {
    /// Creates settings that export all resources from the first one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Exports only these resources.
    #[must_use]
    pub fn resources(mut self, resources: impl IntoIterator<Item = impl Into<ExportedResource>>) -> Self {
        self.resources = resources.into_iter().map(Into::into).collect();
        self
    }

    /// Continues behind a checkpoint of an export with the same resources.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<Option<String>>) -> Self {
        self.cursor = cursor.into();
        self
    }
}

/// Reads the lines of an export.
#[must_use = "an export is read as lines are taken"]
pub struct ExportReader {
    core: Arc<Core>,
    options: ExportOptions,
    response: Option<LineReader>,
    seen: SeenLines,
    is_complete: bool,
    failures: u32,
}

impl Candor {
    /// Returns a reader of the selected resources of the organization, as lines in the order of resource and id.
    ///
    /// The first line is the header with `events_cursor`. After the export, follow the events from this cursor on:
    /// the rows, with every event applied to them, are the current data. An interrupted response is continued from
    /// its last checkpoint, and each row is returned once. The line `end` has the counts of the last response. To
    /// continue in another process, store the `cursor` of a checkpoint. Needs the scope `exports:read` and an
    /// admin-level key of the organization.
    pub fn export(&self, options: ExportOptions) -> ExportReader {
        ExportReader {
            core: Arc::clone(&self.core),
            options,
            response: None,
            seen: SeenLines::default(),
            is_complete: false,
            failures: 0,
        }
    }
}

impl ExportReader {
    /// Returns the next line, or `None` behind the last one.
    ///
    /// # Errors
    /// Failures that a retry would not change, and repeated interruptions.
    #[cfg(feature = "operations")]
    pub async fn next(&mut self) -> Result<Option<ExportLine>, Error> {
        let Some(text) = self.next_text().await? else { return Ok(None) };
        serde_json::from_slice(&text).map(Some).map_err(Error::Unreadable)
    }

    /// Returns the JSON text of the next line, as the service sent it, or `None` behind the last one. Use either
    /// this function or `next`.
    ///
    /// # Errors
    /// Failures that a retry would not change, and repeated interruptions.
    pub async fn next_text(&mut self) -> Result<Option<Vec<u8>>, Error> {
        while !self.is_complete {
            match self.read().await {
                Ok(text) => {
                    let line: Line<'_> = serde_json::from_slice(&text).map_err(Error::Unreadable)?;
                    if let Some(cursor) = line.cursor {
                        self.options.cursor = Some(cursor.into_owned());
                        self.failures = 0;
                    }
                    self.is_complete = line.kind == "end";
                    if self.seen.is_new(&line.kind, line.data.as_ref().map(|data| &*data.id)) {
                        return Ok(Some(text));
                    }
                }
                Err(error) => self.pause(error).await?,
            }
        }
        Ok(None)
    }

    /// Returns the lines as a stream, which ends with its first error.
    #[cfg(feature = "operations")]
    #[must_use]
    pub fn into_stream(self) -> BoxStream<'static, Result<ExportLine, Error>> {
        let next = |mut reader: Self| async move { Ok(reader.next().await?.map(|line| (line, reader))) };
        stream::try_unfold(self, next).boxed()
    }

    async fn read(&mut self) -> Result<Vec<u8>, Error> {
        let response = match &mut self.response {
            Some(response) => response,
            none => {
                let mut spec = Spec::new(Method::GET, "/exports");
                let words: Vec<_> = self.options.resources.iter().map(ToString::to_string).collect();
                if !words.is_empty() {
                    spec.query.push(("resources".to_owned(), words.join(",")));
                }
                spec.query.extend(self.options.cursor.iter().map(|cursor| ("cursor".to_owned(), cursor.clone())));
                none.insert(LineReader::new(self.core.open(&spec).await?, self.core.timeout))
            }
        };
        response.next().await
    }

    /// Waits before the next request. Returns the error instead if another request would be useless.
    async fn pause(&mut self, error: Error) -> Result<(), Error> {
        self.response = None;
        self.failures += 1;
        if self.failures > MAX_FAILURES || !error.is_transient() {
            return Err(error);
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << (self.failures - 1).min(16)).min(LONGEST_PAUSE);
        tokio::time::sleep(pause.max(error.retry_after().unwrap_or_default())).await;
        Ok(())
    }
}

impl fmt::Debug for ExportReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExportReader").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The members of a line that an interrupted export needs to continue.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    cursor: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<RowId<'a>>,
}

#[derive(Deserialize)]
struct RowId<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

/// Record of the lines that were returned, so that none is returned twice. Later responses repeat the header, and
/// the rows behind the last checkpoint.
#[derive(Default)]
struct SeenLines {
    has_header: bool,
    /// Types whose rows were all returned.
    complete: BTreeSet<String>,
    /// Type and id of the last row.
    last: Option<(String, String)>,
}

impl SeenLines {
    /// Notes a line, and returns `true` if it is new. Rows are in the order of type and id.
    fn is_new(&mut self, kind: &str, id: Option<&str>) -> bool {
        let Some(id) = id else {
            let is_repeated = kind == "header" && self.has_header;
            self.has_header |= kind == "header";
            return !is_repeated;
        };
        if let Some((last_kind, last_id)) = &self.last {
            if self.complete.contains(kind) || (last_kind == kind && id <= last_id.as_str()) {
                return false;
            }
            if last_kind != kind {
                self.complete.insert(last_kind.clone());
            }
        }
        self.last = Some((kind.to_owned(), id.to_owned()));
        true
    }
}

/// Splits a response into lines as it arrives.
struct LineReader {
    response: reqwest::Response,
    timeout: Duration,
    ready: VecDeque<Vec<u8>>,
    /// Beginning of a line whose end has not arrived.
    rest: Vec<u8>,
}

impl LineReader {
    fn new(response: reqwest::Response, timeout: Duration) -> Self {
        Self { response, timeout, ready: VecDeque::new(), rest: Vec::new() }
    }

    /// Returns the next line. The end of the response is an error, because the export stops reading at its line
    /// `end`.
    async fn next(&mut self) -> Result<Vec<u8>, Error> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(line);
            }
            let chunk = tokio::time::timeout(self.timeout, self.response.chunk());
            let chunk = chunk.await.map_err(|_| Error::Timeout(self.timeout))?;
            let Some(chunk) = chunk.map_err(|error| Error::Connection(error.without_url()))? else {
                return Err(Error::Interrupted);
            };
            let mut lines = chunk.split(|byte| *byte == b'\n');
            self.rest.extend_from_slice(lines.next().unwrap_or_default());
            for line in lines {
                let whole = std::mem::replace(&mut self.rest, line.to_vec());
                self.ready.push_back(whole);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_header_and_rows_are_skipped() {
        let mut seen_lines = SeenLines::default();
        let first = [
            ("header", None),
            ("employee", Some("emp_1")),
            ("employee", Some("emp_2")),
            ("summary", Some("sum_1")),
        ];
        assert!(first.iter().all(|(kind, id)| seen_lines.is_new(kind, *id)));
        let repeated_lines = [
            ("header", None),
            ("employee", Some("emp_2")),
            ("employee", Some("emp_3")),
            ("summary", Some("sum_1")),
        ];
        assert!(
            !repeated_lines.iter().any(|(kind, id)| seen_lines.is_new(kind, *id)),
            "a new row of a complete type is left to the feed"
        );
        assert!(seen_lines.is_new("checkpoint", None) && seen_lines.is_new("summary", Some("sum_2")));
    }
}
