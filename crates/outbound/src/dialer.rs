//! Opens connections to the vetted addresses of a URL.

use std::fmt;
use std::net::SocketAddr;

use candor_domain::id::OrganizationId;
use candor_domain::receiver_url::Verdict;
use rustls::pki_types::CertificateDer;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use url::Url;

use crate::BoxedFuture;
use crate::connect;
use crate::connection::Connection;
use crate::failure::{AttemptFailure, refusal_reason};
use crate::policy::Policy;
use crate::resolve::{HostNames, Resolver};
use crate::tls;

/// The reason why a dialer could not be created.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The system's name server configuration cannot be used.
    #[error("cannot look up names: {0}")]
    Names(String),
    /// A given certificate authority cannot be used.
    #[error("cannot use a certificate authority: {0}")]
    Authority(#[from] rustls::Error),
}

/// A name server, an address policy and the trusted certificate authorities.
pub struct Dialer {
    resolver: Resolver,
    tls: TlsConnector,
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("resolver", &self.resolver).finish_non_exhaustive()
    }
}

impl Dialer {
    /// Creates a dialer that trusts the certificate authorities of the system and these additional ones. Must be
    /// called within a Tokio runtime.
    ///
    /// # Errors
    /// Returns the part of the system configuration or the settings that cannot be used.
    pub fn new(
        policy: Policy,
        names: HostNames,
        authorities: &[CertificateDer<'static>],
    ) -> Result<Self, SetupError> {
        let resolver = Resolver::new(names, policy).map_err(|error| SetupError::Names(error.to_string()))?;
        Ok(Self { resolver, tls: tls::connector(authorities)? })
    }

    /// Returns `true` if the operator trusts any network for this organization.
    #[must_use]
    pub fn has_trusted(&self, organization: OrganizationId) -> bool {
        self.resolver.has_trusted(organization)
    }

    /// Returns up to four addresses of a URL if all of its addresses may be called for the organization.
    ///
    /// # Errors
    /// Returns the verdict that refuses the URL.
    pub fn judge<'d>(
        &'d self,
        organization: OrganizationId,
        url: &'d Url,
    ) -> BoxedFuture<'d, Result<Vec<SocketAddr>, Verdict>> {
        Box::pin(self.resolver.resolve_vetted(organization, url))
    }

    /// Returns the addresses of [`Dialer::judge`].
    ///
    /// # Errors
    /// Returns the refusal as the failure of an attempt.
    pub async fn resolve(
        &self,
        organization: OrganizationId,
        url: &Url,
    ) -> Result<Vec<SocketAddr>, AttemptFailure> {
        self.judge(organization, url).await.map_err(|verdict| refusal_reason(verdict).into())
    }

    /// Opens a connection to the first of these addresses that accepts one.
    ///
    /// # Errors
    /// Returns the reason why there is no connection.
    pub fn open<'d>(
        &'d self,
        url: &'d Url,
        addresses: &'d [SocketAddr],
        deadline: Instant,
    ) -> BoxedFuture<'d, Result<(SocketAddr, Connection), AttemptFailure>> {
        Box::pin(connect::open(url, addresses, &self.tls, deadline))
    }
}
