//! Causes for which a token is refused. Clients see one text for all; the log and the counters have the cause.

use candor_forms::fields::StringEnum;
use strum::{IntoStaticStr, VariantArray};

/// The cause for which a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray, thiserror::Error)]
#[strum(serialize_all = "snake_case")]
pub enum TokenError {
    /// The token is longer than [`MAX_TOKEN_BYTES`](super::token::MAX_TOKEN_BYTES).
    #[error("the token is longer than 16 KiB")]
    TooLarge,
    /// The token is not three base64url parts with JSON objects and a signature, or a member has the wrong type.
    #[error("the token is malformed")]
    Malformed,
    /// The header or the claims have a member twice, at any depth.
    #[error("the header or the claims of the token contain a JSON member twice")]
    RepeatedMember,
    /// The token is encrypted.
    #[error("the token is encrypted")]
    Encrypted,
    /// The header has `crit` or `b64`: extensions that change the meaning of the token.
    #[error("the header of the token has an extension, crit or b64")]
    Extension,
    /// The algorithm is not in the list of the service.
    #[error("the algorithm of the token is not accepted")]
    Algorithm,
    /// The `typ` is that of another kind of token.
    #[error("the typ of the token is that of another kind of token")]
    Kind,
    /// No key of the provider has the `kid` of the token.
    #[error("no key of the provider has the kid of the token")]
    UnknownKey,
    /// No key with the `kid` of the token is for its algorithm. For a token without `kid`, no key at all is.
    #[error("no key of the provider fits both the kid and the algorithm of the token")]
    UnfitKey,
    /// Several keys fit.
    #[error("several keys of the provider fit the token")]
    AmbiguousKey,
    /// The signature is not that of the key.
    #[error("the signature of the token is wrong")]
    Signature,
    /// The issuer is not that of the provider.
    #[error("the issuer of the token is not that of the identity provider")]
    Issuer,
    /// The audience is that of no provider, or of several, or the token has too many audiences.
    #[error(
        "the aud of the token is that of no identity provider, or of several, or it has too many entries: compare it \
         with the client id and the audiences of the provider"
    )]
    Audience,
    /// The client that the token was issued to is missing or not accepted.
    #[error("the client that the token was issued to is missing or not accepted")]
    AuthorizedParty,
    /// The subject is missing, longer than 255 characters, or not valid.
    #[error("the token has no valid subject")]
    Subject,
    /// A time is missing or is not an integer, or the end of the session is not in the years 1970 to 9999.
    #[error("the exp or iat of the token is missing, or a time of the token is no integer, or out of range")]
    Time,
    /// The token, or the session that it tells of, has expired.
    #[error("the token has expired")]
    Expired,
    /// The time of issue (`iat`), or the time from which the token is valid (`nbf`), is in the future.
    #[error("the iat or nbf of the token is in the future")]
    NotYetValid,
    /// The authentication context class is not the required one.
    #[error("the acr of the token is not the required one")]
    AuthenticationContext,
    /// The time of the authentication is missing, too long ago or in the future.
    #[error("the auth_time of the token is missing, too long ago or in the future")]
    AuthenticationTime,
    /// The token does not name the provider that it shall prove values for.
    #[error(
        "the token does not name this identity provider: add its id (idp_…) to the tokens as the claim candor_provider, or \
         as a role"
    )]
    UnnamedProvider,
    /// The nonce is not that of the sign-in.
    #[error("the nonce of the token is not that of the sign-in")]
    Nonce,
    /// The access token is not that of the ID token.
    #[error("the at_hash of the token is that of another access token")]
    AccessTokenHash,
    /// The token is bound to a key of its holder (`cnf`).
    #[error("the token is bound to a key of its holder")]
    Confirmation,
    /// The token tells of an event (`events`), as logout tokens do.
    #[error("the token tells of an event")]
    Event,
    /// A logout token has no event of a logout, no `jti`, neither a subject nor a session, or it has a nonce.
    #[error("the token is not a valid logout token")]
    Logout,
    /// A logout token is too old.
    #[error("the logout token is too old")]
    TooOld,
}

impl StringEnum for TokenError {}
