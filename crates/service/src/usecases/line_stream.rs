//! Answers of unknown length, whose lines are read from the store as the client takes them.

use bytes::Bytes;

use crate::context::error::Error;
use crate::usecases::employees::PersonalData;
use crate::usecases::exports::Export;

/// Lines of an answer.
#[expect(missing_docs, reason = "each is named after its lines")]
pub enum LineStream {
    Export(Box<Export>),
    PersonalData(Box<PersonalData>),
}

impl LineStream {
    /// Returns the next whole lines; `None` after the last line.
    ///
    /// # Errors
    /// [`Error::Refused`] if the key of the request lost its rights; errors of the store. In both cases the answer ends
    /// without its last line.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        match self {
            Self::Export(export) => export.next().await,
            Self::PersonalData(data) => data.next().await,
        }
    }
}
