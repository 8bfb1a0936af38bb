//! TXT records of domains, by which the owner of a domain proves control of it.

use hickory_resolver::TokioResolver;
use hickory_resolver::proto::rr::{Name, RData};

use crate::BoxedFuture;
use crate::dialer::SetupError;
use crate::resolve::{HostNames, resolver};

/// A resolver of TXT records. It caches nothing, because a record that an admin has just added must be seen.
#[derive(Debug)]
pub struct TextRecords {
    names: TokioResolver,
}

/// The error of a lookup that got no answer. For a domain without records, the answer is an empty list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no name server has answered")]
pub struct RecordLookupError;

impl TextRecords {
    /// Creates a resolver. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// Returns the part of the system configuration that cannot be used.
    pub fn new(names: HostNames) -> Result<Self, SetupError> {
        let names = resolver(names, |options| options.cache_size = 0);
        Ok(Self { names: names.map_err(|error| SetupError::Names(error.to_string()))? })
    }

    /// Returns the texts of the TXT records of a domain. The parts of a record are joined.
    ///
    /// # Errors
    /// Returns [`RecordLookupError`], also for a text that is no domain.
    pub fn read<'t>(&'t self, domain: &'t str) -> BoxedFuture<'t, Result<Vec<String>, RecordLookupError>> {
        Box::pin(self.look_up(domain))
    }

    async fn look_up(&self, domain: &str) -> Result<Vec<String>, RecordLookupError> {
        let mut name = Name::from_utf8(domain).map_err(|_| RecordLookupError)?;
        // A search list must not turn the domain into another one.
        name.set_fqdn(true);
        match self.names.txt_lookup(name).await {
            Ok(lookup) => Ok(lookup.answers().iter().filter_map(|record| text(&record.data)).collect()),
            Err(error) if error.is_no_records_found() => Ok(vec![]),
            Err(_) => Err(RecordLookupError),
        }
    }
}

fn text(data: &RData) -> Option<String> {
    if let RData::TXT(record) = data {
        Some(String::from_utf8_lossy(&record.txt_data.concat()).into_owned())
    } else {
        None
    }
}
