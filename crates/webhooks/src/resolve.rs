//! From a host to the addresses that were vetted: the only ones that are ever dialled.

use std::net::{IpAddr, SocketAddr};

use candor_domain::webhook::Verdict;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name;
use url::{Host, Url};

use crate::policy::Policy;

/// Addresses that are dialled at most: a name may have more, and they may all be dead.
const MAX_DIALLED: usize = 4;

/// Where names are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostNames {
    /// As the system is configured.
    #[default]
    System,
    /// At this server, over UDP.
    Server(SocketAddr),
}

/// Looks names up and vets every answer.
#[derive(Debug)]
pub(crate) struct Resolver {
    names: TokioResolver,
    policy: Policy,
}

impl Resolver {
    pub(crate) fn new(names: HostNames, policy: Policy) -> Result<Self, NetError> {
        let mut builder = match names {
            HostNames::System => TokioResolver::builder_tokio()?,
            HostNames::Server(server) => {
                let config = ResolverConfig::from_parts(None, vec![], vec![at(server)]);
                TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
            }
        };
        settle(builder.options_mut());
        Ok(Self { names: builder.build()?, policy })
    }

    /// The addresses of a URL, if it may be called at all of them.
    pub(crate) async fn vetted(&self, url: &Url) -> Result<Vec<SocketAddr>, Verdict> {
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(Verdict::NotHttps),
        };
        if !secure && self.policy.trusted().is_empty() {
            return Err(Verdict::NotHttps);
        }
        let port = url.port_or_known_default().ok_or(Verdict::NotHttps)?;
        let answers = match url.host() {
            Some(Host::Ipv4(it)) => vec![IpAddr::V4(it)],
            Some(Host::Ipv6(it)) => vec![IpAddr::V6(it)],
            Some(Host::Domain(name)) => self.look_up(name).await?,
            None => return Err(Verdict::Unresolvable),
        };
        if !secure && !answers.iter().all(|it| self.policy.trusts(*it)) {
            return Err(Verdict::NotHttps);
        }
        if !answers.iter().all(|it| self.policy.allows(*it)) {
            return Err(Verdict::Private);
        }
        Ok(answers.into_iter().take(MAX_DIALLED).map(|it| SocketAddr::new(it, port)).collect())
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Verdict> {
        let mut name = Name::from_utf8(name).map_err(|_| Verdict::Unresolvable)?;
        if name.num_labels() > 1 {
            // A search list must not turn a public name into one of the inside.
            name.set_fqdn(true);
        }
        let answers: Vec<IpAddr> = match self.names.lookup_ip(name).await {
            Ok(found) => found.iter().collect(),
            Err(_) => vec![],
        };
        if answers.is_empty() { Err(Verdict::Unresolvable) } else { Ok(answers) }
    }
}

fn at(server: SocketAddr) -> NameServerConfig {
    let mut udp = ConnectionConfig::udp();
    udp.port = server.port();
    NameServerConfig::new(server.ip(), true, vec![udp])
}

/// Both families are always asked, so that every answer there is gets vetted.
fn settle(options: &mut ResolverOpts) {
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.timeout = std::time::Duration::from_secs(3);
}
