//! The table of refused and allowed addresses: each range with its first and last address and their neighbors.

use super::*;
use candor_domain::ulid::Ulid;

const ORGANIZATION: OrganizationId = OrganizationId::from_ulid(Ulid(1));

/// A range to refuse: its first and last address, and whether the addresses before and after it are allowed.
type Range = (&'static str, &'static str, bool, bool);

const FORBIDDEN: &[Range] = &[
    // IPv4
    ("0.0.0.0", "0.255.255.255", false, true),
    ("10.0.0.0", "10.255.255.255", true, true),
    ("100.64.0.0", "100.127.255.255", true, true),
    ("127.0.0.0", "127.255.255.255", true, true),
    ("168.63.129.16", "168.63.129.16", true, true),
    ("169.254.0.0", "169.254.255.255", true, true),
    ("172.16.0.0", "172.31.255.255", true, true),
    ("192.0.0.0", "192.0.0.255", true, true),
    ("192.0.2.0", "192.0.2.255", true, true),
    ("192.88.99.0", "192.88.99.255", true, true),
    ("192.168.0.0", "192.168.255.255", true, true),
    ("198.18.0.0", "198.19.255.255", true, true),
    ("198.51.100.0", "198.51.100.255", true, true),
    ("203.0.113.0", "203.0.113.255", true, true),
    ("224.0.0.0", "239.255.255.255", true, false),
    ("240.0.0.0", "255.255.255.255", false, false),
    // IPv6: ranges outside 2000::/3, by their registered purposes.
    ("::", "::", false, false),
    ("::1", "::1", false, false),
    ("::2", "::ffff:ffff", false, false),
    ("::ffff:0:0", "::ffff:ffff:ffff", false, false),
    ("64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", "64:ff9b::ff:ffff", false, true),
    ("64:ff9b::a00:0", "64:ff9b::aff:ffff", true, true),
    ("64:ff9b::7f00:0", "64:ff9b::7fff:ffff", true, true),
    ("64:ff9b::a83f:8110", "64:ff9b::a83f:8110", true, true),
    ("64:ff9b::a9fe:0", "64:ff9b::a9fe:ffff", true, true),
    ("64:ff9b::c0a8:0", "64:ff9b::c0a8:ffff", true, true),
    ("64:ff9b::e000:0", "64:ff9b::ffff:ffff", true, false),
    ("64:ff9b::1:0:0", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", false, false),
    ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", false, false),
    ("100::", "100::ffff:ffff:ffff:ffff", false, false),
    ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", false, false),
    ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, true),
    ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, false),
    ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, false),
    ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, false),
    ("fd00:ec2::254", "fd00:ec2::254", false, false),
    ("fd20:ce::254", "fd20:ce::254", false, false),
    ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, false),
    ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, false),
    ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, false),
    // IPv6: ranges within 2000::/3.
    ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", true, true),
    ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", true, false),
    ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", false, false),
    ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", false, false),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", true, true),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, true),
    ("3ffe::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, false),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", false, true),
];

/// Well-known public addresses, and addresses that resemble refused ones.
const ALLOWED: &[&str] = &[
    "1.1.1.1",
    "8.8.8.8",
    "9.9.9.9",
    "100.128.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "198.20.0.1",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2620:fe::fe",
    "2a00:1450:4001:81c::200e",
    "64:ff9b::808:808",
    "64:ff9b::909:909",
];

fn at(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|_| panic!("not an address: {text}"))
}

/// Returns the next or previous address, if there is one.
fn neighbour(address: IpAddr, up: bool) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => {
            let bits = u32::from(address);
            let bits = if up { bits.checked_add(1) } else { bits.checked_sub(1) };
            bits.map(|bits| IpAddr::V4(bits.into()))
        }
        IpAddr::V6(address) => {
            let bits = u128::from(address);
            let bits = if up { bits.checked_add(1) } else { bits.checked_sub(1) };
            bits.map(|bits| IpAddr::V6(bits.into()))
        }
    }
}

#[test]
fn forbidden_range_ends_at_its_first_and_last_address() {
    for (first, last, before, after) in FORBIDDEN {
        for edge in [first, last] {
            assert!(!is_public(at(edge)), "{edge} of {first} to {last}");
        }
        for (edge, up, allowed) in [(first, false, before), (last, true, after)] {
            if let Some(next) = neighbour(at(edge), up) {
                assert_eq!(is_public(next), *allowed, "{next} beside {first} to {last}");
            }
        }
    }
}

#[test]
fn middle_of_each_forbidden_range_is_forbidden() {
    for (first, last, ..) in FORBIDDEN {
        let middle = match (at(first), at(last)) {
            (IpAddr::V4(a), IpAddr::V4(b)) => IpAddr::V4((u32::from(a) / 2 + u32::from(b) / 2).into()),
            (IpAddr::V6(a), IpAddr::V6(b)) if *first != "::" => {
                IpAddr::V6((u128::from(a) / 2 + u128::from(b) / 2).into())
            }
            (first, _) => first,
        };
        assert!(!is_public(middle), "{middle} between {first} and {last}");
    }
}

#[test]
fn public_addresses_are_allowed() {
    for text in ALLOWED {
        assert!(is_public(at(text)), "{text}");
    }
}

#[test]
fn ipv4_address_embedded_in_ipv6_is_forbidden() {
    for text in ["127.0.0.1", "169.254.169.254", "10.0.0.1", "8.8.8.8"] {
        let IpAddr::V4(address) = at(text) else { panic!("not IPv4: {text}") };
        let [a, b, c, d] = address.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let embedded_addresses = [
            address.to_ipv6_mapped(),
            Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0, high, low, 0, 0, !high, !low),
            Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
        ];
        for address in embedded_addresses {
            assert!(!is_public(IpAddr::V6(address)), "{address}");
        }
        let translated_address = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low);
        assert_eq!(is_public(IpAddr::V6(translated_address)), is_public(at(text)), "{translated_address}");
    }
}

#[test]
fn trusted_network_ends_at_its_first_and_last_address() {
    let policy = Policy::new_trusting(["10.1.2.200/24", "fd00:1::/64"].map(|network| network.parse().unwrap()));
    for (text, wanted) in [
        ("10.1.1.255", false),
        ("10.1.2.0", true),
        ("10.1.2.255", true),
        ("10.1.3.0", false),
        ("fd00:1::", true),
        ("fd00:1::ffff:ffff:ffff:ffff", true),
        ("fd00:1:0:1::", false),
        ("::ffff:10.1.2.1", false),
    ] {
        assert_eq!(
            (policy.allows(ORGANIZATION, at(text)), policy.trusts(ORGANIZATION, at(text))),
            (wanted, wanted),
            "{text}"
        );
    }
    assert_eq!(
        (policy.allows(ORGANIZATION, at("9.9.9.9")), policy.trusts(ORGANIZATION, at("9.9.9.9"))),
        (true, false)
    );
    assert!(!Policy::default().allows(ORGANIZATION, at("127.0.0.1")));
}

#[test]
fn trusted_network_names_an_organization_or_none() {
    let parse_network = |text: &str| text.parse::<TrustedNetwork>().map(|trusted| trusted.to_string());
    let of_one = format!("{ORGANIZATION}=10.1.0.0/16");
    for (text, shown) in [("10.1.2.3", "10.1.2.3/32"), ("fd00::/8", "fd00::/8"), (&of_one, &of_one)] {
        assert_eq!(parse_network(text), Ok(shown.to_owned()), "{text}");
    }
    for wrong in ["", "=10.0.0.0/8", "org_1=10.0.0.0/8", "localhost", &format!("{ORGANIZATION}="), "10.0.0.0/33"] {
        assert_eq!(parse_network(wrong), Err(TrustedNetworkError), "{wrong}");
    }
    let policy = Policy::new_trusting([of_one.parse().unwrap()]);
    let other = OrganizationId::from_ulid(Ulid(2));
    assert!(policy.has_trusted(ORGANIZATION) && !policy.has_trusted(other));
    assert!(policy.allows(ORGANIZATION, at("10.1.2.3")) && !policy.allows(other, at("10.1.2.3")));
}
