//! Responses of token endpoints (OpenID Connect Core, section 3.1.3.3).

use candor_forms::secret::Secret;

use super::strict_json::{DocumentError, MAX_SMALL_DOCUMENT_BYTES, read_object, text};

/// The tokens of an exchange. A refresh token is not kept.
///
/// ```
/// use candor_tokens::token_response::{TokenResponse, TokenResponseError};
///
/// let response = TokenResponse::parse(br#"{"id_token": "a.b.c", "access_token": "d", "token_type": "Bearer"}"#)?;
/// assert_eq!(response.id_token.reveal(), "a.b.c");
/// assert_eq!(TokenResponse::parse(br#"{"access_token": "d"}"#), Err(TokenResponseError::NoIdToken));
/// # Ok::<(), TokenResponseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenResponse {
    /// The ID token.
    pub id_token: Secret,
    /// The access token, which the `at_hash` of the ID token covers.
    pub access_token: Option<Secret>,
}

/// The reason why a response cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenResponseError {
    /// The response cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// There is no ID token: the scope `openid` was not granted.
    #[error("the response has no id_token")]
    NoIdToken,
}

impl TokenResponse {
    /// Reads a response.
    ///
    /// # Errors
    /// Returns the reason why the response cannot be used.
    pub fn parse(document: &[u8]) -> Result<Self, TokenResponseError> {
        let object = read_object(document, MAX_SMALL_DOCUMENT_BYTES)?;
        let secret = |name| text(&object, name).map(|text| Secret::new(text.to_owned()));
        let id_token = secret("id_token").ok_or(TokenResponseError::NoIdToken)?;
        Ok(Self { id_token, access_token: secret("access_token") })
    }
}
