//! Comparison of the rights of callers, for replays and for what a request may go on doing (decisions A13, B4, B5).

use std::fmt;
use std::str::FromStr;

use super::{AccessLevel, Caller, PermissionError, Permissions};
use crate::fields::Reference;
use crate::id::{EmployeeId, EmployeeKind, KeyId};

/// The rights of a caller at the time of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct Authority {
    pub key: KeyId,
    pub scopes: Permissions,
    /// Admin level of the key itself, which opens keys and settings.
    pub has_admin_level: bool,
    /// Admin context for data. A bound key without it sees what its person sees.
    pub is_data_admin: bool,
    /// The person of a bound key, org admins included.
    pub person: Option<EmployeeId>,
}

impl Authority {
    /// Returns `true` if this authority may do and see everything that `other` may.
    ///
    /// One person's authority covers no other person's: a manager does not see the notifications of a report, and
    /// an org admin does not write in the name of another person.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let is_same_person = self.person.is_none() || self.person == other.person;
        let has_levels =
            (self.has_admin_level || !other.has_admin_level) && (self.is_data_admin || !other.is_data_admin);
        is_same_person && has_levels && self.scopes.cover(other.scopes)
    }

    /// Returns `true` if this authority may get the replay of a request of `asker` (decision A13). It must have at
    /// least the asker's rights, also with the asker's own key: that key may have been narrowed since, and the tokens
    /// of one account at an identity provider count as one key. Only the asker's key gets a replay of a connector's
    /// request: a key of a connector sees the people of its connector alone, and another key may have another connector.
    #[must_use]
    pub fn may_have_the_replay_of(&self, asker: &Self) -> bool {
        (self.key == asker.key || !asker.scopes.is_scim()) && self.covers(asker)
    }
}

/// The text in place of a person's id for an authority without a person.
const NOBODY: &str = "-";
/// Words for two flags: admin level of the key, and admin context for data. Earlier versions wrote only two of them.
const CONTEXTS: [(&str, (bool, bool)); 4] =
    [("admin", (true, true)), ("settings", (true, false)), ("data", (false, true)), ("standard", (false, false))];

/// Writes the text that is stored with an answer: key, context, person and scopes. Scopes are written as words
/// because their bits may change with a version of the service.
impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = (self.has_admin_level, self.is_data_admin);
        let context = CONTEXTS.into_iter().find(|(_, flags)| *flags == has).map_or("admin", |(word, _)| word);
        write!(f, "{} {context} ", self.key)?;
        match self.person {
            Some(person) => write!(f, "{person}")?,
            None => f.write_str(NOBODY)?,
        }
        self.scopes.words().iter().try_for_each(|scope| write!(f, " {scope}"))
    }
}

/// The error for a text that cannot be read as an [`Authority`] or an [`Asker`](super::Asker).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored rights of a key cannot be read")]
pub struct AuthorityError;

impl FromStr for Authority {
    type Err = AuthorityError;

    fn from_str(text: &str) -> Result<Self, AuthorityError> {
        let mut words = text.split(' ');
        let mut next = || words.next().ok_or(AuthorityError);
        let key = next()?.parse().map_err(|_| AuthorityError)?;
        let context = next()?;
        let (_, (has_admin_level, is_data_admin)) =
            CONTEXTS.into_iter().find(|(word, _)| *word == context).ok_or(AuthorityError)?;
        let person = match next()? {
            NOBODY => None,
            id => Some(id.parse().map_err(|_| AuthorityError)?),
        };
        let scopes = Permissions::from_words(words).ok_or(AuthorityError)?;
        Ok(Self { key, scopes, has_admin_level, is_data_admin, person })
    }
}

impl Permissions {
    /// Returns the set with all scopes of `other` added.
    #[must_use]
    pub const fn with_all(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the scopes that both sets have.
    #[must_use]
    pub const fn limited_to(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Caller {
    /// Returns the caller's present rights.
    #[must_use]
    pub fn authority(&self) -> Authority {
        Authority {
            key: self.key,
            scopes: self.scopes,
            has_admin_level: self.level == AccessLevel::Admin,
            is_data_admin: self.is_data_admin(),
            person: self.bound_to(),
        }
    }

    /// Returns the person of a bound key, org admins included: the person in whose name the key writes (decision
    /// B5).
    #[must_use]
    pub fn bound_to(&self) -> Option<EmployeeId> {
        self.person.map(|person| person.id)
    }

    /// Returns the person that the caller acts for, or `None` for an org admin's key and for a key of the
    /// organization. The person's role decides, whatever the level of the key (decision B5).
    #[must_use]
    pub fn acts_for(&self) -> Option<EmployeeId> {
        self.person.filter(|person| !person.is_org_admin).map(|person| person.id)
    }

    /// Requires that the caller may write in this person's name. A bound key writes as its person, org admins
    /// included; a key of the organization writes as the person it names (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::OtherPerson`].
    pub fn may_write_as(&self, person: &Reference<EmployeeKind>) -> Result<(), PermissionError> {
        if self.bound_to().is_none_or(|own| person.id == Some(own)) {
            Ok(())
        } else {
            Err(PermissionError::OtherPerson)
        }
    }

    /// Returns the person in whose name the caller writes; `None` if an unbound key names no person. `named` is the
    /// field of the request; `Some(None)` is null. A bound key accepts only its own person, its default (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::OtherPerson`] for another person, or for null, by a bound key.
    pub fn speaker(
        &self,
        named: Option<Option<Reference<EmployeeKind>>>,
    ) -> Result<Option<Reference<EmployeeKind>>, PermissionError> {
        match (self.bound_to(), named) {
            (Some(own), None) => Ok(Some(own.into())),
            (Some(_), Some(None)) => Err(PermissionError::OtherPerson),
            (_, named) => {
                let author = named.flatten();
                author.as_ref().map_or(Ok(()), |person| self.may_write_as(person))?;
                Ok(author)
            }
        }
    }

    /// Requires a caller who sees the whole data set.
    ///
    /// # Errors
    /// [`PermissionError::ActsForPerson`].
    pub fn require_full_sight(&self) -> Result<(), PermissionError> {
        if self.acts_for().is_none() { Ok(()) } else { Err(PermissionError::ActsForPerson) }
    }

    /// Returns `true` if this caller still has the rights that its key gave at the start of a request (decision B4).
    /// A caller whose networks were narrowed has lost rights: the request could still create a key for the former networks.
    #[must_use]
    pub fn has_kept_rights_of(&self, earlier: &Self) -> bool {
        let has_networks = self.allowed_networks.cover(&earlier.allowed_networks);
        self.key == earlier.key && has_networks && self.authority().covers(&earlier.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::unbound;
    use super::super::{AdminContext, BoundPerson, Permission};
    use super::*;
    use ulid::Ulid;

    const FEW: Permissions = Permissions::NONE.with(Permission::ObjectivesWrite);
    const MORE: Permissions = FEW.with(Permission::ObjectivesRead);

    fn person(number: u128) -> EmployeeId {
        EmployeeId::from_ulid(Ulid(number))
    }

    /// Creates an authority. `context` is a word of [`CONTEXTS`].
    fn authority(key: u128, scopes: Permissions, context: &str, bound_to: Option<u128>) -> Authority {
        let (_, (has_admin_level, is_data_admin)) =
            CONTEXTS.into_iter().find(|(word, _)| *word == context).unwrap();
        let key = KeyId::from_ulid(Ulid(key));
        Authority { key, scopes, has_admin_level, is_data_admin, person: bound_to.map(person) }
    }

    #[test]
    fn stored_answer_is_replayed_to_callers_with_equal_rights() {
        const ALL: Permissions = Permissions::ALL;
        let table = [
            // repeats the request                      sent it first                             gets the answer
            (authority(1, FEW, "standard", None), authority(1, FEW, "standard", None), true),
            // The key was narrowed, or is another token of the same account.
            (authority(1, FEW, "standard", None), authority(1, MORE, "standard", None), false),
            (authority(1, FEW, "standard", Some(7)), authority(1, FEW, "data", Some(7)), false),
            (authority(1, MORE, "standard", None), authority(1, FEW, "standard", None), true),
            (authority(2, FEW, "standard", None), authority(1, FEW, "standard", None), true),
            (authority(2, MORE, "standard", None), authority(1, FEW, "standard", None), true),
            (authority(2, FEW, "standard", None), authority(1, MORE, "standard", None), false),
            (authority(2, FEW, "admin", None), authority(1, FEW, "standard", None), true),
            (authority(2, FEW, "standard", None), authority(1, FEW, "admin", None), false),
            (authority(2, FEW, "standard", None), authority(1, FEW, "standard", Some(7)), true),
            (authority(2, FEW, "standard", None), authority(1, FEW, "data", Some(7)), false),
            (authority(2, FEW, "standard", Some(7)), authority(1, FEW, "standard", None), false),
            (authority(2, FEW, "standard", Some(7)), authority(1, FEW, "standard", Some(7)), true),
            (authority(2, FEW, "standard", Some(7)), authority(1, FEW, "standard", Some(8)), false),
            (authority(2, FEW, "standard", Some(7)), authority(1, FEW, "settings", Some(7)), false),
            (authority(2, FEW, "data", Some(7)), authority(1, FEW, "settings", Some(7)), false),
            (authority(2, FEW, "settings", Some(7)), authority(1, FEW, "data", Some(7)), false),
            (authority(2, FEW, "admin", Some(7)), authority(1, FEW, "data", Some(7)), true),
            (authority(2, ALL, "admin", None), authority(1, ALL, "admin", None), true),
            (authority(2, ALL, "admin", None), authority(1, ALL, "settings", Some(7)), true),
            (authority(2, ALL, "admin", Some(7)), authority(1, FEW, "standard", None), false),
            (authority(2, ALL, "admin", Some(7)), authority(1, FEW, "standard", Some(8)), false),
        ];
        // Each connector sees its own people alone, although the keys of all connectors have the same scope.
        let scim = Permissions::NONE.with(Permission::Scim);
        let of_connectors = [
            (authority(1, scim, "standard", None), authority(1, scim, "standard", None), true),
            (authority(2, scim, "standard", None), authority(1, scim, "standard", None), false),
        ];
        for (again, first, gets) in table.into_iter().chain(of_connectors) {
            assert_eq!(again.may_have_the_replay_of(&first), gets, "{again} after {first}");
        }
    }

    #[test]
    fn authority_survives_a_round_trip_through_its_text() {
        for authority in [
            authority(1, Permissions::ALL, "admin", None),
            authority(2, MORE, "standard", Some(7)),
            authority(3, Permissions::NONE, "standard", None),
            authority(4, FEW, "settings", Some(7)),
            authority(5, FEW, "data", Some(7)),
        ] {
            assert_eq!(authority.to_string().parse(), Ok(authority));
        }
        let good = authority(2, MORE, "standard", Some(7)).to_string();
        for bad in ["", "-", &good.replace("standard", "admins"), &format!("{good} x"), &format!(" {good}")] {
            assert_eq!(bad.parse::<Authority>(), Err(AuthorityError), "{bad}");
        }
    }

    fn caller(level: AccessLevel, person: Option<BoundPerson>) -> Caller {
        Caller { person, ..unbound(level) }
    }

    #[test]
    fn level_opens_settings_and_role_opens_data() {
        use AccessLevel::{Admin, Standard};
        let (data, settings) = (Some(PermissionError::AdminRequired), Some(PermissionError::AdminKeyRequired));
        let people = Some(PermissionError::ActsForPerson);
        let person = |is_org_admin| Some(BoundPerson { id: person(7), is_org_admin });
        let table = [
            // level, person, refused: data, settings, writes to people
            (Standard, None, [data, settings, None]),
            (Admin, None, [None, None, None]),
            (Standard, person(false), [data, settings, people]),
            (Admin, person(false), [data, None, people]),
            (Standard, person(true), [None, settings, None]),
            (Admin, person(true), [None, None, None]),
        ];
        for (level, bound, refused) in table {
            let caller = caller(level, bound);
            assert_eq!(caller.authority().has_admin_level, level == Admin, "{level:?}");
            let contexts = [AdminContext::Data, AdminContext::Settings, AdminContext::People];
            assert_eq!(
                contexts.map(|context| caller.require_admin(context).err()),
                refused,
                "{level:?} {bound:?}"
            );
            assert_eq!(caller.is_data_admin(), refused[0].is_none(), "{level:?} {bound:?}");
        }
    }

    #[test]
    fn bound_key_writes_as_its_person_only() {
        let reference = |number| Some(Some(Reference::from(person(number))));
        let nonsense = Some(Some(Reference { text: "x".to_owned(), id: None }));
        for is_org_admin in [false, true] {
            let bound_caller = caller(AccessLevel::Admin, Some(BoundPerson { id: person(7), is_org_admin }));
            let table = [
                (None, Ok(Some(person(7)))),
                (reference(7), Ok(Some(person(7)))),
                (reference(8), Err(PermissionError::OtherPerson)),
                (Some(None), Err(PermissionError::OtherPerson)),
                (nonsense.clone(), Err(PermissionError::OtherPerson)),
            ];
            for (named, wanted) in table {
                let author_result =
                    bound_caller.speaker(named.clone()).map(|writer| writer.and_then(|writer| writer.id));
                assert_eq!(author_result, wanted, "{named:?}");
            }
        }
        let unbound = caller(AccessLevel::Standard, None);
        for named in [None, Some(None), reference(8), nonsense] {
            assert_eq!(unbound.speaker(named.clone()), Ok(named.flatten()));
        }
    }
}
