//! Choice of the service and the key: the environment, or a profile.

use candor_client::{Candor, ClientBuilder, Error as ClientError};
use clap::Args;
use url::{Host, Url};

use super::{ApiKey, Profile, ProfileName, Profiles, RemoteError};
use crate::error::CommandError;

/// Environment variable with the API key, because command lines are visible to all users of the machine.
pub(crate) const API_KEY: &str = "CANDOR_API_KEY";
/// Environment variable with the URL of the service.
pub(super) const URL: &str = "CANDOR_URL";
/// Environment variable with the name of the profile.
const PROFILE: &str = "CANDOR_PROFILE";

/// Flags that choose the service and the key.
#[derive(Debug, Clone, Args)]
pub(crate) struct AccountChoice {
    /// Profile of `candor login` [default: default] [env: CANDOR_PROFILE]
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<ProfileName>,
    /// URL of the service, with the key in CANDOR_API_KEY [env: CANDOR_URL]
    #[arg(long, value_name = "URL", conflicts_with = "profile")]
    pub(crate) url: Option<String>,
    /// Send the key over plain HTTP to another machine
    #[arg(long)]
    pub(crate) insecure: bool,
}

/// Source of both URL and key. They never come from different sources, so that the key of a profile goes to no
/// other URL.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    Environment(Profile),
    Stored(ProfileName),
}

/// A service and the key for it.
#[derive(Debug)]
pub(crate) struct Account {
    profile: Profile,
    may_be_insecure: bool,
}

impl Account {
    /// Finds the account: the flags come first, then `CANDOR_API_KEY` with `CANDOR_URL`, then the profile.
    ///
    /// # Errors
    /// [`RemoteError`] if there is none, or only a URL or a key; [`CommandError::Io`] if the profiles cannot be read.
    pub(crate) fn find(choice: AccountChoice) -> Result<Self, CommandError> {
        let may_be_insecure = choice.insecure;
        let profile = match choice.source(variable)? {
            Source::Environment(profile) => profile,
            Source::Stored(name) => Profiles::read(&Profiles::path(variable)?)?.remove(&name)?,
        };
        Ok(Self::new(profile, may_be_insecure))
    }

    /// Creates an account. With `may_be_insecure`, its key may travel over plain HTTP.
    pub(crate) const fn new(profile: Profile, may_be_insecure: bool) -> Self {
        Self { profile, may_be_insecure }
    }

    /// Creates a client of the service.
    ///
    /// # Errors
    /// [`RemoteError::Usage`] if the URL is not the address of a service; [`RemoteError::PlainHttp`].
    pub(crate) fn client(&self, name: &str) -> Result<Candor, RemoteError> {
        self.client_with(name, |builder| builder)
    }

    /// Creates a client of the service. `set` changes the settings of the client.
    ///
    /// # Errors
    /// See [`Self::client`].
    pub(crate) fn client_with(
        &self,
        name: &str,
        set: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<Candor, RemoteError> {
        let Profile { url, key, .. } = &self.profile;
        let client = set(Candor::builder().api_key(key.secret()).base_url(url).user_agent(name));
        let wrong = |error: ClientError| RemoteError::Usage(error.to_string().trim_end_matches('.').to_owned());
        // The client is built before the next check, because `build` refuses a URL with a password, which no
        // message may show.
        let client = client.build().map_err(wrong)?;
        if !self.may_be_insecure && is_plain_and_remote(url) {
            return Err(RemoteError::PlainHttp(url.clone()));
        }
        Ok(client)
    }

    /// Returns the URL of the service.
    pub(crate) fn url(&self) -> &str {
        &self.profile.url
    }

    /// Returns the key.
    pub(crate) const fn key(&self) -> &ApiKey {
        &self.profile.key
    }
}

/// Returns `true` if a key that is sent to this URL can be read on the way: plain HTTP, except to this machine.
fn is_plain_and_remote(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    };
    url.scheme() == "http" && !is_local
}

impl AccountChoice {
    fn source(self, variable: impl Fn(&str) -> Option<String>) -> Result<Source, RemoteError> {
        if let Some(name) = self.profile {
            return Ok(Source::Stored(name));
        }
        let half = |given, missing| Err(RemoteError::HalfAnAccount { given, missing });
        let url_origin = if self.url.is_some() { "--url" } else { URL };
        match (variable(API_KEY), self.url.or_else(|| variable(URL))) {
            (Some(key), Some(url)) => Ok(Source::Environment(Profile::with_key(url, ApiKey::parse(&key)?))),
            (Some(_), None) => half(API_KEY, URL),
            (None, Some(_)) => half(url_origin, API_KEY),
            (None, None) => match variable(PROFILE) {
                Some(name) => {
                    let wrong = |reason| RemoteError::Usage(format!("{PROFILE} is {name:?}: {reason}"));
                    name.parse().map(Source::Stored).map_err(wrong)
                }
                None => Ok(Source::Stored(ProfileName::default())),
            },
        }
    }
}

/// Returns the value of an environment variable. An empty value counts as unset, as with settings.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(profile: Option<&str>, url: Option<&str>, variables: &[(&str, &str)]) -> Result<Source, String> {
        let find =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
        let choice = AccountChoice {
            profile: profile.map(|name| name.parse().unwrap()),
            url: url.map(str::to_owned),
            insecure: false,
        };
        choice.source(find).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_precede_the_environment_which_precedes_a_profile() {
        let (key, url, profile) = ((API_KEY, "cdr_live_a"), (URL, "http://env"), (PROFILE, "eu"));
        let environment = |url: &str| {
            Ok(Source::Environment(Profile::with_key(url.to_owned(), ApiKey::parse("cdr_live_a").unwrap())))
        };
        let stored_source = |name: &str| Ok(Source::Stored(name.parse().unwrap()));
        assert_eq!(source(Some("us"), None, &[key, url, profile]), stored_source("us"));
        assert_eq!(source(None, Some("http://flag"), &[key, url, profile]), environment("http://flag"));
        assert_eq!(source(None, None, &[key, url, profile]), environment("http://env"));
        assert_eq!(source(None, None, &[profile]), stored_source("eu"));
        assert_eq!(source(None, None, &[]), stored_source("default"));
    }

    #[test]
    fn half_an_account_is_refused_with_the_missing_half() {
        let error_of = |url, variables: &[(&str, &str)]| source(None, url, variables).unwrap_err();
        assert!(
            error_of(None, &[(API_KEY, "cdr_live_a"), (PROFILE, "eu")])
                .starts_with("CANDOR_API_KEY is set, but CANDOR_URL")
        );
        assert!(error_of(None, &[(URL, "http://env")]).starts_with("CANDOR_URL is set, but CANDOR_API_KEY"));
        assert!(error_of(Some("http://flag"), &[]).starts_with("--url is set, but CANDOR_API_KEY"));
        assert!(error_of(None, &[(PROFILE, "a b")]).contains("CANDOR_PROFILE is \"a b\""));
    }

    #[test]
    fn key_goes_over_plain_http_to_this_machine_only() {
        let is_refused = |url: &str, may_be_insecure| {
            let profile = Profile::with_key(url.to_owned(), ApiKey::parse("cdr_live_a").unwrap());
            matches!(Account::new(profile, may_be_insecure).client("test"), Err(RemoteError::PlainHttp(_)))
        };
        let remote =
            ["http://candor.example.com", "HTTP://candor.example.com:8080", "http://10.0.0.1", "http://[fd00::1]"];
        for url in remote {
            assert_eq!((is_refused(url, false), is_refused(url, true)), (true, false), "{url}");
        }
        let safe = ["http://localhost:8080", "http://127.0.0.1:8080", "http://127.1.2.3", "http://[::1]:8080"];
        for url in safe.into_iter().chain(["http://[::ffff:127.0.0.1]", "https://candor.example.com"]) {
            assert!(!is_refused(url, false), "{url}");
        }
        assert!(is_refused("http://localhost.example.com", false), "this is another host than localhost");
    }
}
