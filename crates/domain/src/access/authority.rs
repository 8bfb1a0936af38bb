//! How much a caller may do, compared with another: for granting keys and for handing kept answers out (decisions B5,
//! B7, A13).

use std::fmt;
use std::str::FromStr;

use super::{AccessLevel, Caller, Denied, Permissions};
use crate::fields::Reference;
use crate::id::{EmployeeId, EmployeeKind, KeyId};
use crate::time::Timestamp;

/// What a caller could do and see at the moment of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authority {
    /// The key.
    pub key: KeyId,
    /// What it could do.
    pub scopes: Permissions,
    /// Whether it was in admin context.
    pub is_admin: bool,
    /// The person whom it acted for, unless that was an org admin; such a caller sees what that person sees.
    pub acts_for: Option<EmployeeId>,
}

impl Authority {
    /// Whether whoever has this authority may do and see all that the other may.
    ///
    /// One person's sight covers no other person's, not even that of somebody below: a manager does not see the
    /// notifications of a report.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let sees_as_much = self.acts_for.is_none() || self.acts_for == other.acts_for;
        let may_as_much = self.scopes.cover(other.scopes) && (self.is_admin || !other.is_admin);
        sees_as_much && may_as_much
    }

    /// Whether an answer that was kept for `asker` may be given to whoever has this authority now (decision A13): it is
    /// the same key, or one that may do at least as much. Where nobody wrote down who asked, only a key that may do
    /// everything gets it.
    #[must_use]
    pub fn may_have_the_answer_to(&self, asker: Option<&Self>) -> bool {
        match asker {
            Some(asker) => self.key == asker.key || self.covers(asker),
            None => self.is_admin && self.acts_for.is_none() && self.scopes == Permissions::ALL,
        }
    }
}

/// What stands where there is no person.
const NOBODY: &str = "-";
/// The word for admin context, and the one for none.
const CONTEXTS: [&str; 2] = ["admin", "standard"];

/// As it is written down beside a kept answer: the key, the context, the person, and the words of the scopes, which do
/// not change their meaning with a version of the service as bits would.
impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.key, CONTEXTS[usize::from(!self.is_admin)])?;
        match self.acts_for {
            Some(person) => write!(f, "{person}")?,
            None => f.write_str(NOBODY)?,
        }
        self.scopes.words().iter().try_for_each(|it| write!(f, " {it}"))
    }
}

/// The text of an authority cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an authority")]
pub struct UnreadableAuthority;

impl FromStr for Authority {
    type Err = UnreadableAuthority;

    fn from_str(text: &str) -> Result<Self, UnreadableAuthority> {
        let mut words = text.split(' ');
        let mut next = || words.next().ok_or(UnreadableAuthority);
        let key = next()?.parse().map_err(|_| UnreadableAuthority)?;
        let is_admin = match next()? {
            "admin" => true,
            "standard" => false,
            _ => return Err(UnreadableAuthority),
        };
        let acts_for = match next()? {
            NOBODY => None,
            id => Some(id.parse().map_err(|_| UnreadableAuthority)?),
        };
        let scopes = Permissions::from_words(words).ok_or(UnreadableAuthority)?;
        Ok(Self { key, scopes, is_admin, acts_for })
    }
}

/// Whether a key that ends at `end` outlasts one that ends at `other`; `None` is never.
pub(super) fn outlasts(end: Option<Timestamp>, other: Option<Timestamp>) -> bool {
    match (end, other) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(end), Some(other)) => end > other,
    }
}

impl Caller {
    /// What the caller may do and see now.
    #[must_use]
    pub fn authority(&self) -> Authority {
        Authority { key: self.key, scopes: self.scopes, is_admin: self.is_admin(), acts_for: self.acts_for() }
    }

    /// The person whom the caller acts for, unless that is an org admin: their role decides, whatever the level of the
    /// key (decision B5).
    #[must_use]
    pub fn acts_for(&self) -> Option<EmployeeId> {
        self.person.filter(|it| !it.is_org_admin).map(|it| it.id)
    }

    /// Requires that the caller may do something in this person's name: who acts for a person does so for that person
    /// only (decision B5).
    ///
    /// # Errors
    /// [`Denied::ActsForPerson`].
    pub fn may_speak_as(&self, person: &Reference<EmployeeKind>) -> Result<(), Denied> {
        if self.acts_for().is_none_or(|it| person.id == Some(it)) { Ok(()) } else { Err(Denied::ActsForPerson) }
    }

    /// Returns the person in whose name something new is written: the person of a bound key, org admins included, and the
    /// named one for a key of the organization (decision B5). `Some(None)` is a name that was given as null.
    ///
    /// # Errors
    /// [`Denied::OtherPerson`] if a bound key names another person, or null.
    pub fn speaker(
        &self,
        named: Option<Option<Reference<EmployeeKind>>>,
    ) -> Result<Option<Reference<EmployeeKind>>, Denied> {
        let Some(own) = self.person.map(|person| person.id) else { return Ok(named.flatten()) };
        match named {
            None => Ok(Some(own.into())),
            Some(Some(person)) if person.id == Some(own) => Ok(Some(person)),
            Some(_) => Err(Denied::OtherPerson),
        }
    }

    /// Requires that the caller sees everything in the data set.
    ///
    /// # Errors
    /// [`Denied::ActsForPerson`].
    pub fn require_full_sight(&self) -> Result<(), Denied> {
        if self.acts_for().is_none() { Ok(()) } else { Err(Denied::ActsForPerson) }
    }

    /// Requires that a key with this access, for this person or for nobody in particular, may do nothing that the caller
    /// may not, and ends no later. Who acts for a person sees what that person sees, and so makes keys for that person
    /// only, unless an org admin is behind it (decisions B5, B7).
    ///
    /// # Errors
    /// [`Denied::CannotGrant`].
    pub fn may_grant(
        &self,
        scopes: Permissions,
        level: AccessLevel,
        person: Option<EmployeeId>,
        end: Option<Timestamp>,
    ) -> Result<(), Denied> {
        let sees_as_much = self.acts_for().is_none_or(|it| person == Some(it));
        let may_as_much = self.scopes.cover(scopes) && (level == AccessLevel::Standard || self.is_admin());
        let lasts_as_long = !outlasts(end, self.expires_at);
        if sees_as_much && may_as_much && lasts_as_long { Ok(()) } else { Err(Denied::CannotGrant) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Permission;
    use super::*;
    use ulid::Ulid;

    const FEW: Permissions = Permissions::NONE.with(Permission::ObjectivesWrite);
    const MORE: Permissions = FEW.with(Permission::ObjectivesRead);

    fn person(number: u128) -> EmployeeId {
        EmployeeId::from_ulid(Ulid(number))
    }

    fn authority(key: u128, scopes: Permissions, is_admin: bool, acts_for: Option<u128>) -> Authority {
        Authority { key: KeyId::from_ulid(Ulid(key)), scopes, is_admin, acts_for: acts_for.map(person) }
    }

    #[test]
    fn a_kept_answer_goes_to_the_key_that_asked_and_to_those_that_may_do_as_much() {
        let table = [
            // who asks again                          who asked first                          gets the answer
            (authority(1, FEW, false, None), authority(1, FEW, false, None), true),
            // The same key, narrowed since, has had this answer.
            (authority(1, FEW, false, None), authority(1, MORE, false, None), true),
            (authority(2, FEW, false, None), authority(1, FEW, false, None), true),
            (authority(2, MORE, false, None), authority(1, FEW, false, None), true),
            (authority(2, FEW, false, None), authority(1, MORE, false, None), false),
            (authority(2, FEW, true, None), authority(1, FEW, false, None), true),
            (authority(2, FEW, false, None), authority(1, FEW, true, None), false),
            (authority(2, FEW, false, None), authority(1, FEW, false, Some(7)), true),
            (authority(2, FEW, false, Some(7)), authority(1, FEW, false, None), false),
            (authority(2, FEW, false, Some(7)), authority(1, FEW, false, Some(7)), true),
            (authority(2, FEW, false, Some(7)), authority(1, FEW, false, Some(8)), false),
            (authority(2, FEW, false, Some(7)), authority(1, FEW, true, Some(7)), false),
            (authority(2, Permissions::ALL, true, None), authority(1, Permissions::ALL, true, None), true),
            (authority(2, Permissions::ALL, true, Some(7)), authority(1, FEW, false, None), false),
        ];
        for (again, first, gets) in table {
            assert_eq!(again.may_have_the_answer_to(Some(&first)), gets, "{again} after {first}");
        }
    }

    #[test]
    fn an_answer_to_nobody_knows_whom_goes_only_to_who_may_do_everything() {
        let table = [
            (authority(1, Permissions::ALL, true, None), true),
            (authority(1, Permissions::ALL, false, None), false),
            (authority(1, Permissions::ALL, true, Some(7)), false),
            (authority(1, MORE, true, None), false),
        ];
        for (again, gets) in table {
            assert_eq!(again.may_have_the_answer_to(None), gets, "{again}");
        }
    }

    #[test]
    fn an_authority_is_its_text() {
        for it in [
            authority(1, Permissions::ALL, true, None),
            authority(2, MORE, false, Some(7)),
            authority(3, Permissions::NONE, false, None),
        ] {
            assert_eq!(it.to_string().parse(), Ok(it));
        }
        let good = authority(2, MORE, false, Some(7)).to_string();
        for bad in ["", "-", &good.replace("standard", "admins"), &format!("{good} x"), &format!(" {good}")] {
            assert_eq!(bad.parse::<Authority>(), Err(UnreadableAuthority), "{bad}");
        }
    }

    #[test]
    fn only_what_ends_later_outlasts() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        let table = [
            (None, None, false),
            (None, at(1), true),
            (at(1), None, false),
            (at(1), at(1), false),
            (at(2), at(1), true),
        ];
        for (end, other, wanted) in table {
            assert_eq!(outlasts(end, other), wanted, "{end:?} {other:?}");
        }
    }
}
