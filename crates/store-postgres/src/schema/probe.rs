//! Probe of the server: checks that it answers, and if not, whether a retry can succeed.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;

use crate::connection::session::Session;
use crate::failure::{Failure, with_causes};
use crate::options::{ConnectError, PostgresOptions};
use crate::schema::pooler::explain_pooler;

/// Opens one connection and closes it.
///
/// # Errors
/// [`ConnectError::NotYet`] if a retry may succeed soon; another error if an operator must act first.
pub async fn probe(options: &PostgresOptions) -> Result<(), ConnectError> {
    let session = Session::new(&options.url, &options.application_name)?;
    session.try_once().await.map_err(|error| {
        let text = with_causes(&error);
        if passes(&error) { ConnectError::NotYet(text) } else { ConnectError::Unreachable(explain_pooler(text)) }
    })
}

/// Returns `true` for a temporary failure: no listener or no host name yet, or a server that is starting, stopping
/// or full.
fn passes(error: &Error) -> bool {
    if let Failure::Lost(_) | Failure::Busy(_) = Failure::from_driver(error) {
        return true;
    }
    if error.code().is_some() {
        return false;
    }
    let causes = std::iter::successors(error.source(), |error| (*error).source());
    let system = causes.filter_map(|error| error.downcast_ref::<io::Error>()).next();
    // TLS reports rejected certificates as invalid data.
    system.is_some_and(|system| {
        !matches!(system.kind(), io::ErrorKind::InvalidData | io::ErrorKind::PermissionDenied)
    })
}
