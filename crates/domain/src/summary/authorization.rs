//! Permission to write, change and review summaries (decisions B5, C10).

use super::{ActionKind, Draft, Summary};
use crate::access::{Caller, PermissionError};
use crate::organization::Review;

impl Draft {
    /// Resolves the author. A bound key writes as its person (decision B5).
    ///
    /// # Errors
    /// Returns [`PermissionError::OtherPerson`] for another author than the person of a bound key.
    pub fn written_by(mut self, caller: &Caller) -> Result<Self, PermissionError> {
        self.author = Some(caller.speaker(self.author.take())?);
        Ok(self)
    }
}

impl Summary {
    /// Checks that a caller who sees this summary may edit it and read its former texts. Its author, the managers above its person and org
    /// admins may; the person that it was shared with may not.
    ///
    /// # Errors
    /// Returns [`PermissionError::OnlyShared`] for the person of a shared summary.
    pub fn may_be_changed_by(&self, caller: &Caller) -> Result<(), PermissionError> {
        let Some(person) = caller.person else { return Ok(()) };
        let is_only_shared =
            person.id == self.employee_id && self.author_id != Some(person.id) && !person.is_org_admin;
        if is_only_shared { Err(PermissionError::OnlyShared) } else { Ok(()) }
    }

    /// Checks that a caller who sees this summary may take this action. Keys that act for no person may take every
    /// action. Of the people, only the one that the summary is about gives feedback, and this person never approves,
    /// returns or shares the summary. Where reviews are required, the author never approves it, and a person who
    /// changed it may approve it only after another person has submitted it. The rules bind org admins too (decision
    /// B5).
    ///
    /// # Errors
    /// Returns [`PermissionError::NotTheSubject`], [`PermissionError::AboutOneself`],
    /// [`PermissionError::OwnReview`], [`PermissionError::OwnText`] or [`PermissionError::OnlyShared`].
    pub fn may_be_acted_on_by(
        &self,
        caller: &Caller,
        what: ActionKind,
        review: Review,
    ) -> Result<(), PermissionError> {
        let Some(person) = caller.bound_to() else { return Ok(()) };
        let is_about_them = person == self.employee_id;
        let is_author = self.author_id == Some(person);
        match what {
            ActionKind::Feedback if is_about_them => Ok(()),
            ActionKind::Feedback => Err(PermissionError::NotTheSubject),
            ActionKind::Approve | ActionKind::Return | ActionKind::Share if is_about_them => {
                Err(PermissionError::AboutOneself)
            }
            ActionKind::Approve if is_author && review == Review::Required => Err(PermissionError::OwnReview),
            ActionKind::Approve if self.editor_ids.contains(&person) && review == Review::Required => {
                Err(PermissionError::OwnText)
            }
            ActionKind::Approve | ActionKind::Return | ActionKind::Share => Ok(()),
            ActionKind::Submit | ActionKind::Archive => self.may_be_changed_by(caller),
        }
    }

    /// Returns `true` if a change by this caller needs an approval: the caller may not approve the summary.
    #[must_use]
    pub fn needs_approval_from_others(&self, caller: &Caller, review: Review) -> bool {
        self.may_be_acted_on_by(caller, ActionKind::Approve, review).is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::tests::summary;
    use super::*;
    use crate::access::AccessLevel::{Admin, Standard};
    use crate::access::PermissionError::{AboutOneself, NotTheSubject, OnlyShared, OwnReview};
    use crate::access::tests::{bound_caller, unbound};
    use crate::fields::{Reference, StringEnum};
    use crate::id::{EmployeeId, Id};
    use ulid::Ulid;

    #[test]
    fn allowed_actions_depend_on_the_relation_to_the_summary() {
        let shared = summary(Status::Shared);
        let (subject, author, other) =
            (shared.employee_id, shared.author_id.unwrap(), EmployeeId::from_ulid(Ulid(77)));
        let of_oneself = Summary { author_id: Some(subject), ..shared.clone() };
        let table = [
            // Refusals of the six actions and of an edit, then the refusal of an approval where reviews are required.
            (&shared, unbound(Standard), [None; 7], None),
            (&shared, unbound(Admin), [None; 7], None),
            (
                &shared,
                bound_caller(subject, false).with_level(Admin),
                [
                    Some(OnlyShared),
                    Some(AboutOneself),
                    Some(AboutOneself),
                    Some(AboutOneself),
                    None,
                    Some(OnlyShared),
                    Some(OnlyShared),
                ],
                Some(AboutOneself),
            ),
            (
                &shared,
                bound_caller(subject, true),
                [None, Some(AboutOneself), Some(AboutOneself), Some(AboutOneself), None, None, None],
                Some(AboutOneself),
            ),
            (
                &of_oneself,
                bound_caller(subject, false),
                [None, Some(AboutOneself), Some(AboutOneself), Some(AboutOneself), None, None, None],
                Some(AboutOneself),
            ),
            (
                &shared,
                bound_caller(author, false),
                [None, None, None, None, Some(NotTheSubject), None, None],
                Some(OwnReview),
            ),
            (
                &shared,
                bound_caller(author, true),
                [None, None, None, None, Some(NotTheSubject), None, None],
                Some(OwnReview),
            ),
            (&shared, bound_caller(other, false), [None, None, None, None, Some(NotTheSubject), None, None], None),
            (&shared, bound_caller(other, true), [None, None, None, None, Some(NotTheSubject), None, None], None),
        ];
        for (summary, caller, refused, required) in table {
            for (action, wanted) in ActionKind::ALL.iter().zip(refused) {
                let result = summary.may_be_acted_on_by(&caller, *action, Review::Optional).err();
                assert_eq!(result, wanted, "{caller:?} {action:?}");
            }
            assert_eq!(summary.may_be_changed_by(&caller).err(), refused[6], "{caller:?}");
            let result = summary.may_be_acted_on_by(&caller, ActionKind::Approve, Review::Required).err();
            assert_eq!(result, required, "{caller:?}");
        }
    }

    #[test]
    fn bound_key_writes_summaries_as_its_person() {
        let own: EmployeeId = Id::from_ulid(Ulid(7));
        let draft = |author: &str| {
            let text = format!(r#"{{"employee_id":"{}","title":"x"{author}}}"#, EmployeeId::from_ulid(Ulid(8)));
            let Ok(crate::json::Value::Object(body)) = serde_json::from_str(&text) else { panic!("{text}") };
            Draft::parse(body).unwrap()
        };
        let author_member = |id: EmployeeId| format!(r#","author_id":"{id}""#);
        let other = EmployeeId::from_ulid(Ulid(9));
        let table = [
            (String::new(), Ok(Some(own))),
            (author_member(own), Ok(Some(own))),
            (author_member(other), Err(PermissionError::OtherPerson)),
            (r#","author_id":null"#.to_owned(), Err(PermissionError::OtherPerson)),
        ];
        let author = |draft: Draft| draft.author().and_then(|reference: &Reference<_>| reference.id);
        for (text, wanted) in table {
            for is_org_admin in [false, true] {
                let draft_result = draft(&text).written_by(&bound_caller(own, is_org_admin));
                assert_eq!(draft_result.map(author), wanted, "{text}");
            }
        }
        let draft_result = draft(&author_member(other)).written_by(&unbound(Standard));
        assert_eq!(draft_result.map(author), Ok(Some(other)));
        assert_eq!(draft("").written_by(&unbound(Standard)).map(author), Ok(None));
    }
}
