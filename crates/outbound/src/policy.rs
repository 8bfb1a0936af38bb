//! Addresses that may be called: those that the IANA special-purpose registries call globally reachable (decision
//! F1).
//!
//! The tables list allocated ranges to refuse. For IPv6 there is one more rule: only `2000::/3` is global unicast,
//! so every address outside is refused, allocated or not.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use candor_domain::id::OrganizationId;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// IPv4 ranges that are not globally reachable, in the order of the registry. One public address is refused too:
/// the metadata endpoint of a cloud.
const IPV4: &[(Ipv4Addr, u8)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),        // "this network", RFC 791
    (Ipv4Addr::new(10, 0, 0, 0), 8),       // private use, RFC 1918
    (Ipv4Addr::new(100, 64, 0, 0), 10),    // shared address space, RFC 6598
    (Ipv4Addr::new(127, 0, 0, 0), 8),      // loopback, RFC 1122
    (Ipv4Addr::new(168, 63, 129, 16), 32), // a cloud's metadata and agent endpoint, though its address is public
    (Ipv4Addr::new(169, 254, 0, 0), 16),   // link local, cloud metadata with it, RFC 3927
    (Ipv4Addr::new(172, 16, 0, 0), 12),    // private use, RFC 1918
    (Ipv4Addr::new(192, 0, 0, 0), 24), // IETF protocol assignments, RFC 6890; its two anycasts are no receivers
    (Ipv4Addr::new(192, 0, 2, 0), 24), // documentation, RFC 5737
    (Ipv4Addr::new(192, 88, 99, 0), 24), // 6to4 relay anycast, deprecated by RFC 7526
    (Ipv4Addr::new(192, 168, 0, 0), 16), // private use, RFC 1918
    (Ipv4Addr::new(198, 18, 0, 0), 15), // benchmarking, RFC 2544
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation, RFC 5737
    (Ipv4Addr::new(203, 0, 113, 0), 24), // documentation, RFC 5737
    (Ipv4Addr::new(224, 0, 0, 0), 4),  // multicast, RFC 5771
    (Ipv4Addr::new(240, 0, 0, 0), 4),  // reserved and limited broadcast, RFC 1112 and 919
];

/// The range of global unicast addresses, RFC 4291.
const GLOBAL_UNICAST: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
/// The well-known prefix for IPv4/IPv6 translation, RFC 6052. An address with this prefix is treated like its
/// embedded IPv4 address.
const NAT64: (Ipv6Addr, u8) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// Ranges within `2000::/3` that are not globally reachable, and further ranges that decision F1 names, in the
/// order of the registry.
const IPV6: &[(Ipv6Addr, u8)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // IETF protocol assignments, Teredo with it, RFC 2928
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation, RFC 3849
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4, RFC 3056
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16), // 6bone, returned by RFC 3701
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation, RFC 9637
];

/// Returns `true` if the address is globally reachable.
///
/// ```
/// use candor_outbound::policy::is_public;
///
/// assert!(is_public("9.9.9.9".parse()?));
/// assert!(!is_public("169.254.169.254".parse()?));
/// assert!(!is_public("::ffff:9.9.9.9".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_in = |(network, bits): &(Ipv4Addr, u8)| Ipv4Net::new_assert(*network, *bits).contains(&address);
    !IPV4.iter().any(is_in)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let is_in = |(network, bits): &(Ipv6Addr, u8)| Ipv6Net::new_assert(*network, *bits).contains(&address);
    if is_in(&NAT64) {
        let [.., a, b, c, d] = address.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    is_in(&GLOBAL_UNICAST) && !IPV6.iter().any(is_in)
}

/// A network beyond public addresses that the operator allows, to one organization or to all: an entry of a setting
/// such as `webhooks.trusted_targets`.
///
/// ```
/// use candor_outbound::policy::TrustedNetwork;
///
/// let for_all: TrustedNetwork = "10.1.2.3".parse()?;
/// assert_eq!(for_all.organization, None);
/// let for_one: TrustedNetwork = "org_00000000000000000000000001=10.1.0.0/16".parse()?;
/// assert!(for_one.organization.is_some());
/// # Ok::<(), candor_outbound::policy::TrustedNetworkError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustedNetwork {
    /// Organization whose requests may be sent there; `None` for all organizations.
    pub organization: Option<OrganizationId>,
    /// Network that may be private and called over plain HTTP.
    pub network: IpNet,
}

/// Error of a text that is no trusted network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a network such as 10.0.0.0/8, or a network for one organization such as org_…=10.0.0.0/8")]
pub struct TrustedNetworkError;

impl FromStr for TrustedNetwork {
    type Err = TrustedNetworkError;

    /// Parses a network or a single address. The id of an organization and `=` may precede it.
    fn from_str(text: &str) -> Result<Self, TrustedNetworkError> {
        let (organization, network) = match text.split_once('=') {
            Some((id, network)) => (Some(id.parse().map_err(|_| TrustedNetworkError)?), network),
            None => (None, text),
        };
        let network = network.parse().or_else(|_| network.parse::<IpAddr>().map(IpNet::from));
        Ok(Self { organization, network: network.map_err(|_| TrustedNetworkError)? })
    }
}

impl From<IpNet> for TrustedNetwork {
    fn from(network: IpNet) -> Self {
        Self { organization: None, network }
    }
}

impl fmt::Display for TrustedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.organization {
            Some(organization) => write!(f, "{organization}={}", self.network),
            None => write!(f, "{}", self.network),
        }
    }
}

/// The networks that the operator allows beyond public addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    trusted: Vec<TrustedNetwork>,
}

impl Policy {
    /// Creates a policy that trusts these networks, even private ones and without TLS.
    #[must_use]
    pub fn new_trusting(trusted: impl IntoIterator<Item = TrustedNetwork>) -> Self {
        let exact = |trusted: TrustedNetwork| TrustedNetwork { network: trusted.network.trunc(), ..trusted };
        Self { trusted: trusted.into_iter().map(exact).collect() }
    }

    /// Returns the trusted networks.
    #[must_use]
    pub fn trusted_networks(&self) -> &[TrustedNetwork] {
        &self.trusted
    }

    /// Returns the networks that are trusted for an organization.
    fn trusted_by(&self, organization: OrganizationId) -> impl Iterator<Item = IpNet> {
        let is_for = move |trusted: &&TrustedNetwork| trusted.organization.is_none_or(|id| id == organization);
        self.trusted.iter().filter(is_for).map(|trusted| trusted.network)
    }

    /// Returns `true` if the operator trusts at least one network for this organization.
    #[must_use]
    pub fn has_trusted(&self, organization: OrganizationId) -> bool {
        self.trusted_by(organization).next().is_some()
    }

    /// Returns `true` if the operator trusts this address for requests of the organization. An IPv4 network does not
    /// cover IPv6 forms of its addresses.
    #[must_use]
    pub fn trusts(&self, organization: OrganizationId, address: IpAddr) -> bool {
        self.trusted_by(organization).any(|network| network.contains(&address))
    }

    /// Returns `true` if a connection to this address may be opened for the organization.
    #[must_use]
    pub fn allows(&self, organization: OrganizationId, address: IpAddr) -> bool {
        is_public(address) || self.trusts(organization, address)
    }
}

#[cfg(test)]
mod tests;
