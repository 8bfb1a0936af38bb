//! Sign-in of people at the identity provider of their organization, and the end of their sessions (decision B10).

mod begin;
mod callback;
mod logout;
mod session;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::id::{IdentityProviderId, OrganizationId};
use candor_sign_in::sign_in::SignInState;

pub use begin::{SignInUrl, begin};
pub use callback::{ReturningBrowser, complete};
pub use logout::{LogoutUrl, log_out};

use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::vault::SealContext;

/// Length of the longest sealed text that is opened, in characters.
const MAX_SEALED_CHARS: usize = 2_000;
/// Number of random bytes that identify a browser.
const BROWSER_BYTES: usize = 16;

/// A browser that has the cookie of sign-ins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browser {
    id: [u8; BROWSER_BYTES],
    /// Organization to which the browser signed in last. Its next sign-in there goes before those of new browsers.
    organization: Option<OrganizationId>,
}

impl Browser {
    /// Returns the bucket of the browser's quota.
    #[must_use]
    pub const fn bucket(&self) -> [u8; BROWSER_BYTES] {
        self.id
    }

    /// Returns the id of the browser as text.
    pub(crate) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.id)
    }
}

const fn place_of_browser() -> SealContext<'static> {
    SealContext { purpose: "sign-in browser", tenant: None, row: &[] }
}

/// Returns the browser of a cookie; `None` if the service did not seal its value.
#[must_use]
pub fn open_browser(services: &Services, cookie: &str) -> Option<Browser> {
    let plain = open(services, &place_of_browser(), cookie)?;
    let (id, organization) = plain.split_first_chunk()?;
    let organization = (!organization.is_empty()).then(|| organization.try_into().map(OrganizationId::from_bytes));
    Some(Browser { id: *id, organization: organization.transpose().ok()? })
}

/// Returns the cookie of a browser that has signed in to an organization; `None` if it has this cookie already.
pub(crate) fn cookie_after_sign_in(
    services: &Services,
    browser: &Browser,
    organization: OrganizationId,
) -> Result<Option<String>, Error> {
    if browser.organization == Some(organization) {
        return Ok(None);
    }
    let plain = [browser.id, organization.to_bytes()].concat();
    seal(services, &place_of_browser(), &plain).map(Some)
}

/// Creates a browser with the value of its cookie.
fn new_browser(services: &Services) -> Result<(Browser, String), Error> {
    let mut id = [0; BROWSER_BYTES];
    services.ids.fill(&mut id)?;
    let cookie = seal(services, &place_of_browser(), &id)?;
    Ok((Browser { id, organization: None }, cookie))
}

fn seal_state(services: &Services, provider: IdentityProviderId, state: &SignInState) -> Result<String, Error> {
    let text = serde_json::to_vec(state).map_err(|error| Error::Bug(error.to_string()))?;
    seal(services, &place_of_state(&provider.to_bytes()), &text)
}

/// Returns the state of a sign-in at this provider; `None` if the service did not seal it.
fn open_state(services: &Services, provider: IdentityProviderId, sealed: &str) -> Option<SignInState> {
    let plain = open(services, &place_of_state(&provider.to_bytes()), sealed)?;
    serde_json::from_slice(&plain).ok()
}

const fn place_of_state(provider: &[u8]) -> SealContext<'_> {
    SealContext { purpose: "sign-in state", tenant: None, row: provider }
}

fn seal(services: &Services, place: &SealContext<'_>, plain: &[u8]) -> Result<String, Error> {
    Ok(URL_SAFE_NO_PAD.encode(services.vault.seal(&*services.ids, place, plain)?))
}

fn open(services: &Services, place: &SealContext<'_>, text: &str) -> Option<Vec<u8>> {
    if text.len() > MAX_SEALED_CHARS {
        return None;
    }
    services.vault.open(place, &URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

/// Returns the address to which the provider sends the browser.
fn redirect_uri(services: &Services, provider: IdentityProviderId) -> String {
    format!("{}/v1/sign-in/callback/{provider}", services.settings.public_url.trim_end_matches('/'))
}
