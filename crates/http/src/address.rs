//! Where a request comes from: the peer, or what a trusted proxy says of it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use actix_web::http::header::HeaderMap;

/// The header in which proxies pass on whom they speak for, the nearest last.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Bits of an IPv6 address that one customer of a provider usually has.
const SITE_PREFIX_BITS: u32 = 64;

/// A block of addresses, e.g. `10.0.0.0/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    base: u128,
    mask: u128,
}

/// The text is neither an address nor a block of addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a network: expected an address, or an address and a prefix length as in 10.0.0.0/8")]
pub struct NotANetwork;

impl Network {
    /// Whether the address lies in this block.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        bits(address) & self.mask == self.base
    }
}

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let (address, length) = text.split_once('/').map_or((text, None), |(it, length)| (it, Some(length)));
        let address: IpAddr = address.parse().map_err(|_| NotANetwork)?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let length: u32 = length.map_or(Ok(width), str::parse).map_err(|_| NotANetwork)?;
        if length > width {
            return Err(NotANetwork);
        }
        let host_bits = width - length;
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        Ok(Self { base: bits(address) & mask, mask })
    }
}

/// Every address in one space: an IPv4 address is its IPv4-mapped one.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(it) => it.to_ipv6_mapped().to_bits(),
        IpAddr::V6(it) => it.to_bits(),
    }
}

/// The address that a request comes from. What proxies say counts as far as one trusts the one who says it.
pub(crate) fn client(peer: Option<IpAddr>, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).to_canonical();
    let is_trusted = |it: IpAddr| trusted.iter().any(|network| network.contains(it));
    if !is_trusted(peer) {
        return peer;
    }
    let mut client = peer;
    let lines: Vec<&str> = headers.get_all(FORWARDED_FOR).filter_map(|it| it.to_str().ok()).collect();
    for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        let Ok(address) = hop.trim().parse::<IpAddr>() else { break };
        client = address.to_canonical();
        if !is_trusted(client) {
            break;
        }
    }
    client
}

/// What failures are counted by: the IPv4 address, or the site of an IPv6 address, because whoever has one address of
/// a site has them all.
pub(crate) fn bucket(client: IpAddr) -> [u8; 16] {
    match client {
        IpAddr::V4(it) => it.to_ipv6_mapped().octets(),
        IpAddr::V6(it) => Ipv6Addr::from_bits(it.to_bits() & (u128::MAX << (128 - SITE_PREFIX_BITS))).octets(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn from(peer: &str, forwarded: &[&'static str], trusted: &[&str]) -> IpAddr {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(HeaderName::from_static(FORWARDED_FOR), HeaderValue::from_static(line));
        }
        let trusted: Vec<_> = trusted.iter().map(|it| network(it)).collect();
        client(Some(ip(peer)), &headers, &trusted)
    }

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        for (text, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("2001:db8::/32", "2001:db8:1::1", "2001:db9::1"),
            ("0.0.0.0/0", "203.0.113.9", "2001:db8::1"),
            ("::/0", "2001:db8::1", ""),
        ] {
            assert!(network(text).contains(ip(inside)), "{text} {inside}");
            assert!(outside.is_empty() || !network(text).contains(ip(outside)), "{text} {outside}");
        }
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "host", "10.0.0.0/8/8"] {
            assert_eq!(bad.parse::<Network>(), Err(NotANetwork), "{bad}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_speaks_for_someone_else() {
        assert_eq!(from("203.0.113.9", &["198.51.100.1"], &[]), ip("203.0.113.9"));
        assert_eq!(from("10.0.0.1", &["198.51.100.1"], &["10.0.0.0/8"]), ip("198.51.100.1"));
        assert_eq!(from("10.0.0.1", &["198.51.100.1, 203.0.113.9, 10.1.1.1"], &["10.0.0.0/8"]), ip("203.0.113.9"));
        assert_eq!(from("10.0.0.1", &["198.51.100.1", "203.0.113.9"], &["10.0.0.0/8"]), ip("203.0.113.9"));
        assert_eq!(from("10.0.0.1", &["198.51.100.1, nonsense"], &["10.0.0.0/8"]), ip("10.0.0.1"));
        assert_eq!(from("::ffff:10.0.0.1", &["198.51.100.1"], &["10.0.0.0/8"]), ip("198.51.100.1"));
    }

    #[test]
    fn the_addresses_of_an_ipv6_site_count_together() {
        assert_eq!(bucket(ip("2001:db8:1:2::1")), bucket(ip("2001:db8:1:2:ffff::9")));
        assert_ne!(bucket(ip("2001:db8:1:2::1")), bucket(ip("2001:db8:1:3::1")));
        assert_ne!(bucket(ip("192.0.2.1")), bucket(ip("192.0.2.2")));
    }
}
