//! `candor login`, `candor logout` and `candor profiles`: API keys and sessions that are stored as profiles of the user.

mod browser;

use std::io::{self, BufRead, IsTerminal};

use candor_client::types::Me;
use candor_client::{Method, StatusCode};
use serde_json::json;

use crate::arguments::Login;
use crate::error::CommandError;
use crate::output::{Output, printable, table, tell};
use crate::remote::{Account, ApiKey, Profile, ProfileName, Profiles, RemoteError, variable};

/// Name of the command in `User-Agent`.
const AGENT: &str = "candor-login";
const PROMPT: &str = "API key: ";
/// Question before a session is stored. Another user of the machine may have answered in the browser.
const QUESTION: &str = "Is this you, and your organization? Store the session? [y/N] ";
/// Cause and remedy if the person does not say yes.
const NOT_CONFIRMED: &str =
    "you did not confirm the person, so the session is ended and not stored; begin again in your own browser";

/// Reads a key, or signs the person in with the browser. Asks the service for the owner of the key, and stores the key.
/// Nothing is stored if the service refuses the key, or if a person at the terminal does not confirm the session.
///
/// # Errors
/// [`RemoteError`] if the key is malformed, the sign-in is refused or the service does not accept the key;
/// [`CommandError::Io`] if the key cannot be read or the profiles cannot be written.
pub(crate) async fn run(login: Login, output: Output) -> Result<(), CommandError> {
    let path = Profiles::path(variable)?;
    let mut profiles = Profiles::read(&path)?;
    let url = login.url.trim_end_matches('/');
    let url = url.strip_suffix("/v1").unwrap_or(url).to_owned();
    let key = if login.browser {
        let folder = path.parent().unwrap_or(&path);
        browser::sign_in((&url, login.insecure), AGENT, folder).await?
    } else {
        ApiKey::parse(&read_key()?)?
    };
    let profile = Profile { is_session: login.browser, ..Profile::with_key(url.clone(), key) };
    let candor = Account::new(profile.clone(), login.insecure).client(AGENT)?;
    let response = candor.request(Method::GET, "me").send().await;
    let me = response.and_then(|response| response.json::<Me>());
    let me = me.map_err(RemoteError::naming_request(format!("log in to {url}")))?.data;
    if login.browser && io::stdin().is_terminal() && io::stderr().is_terminal() {
        tell(format!("{}\n{QUESTION}", describe_key(&me)));
        if !read_consent(io::stdin().lock())? {
            end_session(profile).await?;
            return Err(RemoteError::SignInRefused(NOT_CONFIRMED).into());
        }
    }
    profiles.insert(&login.profile, profile);
    profiles.write(&path)?;
    let object = json!({
        "profile": login.profile.to_string(), "url": url, "file": path.display().to_string(),
        "key_id": me.key_id, "name": me.name, "organization_id": me.organization_id, "environment": me.environment,
        "access_level": me.access_level, "expires_at": me.expires_at,
    });
    let place = path.display();
    output.say(
        &object,
        &format!("{}\nThe key is stored in {place}.\n{}\n", describe_key(&me), usage(&login.profile)),
    )
}

/// Removes a profile, and ends the session if the profile has one. The profile is removed even if the service does not
/// answer.
///
/// # Errors
/// [`RemoteError`] if no profile has the name, the file of profiles is malformed or open to other users, or the
/// session cannot be ended; [`CommandError::Io`] if the profiles cannot be read or written.
pub(crate) async fn log_out(name: &ProfileName, output: Output) -> Result<(), CommandError> {
    let path = Profiles::path(variable)?;
    let mut profiles = Profiles::read(&path)?;
    let profile = profiles.remove(name)?;
    profiles.write(&path)?;
    let Profile { url, is_session, .. } = profile.clone();
    if is_session {
        end_session(profile).await?;
    }
    let end = if is_session { "The session has ended." } else { "The API key stays valid." };
    let text = format!("The profile {name} for {url} is removed. {end}\n");
    output.say(&json!({"profile": name.to_string(), "url": url}), &text)
}

/// Ends the session of a profile. A session that has ended already is no failure.
async fn end_session(profile: Profile) -> Result<(), RemoteError> {
    let url = profile.url.clone();
    // The login has accepted the URL, with --insecure or without.
    let candor = Account::new(profile, true).client(AGENT)?;
    let response = candor.request(Method::POST, "sign-in/logout").send().await;
    match response {
        Err(error) if error.api().is_some_and(|api| api.status == StatusCode::UNAUTHORIZED) => Ok(()),
        response => response.map(drop).map_err(RemoteError::naming_request(format!("end the session at {url}"))),
    }
}

/// Prints the names and URLs of the profiles.
///
/// # Errors
/// [`RemoteError`] if the file of profiles is malformed or open to other users; [`CommandError::Io`] if the
/// profiles cannot be read.
pub(crate) fn list(output: Output) -> Result<(), CommandError> {
    let profiles = Profiles::read(&Profiles::path(variable)?)?;
    let rows: Vec<_> = profiles.iter().map(|(name, profile)| vec![name.to_owned(), profile.url.clone()]).collect();
    let objects: Vec<_> =
        profiles.iter().map(|(name, profile)| json!({"profile": name, "url": profile.url})).collect();
    output.say(&json!({"data": objects}), &table(&rows))
}

/// Reads the key without echo from a terminal, or else from standard input.
fn read_key() -> Result<String, CommandError> {
    let read = if io::stdin().is_terminal() {
        rpassword::prompt_password(PROMPT)
    } else {
        io::read_to_string(io::stdin().lock())
    };
    read.map_err(CommandError::io("read", "the API key"))
}

/// Returns `true` if the answer is yes.
fn read_consent(mut input: impl BufRead) -> Result<bool, CommandError> {
    let mut response = String::new();
    input.read_line(&mut response).map_err(CommandError::io("read", "the answer"))?;
    Ok(matches!(response.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Describes a key for the terminal, in words of the service.
fn describe_key(me: &Me) -> String {
    let expiry = me.expires_at.as_ref().map_or(String::new(), |end| format!(" The key expires at {end}."));
    let text = format!(
        "The service accepts the key \"{}\": {} level, {} data of {} ({}).{expiry}",
        me.name, me.access_level, me.environment, me.organization_name, me.organization_id
    );
    printable(&text).into_owned()
}

fn usage(profile: &ProfileName) -> String {
    if *profile == ProfileName::default() {
        "Use it with: candor api GET me".to_owned()
    } else {
        format!("Use it with: candor api GET me --profile {profile}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_stores_a_session() {
        for (response, wanted) in
            [("y\n", true), (" Yes \n", true), ("n\n", false), ("\n", false), ("", false), ("yesterday\n", false)]
        {
            assert_eq!(read_consent(response.as_bytes()).unwrap(), wanted, "{response:?}");
        }
    }

    #[test]
    fn texts_of_the_service_steer_no_terminal() {
        let hostile = "a\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\n";
        let quota = json!({"limit": 600, "window_seconds": 60});
        let me: Me = serde_json::from_value(json!({
            "key_id": hostile, "name": hostile, "organization_id": hostile, "organization_name": hostile,
            "environment": hostile, "access_level": hostile, "scopes": [], "expires_at": hostile,
            "employee_id": null, "connector_id": null, "identity_provider_id": null, "session_id": null,
            "allowed_networks": [], "quotas": {
                "read": quota, "write": quota, "webhook_test": quota, "csv": quota, "export": quota,
            },
        }))
        .unwrap();
        let text = describe_key(&me);
        assert!(!text.contains(crate::output::is_steering), "{text:?}");
        assert_eq!(text.matches("]0;title").count(), 6, "{text:?}");
    }
}
