//! Dry runs: the parameter `dry_run` of writes, and the header of the responses (decision A18).

use actix_web::http::header::HeaderName;
use candor_domain::params::Params;
use candor_domain::refusal::DomainError;

use crate::contract::framing;
use crate::contract::route::Route;
use crate::response::error_response::ErrorResponse;

/// Header of every response to a request with `dry_run=true`.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-dry-run");

/// Response of a route to `dry_run=true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DryRun {
    /// The route ignores the parameter: it only reads, or its dialect has no dry runs.
    Ignored,
    /// The effects of the change.
    Effects,
    /// A report in the route's own form. The use case reads `dry_run`.
    OwnForm,
    /// 400: the route has effects outside the stored data.
    NotPossible,
}

/// Returns `true` if the query asks this route for a dry run.
pub(crate) fn is_asked(route: &Route, query: &str) -> bool {
    let is_write = route.dry_run != DryRun::Ignored && !query.is_empty();
    is_write && framing::query(query).is_ok_and(|pairs| Params::new(pairs).dry_run(true).unwrap_or_default())
}

/// Reads the parameter `dry_run`.
///
/// # Errors
/// 400 if the value is no boolean, the route has no dry runs, or a parameter is a misspelled `dry_run`.
pub(crate) fn read(route: &Route, params: &Params) -> Result<bool, ErrorResponse> {
    if route.dry_run != DryRun::Ignored {
        params
            .expect_no_misspelled_dry_run()
            .map_err(|problems| ErrorResponse::from(DomainError::Invalid(problems)))?;
    }
    let read = match route.dry_run {
        DryRun::Ignored => Ok(false),
        DryRun::OwnForm => Ok(params.dry_run(true).unwrap_or_default()),
        DryRun::Effects => params.dry_run(true),
        DryRun::NotPossible => params.dry_run(false),
    };
    read.map_err(|problems| DomainError::Invalid(problems).into())
}
