//! Client addresses: the peer of a connection, or the client that a trusted proxy names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use actix_web::http::header::HeaderMap;

/// Header in which a proxy names its clients; each proxy appends the peer that it saw.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Prefix length, in bits, of the IPv6 block that a provider usually gives one customer.
const SITE_PREFIX_BITS: u32 = 64;

/// A block of addresses, e.g. `10.0.0.0/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    base: u128,
    mask: u128,
}

/// Parse error: the text is neither an address nor a block of addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a network: expected an address, or an address and a prefix length as in 10.0.0.0/8")]
pub struct ProxyNetworkError;

impl Network {
    /// Returns whether the address lies in this block.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        bits(address) & self.mask == self.base
    }
}

impl FromStr for Network {
    type Err = ProxyNetworkError;

    fn from_str(text: &str) -> Result<Self, ProxyNetworkError> {
        let (address, length) =
            text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
        let address: IpAddr = address.parse().map_err(|_| ProxyNetworkError)?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let length: u32 = length.map_or(Ok(width), str::parse).map_err(|_| ProxyNetworkError)?;
        if length > width {
            return Err(ProxyNetworkError);
        }
        let host_bits = width - length;
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        Ok(Self { base: bits(address) & mask, mask })
    }
}

/// Converts an address to 128 bits; an IPv4 address becomes its IPv4-mapped IPv6 address.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(it) => it.to_ipv6_mapped().to_bits(),
        IpAddr::V6(it) => it.to_bits(),
    }
}

/// Client that a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Client {
    /// Address of the client. If the entry of a trusted proxy cannot be read, the address of this proxy.
    pub(crate) address: IpAddr,
    /// `true` if a trusted proxy sent an `X-Forwarded-For` that cannot be read.
    pub(crate) is_unreadable: bool,
}

impl Client {
    /// Returns the address that is compared with the networks of keys, or `None` if the address of the client is not
    /// known.
    pub(crate) fn legible_address(self) -> Option<IpAddr> {
        (!self.is_unreadable && !self.address.is_unspecified()).then_some(self.address)
    }
}

/// Returns `true` if the peer is one of the trusted proxies.
pub(crate) fn is_trusted(peer: IpAddr, trusted: &[Network]) -> bool {
    let peer = peer.to_canonical();
    trusted.iter().any(|network| network.contains(peer))
}

/// Resolves the client behind trusted proxies. Each entry of `X-Forwarded-For` counts only if a trusted proxy
/// wrote it.
pub(crate) fn client(peer: Option<IpAddr>, headers: &HeaderMap, trusted: &[Network]) -> Client {
    let mut address = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).to_canonical();
    let lines: Vec<_> = headers.get_all(FORWARDED_FOR).collect();
    for line in lines.into_iter().rev() {
        for hop in line.as_bytes().rsplit(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            if !is_trusted(address, trusted) {
                return Client { address, is_unreadable: false };
            }
            if hop.is_empty() {
                continue;
            }
            let Some(next) = hop_address(hop) else { return Client { address, is_unreadable: true } };
            address = next;
        }
    }
    Client { address, is_unreadable: false }
}

/// Parses one entry of `X-Forwarded-For`: an address, with or without port, brackets and quotes.
fn hop_address(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?;
    let hop = hop.strip_prefix('"').and_then(|quoted| quoted.strip_suffix('"')).unwrap_or(hop).trim();
    let address_in_brackets = hop.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    let address = match address_in_brackets {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => hop.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|socket| socket.ip())),
    };
    Some(address?.to_canonical())
}

/// Returns the key under which failures and connections of a client are counted: the IPv4 address, or the site
/// prefix of an IPv6 address, because a client can use every address of its IPv6 site.
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
        let networks: Vec<_> = trusted.iter().map(|range| network(range)).collect();
        client(Some(ip(peer)), &headers, &networks).address
    }

    fn is_unreadable(peer: &str, line: &[u8]) -> bool {
        let mut headers = HeaderMap::new();
        headers.append(HeaderName::from_static(FORWARDED_FOR), HeaderValue::from_bytes(line).unwrap());
        client(Some(ip(peer)), &headers, &[network("10.0.0.0/8")]).is_unreadable
    }

    #[test]
    fn network_contains_only_addresses_in_its_prefix() {
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
            assert_eq!(bad.parse::<Network>(), Err(ProxyNetworkError), "{bad}");
        }
    }

    #[test]
    fn forwarded_header_counts_only_from_trusted_proxies() {
        assert_eq!(from("203.0.113.9", &["198.51.100.1"], &[]), ip("203.0.113.9"));
        assert_eq!(from("10.0.0.1", &["198.51.100.1"], &["10.0.0.0/8"]), ip("198.51.100.1"));
        assert_eq!(from("10.0.0.1", &["198.51.100.1, 203.0.113.9, 10.1.1.1"], &["10.0.0.0/8"]), ip("203.0.113.9"));
        assert_eq!(from("10.0.0.1", &["198.51.100.1", "203.0.113.9"], &["10.0.0.0/8"]), ip("203.0.113.9"));
        assert_eq!(from("10.0.0.1", &["198.51.100.1, nonsense"], &["10.0.0.0/8"]), ip("10.0.0.1"));
        assert_eq!(from("::ffff:10.0.0.1", &["198.51.100.1"], &["10.0.0.0/8"]), ip("198.51.100.1"));
    }

    #[test]
    fn forwarded_address_may_have_port_brackets_and_quotes() {
        for (hop, client) in [
            ("203.0.113.5:4711", "203.0.113.5"),
            ("[2001:db8::7]:443", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"),
            ("2001:db8::7", "2001:db8::7"),
            ("\"203.0.113.5:4711\"", "203.0.113.5"),
            ("\"[2001:db8::7]:443\"", "2001:db8::7"),
            ("\"203.0.113.5\"", "203.0.113.5"),
            ("[::ffff:203.0.113.5]:80", "203.0.113.5"),
            ("198.51.100.1, 203.0.113.5:4711, 10.1.1.1:80", "203.0.113.5"),
            ("203.0.113.5, ,", "203.0.113.5"),
        ] {
            assert_eq!(from("10.0.0.1", &[hop], &["10.0.0.0/8"]), ip(client), "{hop}");
        }
    }

    #[test]
    fn unreadable_header_counts_only_from_a_trusted_proxy() {
        let lines: [&[u8]; 8] = [
            b"unknown",
            b"_hidden",
            b"203.0.113.5:99999",
            b"203.0.113.5:",
            b"[203.0.113.5]",
            b"[2001:db8::7",
            b"\"203.0.113.5",
            b"\xff",
        ];
        for line in lines {
            assert!(is_unreadable("10.0.0.1", line), "{line:?}");
            assert!(!is_unreadable("192.0.2.1", line), "{line:?}");
        }
        assert!(!is_unreadable("10.0.0.1", b"nonsense, 203.0.113.5"), "the untrusted client wrote it");
        assert!(!is_unreadable("10.0.0.1", b""), "an empty header names no client");
    }

    #[test]
    fn addresses_of_one_ipv6_site_share_a_bucket() {
        assert_eq!(bucket(ip("2001:db8:1:2::1")), bucket(ip("2001:db8:1:2:ffff::9")));
        assert_ne!(bucket(ip("2001:db8:1:2::1")), bucket(ip("2001:db8:1:3::1")));
        assert_ne!(bucket(ip("192.0.2.1")), bucket(ip("192.0.2.2")));
    }
}
