//! Whether the server answers, and if not, whether it is worth waiting for it.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;

use crate::connection::session::Session;
use crate::failure::{Failure, with_causes};
use crate::options::{ConnectError, PostgresOptions};
use crate::schema::pooler::explained;

/// Makes one connection and ends it.
///
/// # Errors
/// [`ConnectError::NotYet`] where the same may succeed soon, and the others where somebody must do something first.
pub async fn probe(options: &PostgresOptions) -> Result<(), ConnectError> {
    let session = Session::new(&options.url, &options.application_name)?;
    session.try_once().await.map_err(|error| {
        let text = with_causes(&error);
        if passes(&error) { ConnectError::NotYet(text) } else { ConnectError::Unreachable(explained(text)) }
    })
}

/// Whether it is a state that passes by itself: nobody listens there yet, the host has no name yet, or the server is
/// starting, stopping or full.
fn passes(error: &Error) -> bool {
    if let Failure::Lost(_) | Failure::Busy(_) = Failure::from_driver(error) {
        return true;
    }
    if error.code().is_some() {
        return false;
    }
    let causes = std::iter::successors(error.source(), |it| (*it).source());
    let system = causes.filter_map(|it| it.downcast_ref::<io::Error>()).next();
    // TLS tells of its refusals as invalid data.
    system.is_some_and(|it| !matches!(it.kind(), io::ErrorKind::InvalidData | io::ErrorKind::PermissionDenied))
}
