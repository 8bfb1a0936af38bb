//! Port for identity providers: their documents, the exchange of a code, and the TXT records of domains.
//!
//! An implementation of [`IdentityTransport`] owns sockets, names and addresses. Its callers own the meaning: the
//! domain reads the documents and judges the tokens.

use async_trait::async_trait;
use bytes::Bytes;
use candor_domain::id::OrganizationId;
use candor_domain::secret::Secret;
use candor_tokens::discovery::ClientAuthentication;

pub use candor_sign_in::fetch_failure::FetchError;

/// A response of a provider with status 200.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderDocument {
    /// The body, of at most 256 KiB.
    pub body: Bytes,
    /// Time for which the response may be reused, in seconds. `None` if the provider does not state it.
    pub max_age: Option<i64>,
}

/// The exchange of a code for tokens (RFC 6749, section 4.1.3; RFC 7636).
#[derive(Debug, Clone)]
pub struct CodeExchange {
    /// Organization of the provider. The operator may trust a network for some organizations only.
    pub organization: OrganizationId,
    /// Address of the token endpoint.
    pub token_endpoint: String,
    /// Way to send the client secret.
    pub authentication: ClientAuthentication,
    /// Client id of the service at the provider.
    pub client_id: String,
    /// Client secret. A public client has none.
    pub client_secret: Option<Secret>,
    /// The code of the authorization response.
    pub code: Secret,
    /// Address to which the provider has sent the browser.
    pub redirect_uri: String,
    /// The PKCE verifier of the sign-in.
    pub code_verifier: Secret,
}

/// Access to identity providers and to the domains of organizations.
#[async_trait]
pub trait IdentityTransport: Send + Sync {
    /// Returns `true` if the operator trusts a network in which providers of the organization may have no TLS.
    fn has_trusted_network(&self, organization: OrganizationId) -> bool;

    /// Fetches a document: a discovery document or a key set.
    ///
    /// # Errors
    /// Returns the reason why there is no document.
    async fn fetch_document(
        &self,
        organization: OrganizationId,
        address: &str,
    ) -> Result<ProviderDocument, FetchError>;

    /// Exchanges a code for tokens.
    ///
    /// # Errors
    /// Returns the reason why there are no tokens.
    async fn exchange_code(&self, exchange: CodeExchange) -> Result<ProviderDocument, FetchError>;

    /// Returns the texts of the TXT records of a domain.
    ///
    /// # Errors
    /// Returns [`FetchError::NoNameServer`] if no name server has answered.
    async fn read_text_records(&self, domain: &str) -> Result<Vec<String>, FetchError>;
}

/// An implementation that reaches no provider, for commands. It needs neither name servers nor certificates.
#[derive(Debug, Clone, Copy)]
pub struct NoProviders;

#[async_trait]
impl IdentityTransport for NoProviders {
    fn has_trusted_network(&self, _: OrganizationId) -> bool {
        false
    }

    async fn fetch_document(&self, _: OrganizationId, _: &str) -> Result<ProviderDocument, FetchError> {
        Err(FetchError::NotPublic)
    }

    async fn exchange_code(&self, _: CodeExchange) -> Result<ProviderDocument, FetchError> {
        Err(FetchError::NotPublic)
    }

    async fn read_text_records(&self, _: &str) -> Result<Vec<String>, FetchError> {
        Err(FetchError::NoNameServer)
    }
}
