//! Errors of use cases as errors of commands.

use candor_cli::error::CommandError;
use candor_domain::refusal::DomainError;

/// Converts an error of a use case into one for the command line. `what` is the operation, as a verb and its object.
pub(crate) fn to_command_error(what: impl Into<String>) -> impl FnOnce(candor_service::Error) -> CommandError {
    use candor_service::Error as Service;
    let what = what.into();
    move |error| {
        let (reason, remedy) = match error {
            Service::Refused(refusal) => (explain_refusal(refusal), "correct the arguments and try again"),
            Service::Unavailable(cause) | Service::TooSlow(cause) => (cause, "check the database and try again"),
            Service::Contended => ("too many concurrent changes to this resource".to_owned(), "try again"),
            other @ (Service::Bug(_)
            | Service::TooManyExports
            | Service::TooManyLargeReads
            | Service::NotIndexed
            | Service::Malformed(_)
            | Service::ScimRefused(_)
            | Service::PreconditionFailed
            | Service::KeyReused(_)) => (other.to_string(), "this is a defect, please report it"),
        };
        CommandError::Refused { what, reason, remedy }
    }
}

fn explain_refusal(refusal: DomainError) -> String {
    match refusal {
        DomainError::NotFound => "there is no resource with this id".to_owned(),
        DomainError::Invalid(problems) | DomainError::Unprocessable(problems) => {
            let each = problems.as_slice().iter().map(|problem| format!("{} {}", problem.field, problem.message));
            each.collect::<Vec<_>>().join(", ")
        }
        DomainError::Denied(denied) => denied.message().trim_end_matches('.').to_owned(),
        DomainError::Conflict(conflict) => match conflict.attempted_transition {
            Some(attempted) => {
                format!("{} is {}, which does not allow {attempted}", conflict.field, conflict.current)
            }
            None => format!("{} is taken", conflict.field),
        },
    }
}
