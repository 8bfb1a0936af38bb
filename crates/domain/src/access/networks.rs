//! Networks from which a key can be used (decision B12).

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Serialize, Serializer};

use crate::json::Value;
use crate::problem::{Code, ValueError};
use crate::rule::{self, Checked, DefaultValue, Rule, Shape};
use crate::schema::{array, inline_schema};

/// Maximum number of networks of one key.
pub const MAX_NETWORKS: usize = 20;
/// Maximum length of a network, in characters: an IPv6 address that ends like an IPv4 address, with its prefix length.
const MAX_NETWORK_CHARS: usize = 49;
/// Number of leading bits of an IPv6 address that mark an IPv4-mapped address.
const MAPPED_BITS: u8 = 96;
/// Description of a network in errors.
const EXAMPLE: &str = "a network with its prefix length, such as 192.0.2.0/24, 192.0.2.7/32 or 2001:db8::/32";

/// Rule of a list of networks.
pub(super) const NETWORKS: Checked<AllowedNetworks> = rule::rule(networks, || Shape::List {
    of: Box::new(Shape::Line { min: 1, max: MAX_NETWORK_CHARS }),
    min: 0,
    max: MAX_NETWORKS,
    is_set: true,
});

/// The networks from which a key can be used. Without networks, the key can be used from every address.
///
/// The networks are canonical: no bits are set behind the prefix, IPv4-mapped networks are IPv4 networks, and
/// there are no duplicates.
///
/// ```
/// use candor_domain::access::AllowedNetworks;
///
/// let office = AllowedNetworks::from_texts(["192.0.2.0/24"])?;
/// assert!(office.admit("192.0.2.7".parse().ok()));
/// assert!(!office.admit("198.51.100.1".parse().ok()) && !office.admit(None));
/// assert!(AllowedNetworks::EVERYWHERE.admit(None));
/// # Ok::<(), candor_domain::problem::ValueError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedNetworks(Vec<IpNet>);

impl AllowedNetworks {
    /// No networks: the key can be used from every address.
    pub const EVERYWHERE: Self = Self(Vec::new());

    /// Parses networks in the form of a request.
    ///
    /// # Errors
    /// The problem of the first text that is no network, of a duplicate, or of too many networks.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, ValueError> {
        let items = texts.into_iter().map(|text| Value::Text(text.to_owned())).collect();
        NETWORKS.parse(&Value::List(items))
    }

    /// Returns the canonical text of each network.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(ToString::to_string)
    }

    /// Returns `true` if there is no limit.
    #[must_use]
    pub const fn is_everywhere(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if there is no limit or the client's address is in one of the networks. `None` is an address
    /// that cannot be read, which is in no network.
    #[must_use]
    pub fn admit(&self, client: Option<IpAddr>) -> bool {
        self.is_everywhere()
            || client.is_some_and(|address| {
                let address = address.to_canonical();
                self.0.iter().any(|network| network.contains(&address))
            })
    }

    /// Returns `true` if there is no limit, or if each network of `other` lies inside one of these networks. If
    /// `other` has no limit, it lies inside no network.
    #[must_use]
    pub fn cover(&self, other: &Self) -> bool {
        let is_inside = |inner: &IpNet| self.0.iter().any(|outer| outer.contains(inner));
        self.is_everywhere() || (!other.is_everywhere() && other.0.iter().all(is_inside))
    }
}

inline_schema!(AllowedNetworks, "AllowedNetworks", |_| array(&schemars::json_schema!({"type": "string"})));

impl Serialize for AllowedNetworks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.texts())
    }
}

impl DefaultValue for AllowedNetworks {
    fn to_document_text(&self) -> String {
        format!("[{}]", self.texts().collect::<Vec<_>>().join(", "))
    }
}

fn networks(value: &Value) -> Result<AllowedNetworks, ValueError> {
    rule::list(MAX_NETWORKS, rule::rule(network, || Shape::Line { min: 1, max: MAX_NETWORK_CHARS }))
        .parse(value)
        .map(AllowedNetworks)
}

/// Parses one network. Refuses a network whose host bits are not zero, because the text can mean the network or
/// one address in it.
fn network(value: &Value) -> Result<IpNet, ValueError> {
    let text = rule::as_text(value)?;
    if text.len() > MAX_NETWORK_CHARS {
        return Err(ValueError::new(
            Code::TooLong,
            format!("must have networks of at most {MAX_NETWORK_CHARS} characters"),
        ));
    }
    let network = text.split_once('/').and_then(|(address, length)| {
        let address: IpAddr = address.parse().ok()?;
        IpNet::new(address, prefix_length(length)?).ok()
    });
    let parsed_network = network.ok_or_else(|| ValueError::format(EXAMPLE))?;
    let (canonical, truncated) = (unmap_ipv4(parsed_network), unmap_ipv4(parsed_network.trunc()));
    if parsed_network == parsed_network.trunc() {
        return Ok(canonical);
    }
    let single = IpNet::from(parsed_network.addr().to_canonical());
    Err(ValueError::format(format!(
        "a network whose host bits are zero, such as {truncated}, or {single} for this one address"
    )))
}

/// Parses a prefix length in decimal digits without sign and leading zeros.
fn prefix_length(text: &str) -> Option<u8> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

/// Converts an IPv4-mapped network to IPv4, because clients with mapped addresses count as IPv4 clients. Returns
/// every other network unchanged.
fn unmap_ipv4(network: IpNet) -> IpNet {
    let IpNet::V6(wide) = network else { return network };
    let narrow = wide.addr().to_ipv4_mapped().zip(wide.prefix_len().checked_sub(MAPPED_BITS));
    narrow.and_then(|(address, length)| Ipv4Net::new(address, length).ok()).map_or(network, IpNet::V4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields;
    use crate::rule::Field;

    fn parse(json: &str) -> Result<AllowedNetworks, (String, Code, String)> {
        let body = serde_json::from_str(&format!(r#"{{"allowed_networks": {json}}}"#)).unwrap();
        let mut fields = Fields::new(body);
        let value = fields.present(&Field::new("allowed_networks", NETWORKS));
        fields.finish(value).map_err(|problems| {
            let problem = &problems.as_slice()[0];
            (problem.field.clone(), problem.code, problem.message.clone())
        })
    }

    fn networks_of(texts: &[&str]) -> AllowedNetworks {
        AllowedNetworks::from_texts(texts.iter().copied()).unwrap()
    }

    #[test]
    fn networks_are_stored_in_their_canonical_form() {
        let table = [
            (r#"["10.0.0.0/8"]"#, "10.0.0.0/8"),
            (r#"["0.0.0.0/0", "::/0"]"#, "0.0.0.0/0 ::/0"),
            (r#"["192.0.2.7/32"]"#, "192.0.2.7/32"),
            (r#"["2001:DB8:0:0:0::/32"]"#, "2001:db8::/32"),
            (r#"["::ffff:192.0.2.0/120"]"#, "192.0.2.0/24"),
            (r#"["::ffff:0:0/96"]"#, "0.0.0.0/0"),
            ("[]", ""),
        ];
        for (json, canonical) in table {
            assert_eq!(parse(json).unwrap().texts().collect::<Vec<_>>().join(" "), canonical, "{json}");
        }
    }

    #[test]
    fn wrong_networks_are_refused_with_their_remedy() {
        let many: Vec<_> = (0..21).map(|byte| format!("\"10.0.{byte}.0/24\"")).collect();
        let many = format!("[{}]", many.join(","));
        let long = format!(r#"["{}/8"]"#, "1".repeat(60));
        let longest = format!("[\"{}\"]", "1".repeat(MAX_NETWORK_CHARS));
        let (format, example) = (Code::InvalidFormat, EXAMPLE);
        let table = [
            ("null", Code::Required, "omit the field"),
            (r#""10.0.0.0/8""#, format, "an array"),
            ("[8]", format, "a string"),
            (r#"[""]"#, format, example),
            (r#"["office"]"#, format, example),
            (&longest, format, example),
            (r#"["10.0.0.1"]"#, format, example),
            (r#"["10.0.0.0/"]"#, format, example),
            (r#"["10.0.0.0/33"]"#, format, example),
            (r#"["10.0.0.0/+8"]"#, format, example),
            (r#"["10.0.0.0/08"]"#, format, example),
            (r#"["10.0.0.0/-1"]"#, format, example),
            (r#"["10.0.0.0/8/8"]"#, format, example),
            (r#"["10.0.0.0/255.0.0.0"]"#, format, example),
            (r#"["010.0.0.0/8"]"#, format, example),
            (r#"["10.0.0/8"]"#, format, example),
            (r#"[" 10.0.0.0/8"]"#, format, example),
            (r#"["2001:db8::/129"]"#, format, example),
            (r#"["[2001:db8::]/32"]"#, format, example),
            (r#"["fe80::%eth0/64"]"#, format, example),
            (r#"["10.1.2.3/8"]"#, format, "10.0.0.0/8, or 10.1.2.3/32 for this one address"),
            (r#"["2001:db8::1/32"]"#, format, "2001:db8::/32, or 2001:db8::1/128 for this one address"),
            (r#"["::ffff:10.1.2.3/104"]"#, format, "10.0.0.0/8, or 10.1.2.3/32 for this one address"),
            (r#"["::ffff:0:0/90"]"#, format, "a network whose host bits are zero"),
            (r#"["10.0.0.0/8", "10.0.0.0/8"]"#, format, "without duplicates"),
            (r#"["2001:DB8::/32", "2001:db8:0::/32"]"#, format, "without duplicates"),
            (r#"["10.0.0.0/8", "::ffff:10.0.0.0/104"]"#, format, "without duplicates"),
            (many.as_str(), Code::TooLong, "at most 20 entries"),
            (long.as_str(), Code::TooLong, "at most 49 characters"),
        ];
        for (json, code, remedy) in table {
            let (field, actual_code, message) = parse(json).unwrap_err();
            assert_eq!((field.as_str(), actual_code), ("allowed_networks", code), "{json}");
            assert!(message.contains(remedy), "{json}: {message}");
        }
    }

    #[test]
    fn client_is_admitted_from_its_networks_only() {
        let two_networks = networks_of(&["192.0.2.0/24", "2001:db8::/32"]);
        let table = [
            (&two_networks, Some("192.0.2.7"), true),
            (&two_networks, Some("::ffff:192.0.2.7"), true),
            (&two_networks, Some("192.0.3.1"), false),
            (&two_networks, Some("2001:db8:1::1"), true),
            (&two_networks, Some("2001:db9::1"), false),
            (&two_networks, Some("::192.0.2.7"), false),
            (&two_networks, None, false),
            (&networks_of(&["0.0.0.0/0"]), Some("2001:db8::1"), false),
            (&networks_of(&["0.0.0.0/0"]), None, false),
            (&networks_of(&["::/0"]), Some("::ffff:192.0.2.7"), false),
            (&AllowedNetworks::EVERYWHERE, Some("2001:db8::1"), true),
            (&AllowedNetworks::EVERYWHERE, None, true),
        ];
        for (networks, client, is_admitted) in table {
            let address = client.map(|text| text.parse().unwrap());
            assert_eq!(networks.admit(address), is_admitted, "{networks:?} {client:?}");
        }
    }

    #[test]
    fn networks_cover_those_that_lie_inside_one_of_them() {
        let table: [(&[&str], &[&str], bool); 11] = [
            (&[], &[], true),
            (&[], &["10.0.0.0/8"], true),
            (&["10.0.0.0/8"], &[], false),
            (&["0.0.0.0/0", "::/0"], &[], false),
            (&["10.0.0.0/8"], &["10.0.0.0/8"], true),
            (&["10.0.0.0/8"], &["10.1.0.0/16", "10.2.3.4/32"], true),
            (&["10.0.0.0/8"], &["10.1.0.0/16", "11.0.0.0/16"], false),
            (&["10.1.0.0/16"], &["10.0.0.0/8"], false),
            (&["10.0.0.0/9", "10.128.0.0/9"], &["10.0.0.0/8"], false),
            (&["::/0"], &["10.0.0.0/8"], false),
            (&["2001:db8::/32", "10.0.0.0/8"], &["2001:db8:1::/48", "10.0.0.1/32"], true),
        ];
        for (outer, inner, is_covered) in table {
            assert_eq!(networks_of(outer).cover(&networks_of(inner)), is_covered, "{outer:?} {inner:?}");
        }
    }
}
