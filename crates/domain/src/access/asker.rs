//! The rights by which a caller gets a replay: the authority of a key, its end and its networks
//! (decisions A13, B7, B12).

use std::fmt;
use std::str::FromStr;

use super::authority::AuthorityError;
use super::grant::outlasts;
use super::{AllowedNetworks, Authority, Caller};
use crate::time::Timestamp;

/// The end and the networks of a caller's key at the time of a request.
///
/// ```
/// use candor_domain::access::{AllowedNetworks, Reach};
///
/// let everywhere = Reach::default();
/// let office = Reach { networks: AllowedNetworks::from_texts(["192.0.2.0/24"])?, ..Reach::default() };
/// assert!(everywhere.covers(&office) && !office.covers(&everywhere));
/// # Ok::<(), candor_domain::problem::ValueError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// Expiry time of the key. `None` if it has none.
    pub end: Option<Timestamp>,
    /// Networks from which the key can be used.
    pub networks: AllowedNetworks,
}

impl Reach {
    /// Returns `true` if a key with this reach can be used at each time and from each address that `other` permits.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        !outlasts(other.end, self.end) && self.networks.cover(&other.networks)
    }
}

/// The rights that a key had when it first sent a request. They are stored with the answer, because the key may lose
/// rights later, but the answer keeps its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// Scopes, levels and person of the key.
    pub authority: Authority,
    /// End and networks of the key.
    pub reach: Reach,
}

impl Asker {
    /// Returns the present rights of a caller.
    #[must_use]
    pub fn from_caller(caller: &Caller) -> Self {
        let reach = Reach { end: caller.expires_at, networks: caller.allowed_networks.clone() };
        Self { authority: caller.authority(), reach }
    }

    /// Returns `true` if a caller with these rights may get the replay of a request of `asker`: see
    /// [`Authority::may_have_the_replay_of`]. The replay can hold a secret, so the caller must also cover the reach of
    /// `asker`. This applies to the asker's key, too: one key has two secrets with two ends while a rotation overlaps. If
    /// the asker was not stored, its reach counts as unlimited.
    #[must_use]
    pub fn may_have_the_replay_of(&self, asker: Option<&Self>) -> bool {
        let may_do_as_much = self.authority.may_have_the_replay_of(asker.map(|asker| &asker.authority));
        may_do_as_much && self.reach.covers(&asker.map(|asker| asker.reach.clone()).unwrap_or_default())
    }
}

impl Caller {
    /// Returns `true` if this caller ends no earlier than its key did at the start of a request. A request that gives access
    /// could otherwise give it beyond the new end, for example of a secret that was rotated meanwhile (decision B7).
    #[must_use]
    pub fn has_kept_end_of(&self, earlier: &Self) -> bool {
        !outlasts(earlier.expires_at, self.expires_at)
    }
}

/// Text that stands for the end of a key that never expires.
const ENDLESS: &str = "-";

/// Writes the text that is stored beside an answer: the end in milliseconds, and the networks.
impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            Some(end) => write!(f, "{}", end.millis())?,
            None => f.write_str(ENDLESS)?,
        }
        self.networks.texts().try_for_each(|network| write!(f, " {network}"))
    }
}

impl FromStr for Reach {
    type Err = AuthorityError;

    fn from_str(text: &str) -> Result<Self, AuthorityError> {
        let mut words = text.split(' ');
        let end = match words.next().ok_or(AuthorityError)? {
            ENDLESS => None,
            millis => Some(Timestamp::from_millis(millis.parse().map_err(|_| AuthorityError)?)),
        };
        let networks = AllowedNetworks::from_texts(words).map_err(|_| AuthorityError)?;
        Ok(Self { end, networks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Permissions;
    use crate::id::KeyId;
    use ulid::Ulid;

    fn reach(end: Option<i64>, networks: &[&str]) -> Reach {
        let networks = AllowedNetworks::from_texts(networks.iter().copied()).unwrap();
        Reach { end: end.map(Timestamp::from_millis), networks }
    }

    #[test]
    fn reach_covers_earlier_ends_and_narrower_networks() {
        let (endless, office) = (reach(None, &[]), reach(None, &["192.0.2.0/24"]));
        let (day, hour) = (reach(Some(86_400_000), &[]), reach(Some(3_600_000), &[]));
        let desk = reach(Some(3_600_000), &["192.0.2.7/32", "192.0.2.8/32"]);
        for (one, other) in
            [(&endless, &office), (&endless, &day), (&day, &hour), (&hour, &desk), (&office, &desk)]
        {
            assert!(one.covers(other) && one.covers(one) && !other.covers(one), "{one} {other}");
        }
        assert!(!office.covers(&day) && !day.covers(&office));
    }

    #[test]
    fn replay_needs_the_reach_of_the_asker_from_its_own_key_too() {
        let asker = |key: u128, reach: &Reach| Asker {
            authority: Authority {
                key: KeyId::from_ulid(Ulid(key)),
                scopes: Permissions::ALL,
                has_admin_level: true,
                is_data_admin: true,
                person: None,
            },
            reach: reach.clone(),
        };
        let (endless, office) = (reach(None, &[]), reach(Some(7), &["192.0.2.0/24"]));
        let overlap = reach(Some(7), &[]);
        let table = [
            // key that repeats the request, key that sent it first, the repetition gets the answer
            (asker(1, &office), Some(asker(1, &office)), true),
            (asker(1, &endless), Some(asker(1, &office)), true),
            (asker(1, &office), Some(asker(1, &endless)), false),
            (asker(1, &overlap), Some(asker(1, &endless)), false),
            (asker(1, &endless), Some(asker(1, &overlap)), true),
            (asker(2, &endless), Some(asker(1, &office)), true),
            (asker(2, &office), Some(asker(1, &office)), true),
            (asker(2, &office), Some(asker(1, &endless)), false),
            (asker(2, &office), None, false),
            (asker(2, &endless), None, true),
        ];
        for (again, first, gets) in table {
            assert_eq!(again.may_have_the_replay_of(first.as_ref()), gets, "{again:?} after {first:?}");
        }
    }

    #[test]
    fn text_of_a_reach_is_read_again() {
        for reach in
            [reach(None, &[]), reach(Some(-7), &["10.0.0.0/8"]), reach(Some(7), &["2001:db8::/32", "10.0.0.1/32"])]
        {
            assert_eq!(reach.to_string().parse(), Ok(reach));
        }
        for text in ["", "x", "7 192.0.2.7", "- 10.0.0.1/8", "7  "] {
            assert_eq!(text.parse::<Reach>(), Err(AuthorityError), "{text}");
        }
    }
}
