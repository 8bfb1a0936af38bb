//! Failures of commands that call a service with an API key.

use std::path::PathBuf;

use candor_client::{ApiError, Error as ClientError, StatusCode};

use super::account::{API_KEY, URL};
use super::profiles::ProfileName;
use crate::error::{CommandFailure, FAILURE, WRONG_USAGE};

/// Exit status if the API key is refused or lacks a permission: 401 and 403.
const KEY_REFUSED: u8 = 3;
/// Exit status if the service refuses the request: every 4xx except 401, 403 and those after which a retry may succeed,
/// such as 429.
const REQUEST_REFUSED: u8 = 4;
/// Exit status if the service fails or is busy: 5xx, 429, and every response that advises a retry.
const SERVICE_FAILED: u8 = 5;
/// Exit status if no complete response arrived.
const NO_RESPONSE: u8 = 6;

/// Failure of a command that calls a service.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    /// The flags do not go together, or an argument has an invalid form.
    #[error("{0}; see `candor help`")]
    Usage(String),
    /// The text is no API key. It is not repeated, because it may be another secret.
    #[error(
        "this is no API key: a key is cdr_live_… or cdr_test_…, without spaces; `candor key create` creates one"
    )]
    MalformedKey,
    /// The environment has the URL or the key, but not both.
    #[error("{given} is set, but {missing} is not; set both, or neither to use a profile of `candor login`")]
    HalfAnAccount {
        /// The variable or flag that has a value.
        given: &'static str,
        /// The variable that is not set.
        missing: &'static str,
    },
    /// No profile has this name.
    #[error("{}", unknown_profile(.name, .known))]
    UnknownProfile {
        /// The name that was asked for.
        name: ProfileName,
        /// Names of the stored profiles.
        known: Vec<String>,
    },
    /// The folder of the user's configuration is unknown.
    #[error(
        "cannot tell where profiles are: neither HOME nor XDG_CONFIG_HOME is set; set one, or {API_KEY} and {URL}"
    )]
    NoConfigurationFolder,
    /// Other users can read the stored keys.
    #[error("other users can read {}, which holds API keys; run `chmod 600` on it, and replace these keys", .0.display())]
    OpenToOthers(PathBuf),
    /// Other users can enter the folder of the profiles, and exchange the file.
    #[error("other users can enter {}, the folder of the profiles; run `chmod 700` on it", .0.display())]
    FolderOpenToOthers(PathBuf),
    /// The key would travel over plain HTTP to another machine.
    #[error("{0} is plain HTTP, so the API key could be read on the way; use https, or add --insecure")]
    PlainHttp(String),
    /// A sign-in in the browser was refused by the service, or not confirmed by the person. Holds the cause and the
    /// remedy.
    #[error("cannot sign in: {0}")]
    SignInRefused(&'static str),
    /// The browser did not come back in time.
    #[error(
        "cannot sign in: the browser did not come back within 10 minutes; begin again, and use a browser on this machine"
    )]
    SignInTimeout,
    /// The file of profiles is malformed. The reason is left out, because it may quote a key.
    #[error("{}:{line} is not a valid file of profiles; correct that line, or remove the file and log in again", .path.display())]
    MalformedProfiles {
        /// Path of the file.
        path: PathBuf,
        /// Number of the invalid line, from 1.
        line: usize,
    },
    /// The response to a request with `--paginate` is no list.
    #[error("{0} returns no list; leave out --paginate")]
    NoList(String),
    /// The request failed: no valid response arrived, or it was an error response.
    #[error("cannot {request}: {}", explain_failure(.error))]
    Call {
        /// Method and path, or the purpose of the call.
        request: String,
        /// The error of the client library.
        error: Box<ClientError>,
    },
}

impl RemoteError {
    /// Converts an error of the client library into one that names the request.
    pub(crate) fn naming_request(request: impl Into<String>) -> impl FnOnce(ClientError) -> Self {
        let request = request.into();
        move |error| Self::Call { request, error: Box::new(error) }
    }

    /// Returns the response of the service, if it answered with an error.
    pub(crate) fn response(&self) -> Option<&ApiError> {
        if let Self::Call { error, .. } = self { error.api() } else { None }
    }
}

impl CommandFailure for RemoteError {
    fn exit_status(&self) -> u8 {
        match self {
            Self::Usage(_)
            | Self::MalformedKey
            | Self::HalfAnAccount { .. }
            | Self::PlainHttp(_)
            | Self::UnknownProfile { .. } => WRONG_USAGE,
            Self::SignInRefused(_) => KEY_REFUSED,
            Self::SignInTimeout => NO_RESPONSE,
            Self::NoConfigurationFolder
            | Self::OpenToOthers(_)
            | Self::FolderOpenToOthers(_)
            | Self::MalformedProfiles { .. }
            | Self::NoList(_) => FAILURE,
            Self::Call { error, .. } => status_of(error),
        }
    }
}

fn status_of(error: &ClientError) -> u8 {
    match error.api() {
        Some(ApiError { status: StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, .. }) => KEY_REFUSED,
        Some(api) if api.status.is_server_error() || error.is_transient() => SERVICE_FAILED,
        Some(_) => REQUEST_REFUSED,
        None if error.is_transient() => NO_RESPONSE,
        None => FAILURE,
    }
}

/// Returns the cause of a failed call with the remedy, if there is one.
fn explain_failure(error: &ClientError) -> String {
    let Some(api) = error.api() else {
        let reason = error.to_string().trim_end_matches('.').to_owned();
        let remedy = if matches!(error, ClientError::Unreadable(_)) {
            "; check that the URL is that of a Candor service"
        } else if error.is_certificate_rejected() {
            "; add the authority of the service's certificate to the authorities of this machine, or name a file with \
             the authority in SSL_CERT_FILE"
        } else if error.is_transient() {
            "; check the URL, and that the service runs"
        } else {
            ""
        };
        return format!("{reason}{remedy}");
    };
    let remedy = match api.status {
        StatusCode::UNAUTHORIZED => {
            "; check that the key is complete and not revoked, and that it belongs to this service"
        }
        StatusCode::NOT_FOUND if api.request_id.is_none() => "; check that the URL is that of a Candor service",
        _ => "",
    };
    format!("{api}{remedy}")
}

fn unknown_profile(name: &ProfileName, known: &[String]) -> String {
    let profile_list = match known {
        [] => "no profile is stored yet".to_owned(),
        known => format!("stored are: {}", known.join(", ")),
    };
    format!(
        "there is no profile {name}; {profile_list}; store it with `candor login --url URL --profile {name}`, or set {API_KEY} \
         and {URL}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_profile_lists_the_stored_ones() {
        let failure = |known: &[&str]| {
            let profile_names = known.iter().map(|&name| name.to_owned()).collect();
            RemoteError::UnknownProfile { name: "stage".parse().unwrap(), known: profile_names }.to_string()
        };
        assert!(
            failure(&[])
                .contains("no profile is stored yet; store it with `candor login --url URL --profile stage`")
        );
        assert!(failure(&["default", "test"]).contains("stored are: default, test;"));
    }

    #[test]
    fn local_failures_have_the_status_of_wrong_usage_or_1() {
        assert_eq!(RemoteError::MalformedKey.exit_status(), WRONG_USAGE);
        assert_eq!(RemoteError::OpenToOthers(PathBuf::new()).exit_status(), 1);
        let settings = ClientError::Settings("x".to_owned());
        assert_eq!(RemoteError::naming_request("GET /me")(settings).exit_status(), 1);
    }
}
