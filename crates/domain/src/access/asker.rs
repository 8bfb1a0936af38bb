//! The rights by which a caller gets a replay: the authority of a key, and the times and places at which its secret
//! serves (decisions A13, B7, B10, B12).

use super::grant::outlasts;
use super::{AllowedNetworks, Authority, Caller, SecretMark};
use crate::id::KeyId;
use crate::time::Timestamp;

/// The times and places at which the secret of a key serves.
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
    /// Session that the key ends with. `None` for a key that no session created.
    pub session: Option<KeyId>,
}

impl Reach {
    /// The reach of a key without an end, usable from everywhere.
    pub const UNLIMITED: Self = Self { end: None, networks: AllowedNetworks::EVERYWHERE, session: None };

    /// Returns `true` if a key with this reach can be used at each time and from each address that `other` permits. A
    /// session can end before its time, so its reach covers only keys that end with the session.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let lasts_as_long = self.session.is_none() || self.session == other.session;
        lasts_as_long && !outlasts(other.end, self.end) && self.networks.cover(&other.networks)
    }
}

/// The rights that a key had when it first sent a request. They are stored with the response, because the key may lose
/// rights later, but the response keeps its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// Scopes, levels and person of the key.
    authority: Authority,
    /// End, networks and session of the key.
    reach: Reach,
    /// The secret or bearer token of the request; `None` in a text of an earlier version.
    secret: Option<SecretMark>,
    /// `true` if the request was sent with the previous secret of the key.
    has_previous_secret: bool,
    /// `true` if the response holds a secret.
    gets_secret: bool,
}

/// Text that stands for the end of a key that never expires.
const ENDLESS: &str = "-";
/// Word for the previous secret of a key.
const PREVIOUS: &str = "previous";
/// Word for a response that holds a secret.
const SECRET: &str = "secret";
/// Beginning of the word for the secret of the request, before 16 hexadecimal digits.
const MARK: &str = "mark:";

impl Asker {
    /// Returns the present rights of a caller.
    #[must_use]
    pub fn from_caller(caller: &Caller) -> Self {
        Self {
            authority: caller.authority(),
            reach: caller.reach(),
            secret: caller.secret,
            has_previous_secret: caller.has_previous_secret,
            gets_secret: false,
        }
    }

    /// Returns these rights for a request whose response holds a secret if `gets_secret`.
    #[must_use]
    pub fn with_secret(self, gets_secret: bool) -> Self {
        Self { gets_secret, ..self }
    }

    /// Returns `true` if the response holds a secret.
    #[must_use]
    pub const fn gets_secret(&self) -> bool {
        self.gets_secret
    }

    /// Returns `true` if a caller with these rights may get the replay of a request of `asker`: see
    /// [`Authority::may_have_the_replay_of`]. The caller must also cover the reach of `asker`.
    ///
    /// A response with a secret goes to the secret that asked for it alone: the key of the response may have got more access
    /// since, and another secret of the same key, from before or after a rotation, may be a thief's. The previous
    /// secret of a key gets replays of its own requests as the previous one alone.
    #[must_use]
    pub fn may_have_the_replay_of(&self, asker: &Self) -> bool {
        let may_do_as_much = self.authority.may_have_the_replay_of(&asker.authority);
        let is_same_key = self.authority.key == asker.authority.key;
        let is_same_secret = self.secret == asker.secret && self.has_previous_secret == asker.has_previous_secret;
        let goes_to_one_secret = asker.gets_secret || self.has_previous_secret;
        may_do_as_much && self.reach.covers(&asker.reach) && (!goes_to_one_secret || is_same_key && is_same_secret)
    }

    /// Returns the two texts that are stored with the response: the authority, and the end in milliseconds with the
    /// session, the marks of a previous secret and of a response with a secret, and the networks.
    #[must_use]
    pub fn to_texts(&self) -> [String; 2] {
        let end = self.reach.end.map_or_else(|| ENDLESS.to_owned(), |end| end.millis().to_string());
        let session = self.reach.session.map(|session| session.to_string());
        let previous = self.has_previous_secret.then(|| PREVIOUS.to_owned());
        let secret = self.gets_secret.then(|| SECRET.to_owned());
        let mark = self.secret.map(|SecretMark(mark)| format!("{MARK}{mark:016x}"));
        let words = [Some(end), session, previous, secret, mark].into_iter().flatten();
        let reach = words.chain(self.reach.networks.texts().map(|network| network.to_string()));
        [self.authority.to_string(), reach.collect::<Vec<_>>().join(" ")]
    }

    /// Reads the texts of [`Asker::to_texts`]; `None` for other texts. Earlier versions wrote neither session nor marks.
    #[must_use]
    pub fn from_texts(authority: &str, reach: &str) -> Option<Self> {
        let mut words = reach.split(' ').peekable();
        let end = match words.next()? {
            ENDLESS => None,
            millis => Some(Timestamp::from_millis(millis.parse().ok()?)),
        };
        let session = words.peek().and_then(|word| word.parse().ok());
        if session.is_some() {
            words.next();
        }
        let has_previous_secret = words.next_if_eq(&PREVIOUS).is_some();
        let gets_secret = words.next_if_eq(&SECRET).is_some();
        let secret = words.next_if(|word| word.starts_with(MARK)).map(read_mark);
        if secret == Some(None) {
            return None;
        }
        let networks = AllowedNetworks::from_texts(words).ok()?;
        let reach = Reach { end, networks, session };
        Some(Self {
            authority: authority.parse().ok()?,
            reach,
            secret: secret.flatten(),
            has_previous_secret,
            gets_secret,
        })
    }
}

/// Reads the word for a secret; `None` for another word.
fn read_mark(word: &str) -> Option<SecretMark> {
    let digits = word.strip_prefix(MARK).filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok().map(SecretMark)
}

impl Caller {
    /// Returns the times and places at which the secret of the request serves.
    #[must_use]
    pub fn reach(&self) -> Reach {
        Reach { end: self.expires_at, networks: self.allowed_networks.clone(), session: self.session }
    }

    /// Returns `true` if this caller still has the secret and at least the end that its key had at the start of a request.
    /// A request that gives access could otherwise give it beyond the end of a secret that was rotated meanwhile (decision
    /// B7).
    #[must_use]
    pub fn has_kept_secret_of(&self, earlier: &Self) -> bool {
        let has_such_secret = !self.has_previous_secret || earlier.has_previous_secret;
        has_such_secret && !outlasts(earlier.expires_at, self.expires_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Permissions;
    use ulid::Ulid;

    fn reach(end: Option<i64>, networks: &[&str]) -> Reach {
        let networks = AllowedNetworks::from_texts(networks.iter().copied()).unwrap();
        Reach { end: end.map(Timestamp::from_millis), networks, session: None }
    }

    fn of_session(number: u128, reach: &Reach) -> Reach {
        Reach { session: Some(KeyId::from_ulid(Ulid(number))), ..reach.clone() }
    }

    #[test]
    fn reach_covers_earlier_ends_and_narrower_networks() {
        let (endless, office) = (reach(None, &[]), reach(None, &["192.0.2.0/24"]));
        let (day, hour) = (reach(Some(86_400_000), &[]), reach(Some(3_600_000), &[]));
        let desk = reach(Some(3_600_000), &["192.0.2.7/32", "192.0.2.8/32"]);
        let session = of_session(1, &day);
        for (one, other) in [
            (&endless, &office),
            (&endless, &day),
            (&day, &hour),
            (&hour, &desk),
            (&office, &desk),
            (&day, &session),
            (&session, &of_session(1, &hour)),
        ] {
            assert!(one.covers(other) && one.covers(one) && !other.covers(one), "{one:?} {other:?}");
        }
        for (one, other) in [(&office, &day), (&session, &hour), (&session, &of_session(2, &hour))] {
            assert!(!one.covers(other) && !other.covers(one), "{one:?} {other:?}");
        }
    }

    fn asker(key: u128, reach: &Reach) -> Asker {
        Asker {
            authority: Authority {
                key: KeyId::from_ulid(Ulid(key)),
                scopes: Permissions::ALL,
                has_admin_level: true,
                is_data_admin: true,
                person: None,
            },
            reach: reach.clone(),
            secret: Some(SecretMark(8)),
            has_previous_secret: false,
            gets_secret: false,
        }
    }

    fn previous(key: u128, reach: &Reach) -> Asker {
        Asker { has_previous_secret: true, ..asker(key, reach) }
    }

    /// Returns the same asker with the secret from before the present ones.
    fn former(asker: Asker) -> Asker {
        Asker { secret: Some(SecretMark(7)), ..asker }
    }

    #[test]
    fn replay_needs_the_reach_of_the_asker_from_its_own_key_too() {
        let (endless, office) = (reach(None, &[]), reach(Some(7), &["192.0.2.0/24"]));
        let (overlap, day) = (reach(Some(7), &[]), reach(Some(9), &[]));
        let session = of_session(3, &day);
        let table = [
            // key that repeats the request, key that sent it first, the repetition gets the answer
            (asker(1, &office), asker(1, &office), true),
            (asker(1, &endless), asker(1, &office), true),
            (asker(1, &office), asker(1, &endless), false),
            (asker(1, &overlap), asker(1, &endless), false),
            (asker(1, &endless), asker(1, &overlap), true),
            (asker(2, &endless), asker(1, &office), true),
            (asker(2, &office), asker(1, &office), true),
            (asker(2, &office), asker(1, &endless), false),
            // The end of the key was moved after the rotation, so the previous secret lasts as long as its request said.
            (previous(1, &day), asker(1, &overlap), false),
            (previous(1, &overlap), asker(1, &overlap), false),
            (previous(1, &overlap), previous(1, &overlap), true),
            (asker(1, &endless), previous(1, &overlap), true),
            // The key was rotated twice: its previous secret is another one than at the first request.
            (previous(1, &endless), former(previous(1, &overlap)), false),
            (asker(1, &endless), former(previous(1, &overlap)), true),
            (asker(1, &endless), former(asker(1, &overlap)), true),
            (asker(1, &endless), former(previous(1, &overlap)).with_secret(true), false),
            (asker(1, &endless), former(asker(1, &overlap)).with_secret(true), false),
            (previous(1, &overlap), previous(1, &overlap).with_secret(true), true),
            // A session gets no key that does not end with it.
            (asker(3, &session), asker(1, &overlap), false),
            (asker(3, &session), asker(3, &session), true),
            (asker(1, &endless), asker(3, &session), true),
            // Another key got the secret of a key that has more access now.
            (asker(2, &endless), asker(1, &overlap).with_secret(true), false),
            (asker(1, &endless), asker(1, &overlap).with_secret(true), true),
            (previous(1, &endless), asker(1, &overlap).with_secret(true), false),
        ];
        for (again, first, gets) in table {
            assert_eq!(again.may_have_the_replay_of(&first), gets, "{again:?} after {first:?}");
        }
    }

    #[test]
    fn texts_of_an_asker_are_read_again() {
        let networks = reach(Some(7), &["2001:db8::/32", "10.0.0.1/32"]);
        for reach in [reach(None, &[]), reach(Some(-7), &["10.0.0.0/8"]), of_session(5, &networks), networks] {
            for asker in [asker(1, &reach), previous(1, &reach), previous(1, &reach).with_secret(true)] {
                let [authority, reach] = asker.to_texts();
                assert_eq!(Asker::from_texts(&authority, &reach), Some(asker));
            }
        }
        let [authority, _] = asker(1, &reach(None, &[])).to_texts();
        for text in [
            "",
            "x",
            "7 192.0.2.7",
            "- 10.0.0.1/8",
            "7  ",
            "7 previous previous",
            "- 10.0.0.0/8 previous",
            "7 previous:7",
        ] {
            assert_eq!(Asker::from_texts(&authority, text), None, "{text}");
        }
        assert_eq!(Asker::from_texts("x", "-"), None);
    }
}
