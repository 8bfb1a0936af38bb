//! Looks up hosts and vets their addresses. Only vetted addresses are dialed.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use candor_domain::id::OrganizationId;
use candor_domain::receiver_url::Verdict;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name;
use url::{Host, Url};

use crate::policy::Policy;

/// Maximum number of addresses to dial for one attempt, because a name may have many unreachable ones.
const MAX_DIALED: usize = 4;
/// Time limit of one query to a name server.
const LOOKUP_TIME: Duration = Duration::from_secs(3);

/// The name server for host names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostNames {
    /// The name servers in the system's configuration.
    #[default]
    System,
    /// The name server at this address, over UDP.
    Server(SocketAddr),
}

/// A resolver that vets every address of a host.
#[derive(Debug)]
pub(crate) struct Resolver {
    names: TokioResolver,
    policy: Policy,
}

impl Resolver {
    pub(crate) fn new(names: HostNames, policy: Policy) -> Result<Self, NetError> {
        let names = resolver(names, |options| {
            // Addresses of both families are requested, so that every address of a host is vetted.
            options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        })?;
        Ok(Self { names, policy })
    }

    pub(crate) fn has_trusted(&self, organization: OrganizationId) -> bool {
        self.policy.has_trusted(organization)
    }

    /// Returns up to `MAX_DIALED` addresses of a URL if all of its addresses may be called for the organization.
    pub(crate) async fn resolve_vetted(
        &self,
        organization: OrganizationId,
        url: &Url,
    ) -> Result<Vec<SocketAddr>, Verdict> {
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(Verdict::NotHttps),
        };
        if !secure && !self.policy.has_trusted(organization) {
            return Err(Verdict::NotHttps);
        }
        let port = url.port_or_known_default().ok_or(Verdict::NotHttps)?;
        let responses = match url.host() {
            Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
            Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
            Some(Host::Domain(name)) => self.look_up(name).await?,
            None => return Err(Verdict::Unresolvable),
        };
        if !secure && !responses.iter().all(|address| self.policy.trusts(organization, *address)) {
            return Err(Verdict::NotHttps);
        }
        if !responses.iter().all(|address| self.policy.allows(organization, *address)) {
            return Err(Verdict::Private);
        }
        Ok(responses.into_iter().take(MAX_DIALED).map(|address| SocketAddr::new(address, port)).collect())
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Verdict> {
        let mut name = Name::from_utf8(name).map_err(|_| Verdict::Unresolvable)?;
        if name.num_labels() > 1 {
            // A search list must not turn a public name into a private one.
            name.set_fqdn(true);
        }
        let responses: Vec<IpAddr> = match self.names.lookup_ip(name).await {
            Ok(found) => found.iter().collect(),
            Err(_) => vec![],
        };
        if responses.is_empty() { Err(Verdict::Unresolvable) } else { Ok(responses) }
    }
}

fn name_server(server: SocketAddr) -> NameServerConfig {
    let mut udp = ConnectionConfig::udp();
    udp.port = server.port();
    NameServerConfig::new(server.ip(), true, vec![udp])
}

/// Creates a resolver with these options.
pub(crate) fn resolver(
    names: HostNames,
    set_options: impl FnOnce(&mut ResolverOpts),
) -> Result<TokioResolver, NetError> {
    let mut builder = match names {
        HostNames::System => TokioResolver::builder_tokio()?,
        HostNames::Server(server) => {
            let config = ResolverConfig::from_parts(None, vec![], vec![name_server(server)]);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        }
    };
    let options = builder.options_mut();
    options.timeout = LOOKUP_TIME;
    set_options(options);
    builder.build()
}
