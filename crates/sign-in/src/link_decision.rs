//! Decides which person an account of a provider signs in as: by the stored link, or by the provider's rule for
//! the first link.

use candor_domain::fields::StringEnum;
use candor_domain::id::EmployeeId;
use candor_domain::people::{Role, Status};
use candor_domain::text::{address_key, email};
use candor_domain::time::Timestamp;
use candor_tokens::claims::TokenSubject;
use strum::{IntoStaticStr, VariantArray};

use super::LinkRule;

/// The settings of a provider that decide about links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkSettings<'p> {
    /// Rule of the first link.
    pub rule: LinkRule,
    /// Proven domains, as they are registered, in lower case.
    pub proven_domains: &'p [String],
    /// Time of the provider's creation. If the address of a person changed later, an admin must make the link.
    pub created_at: Timestamp,
}

/// The person that the store has linked to the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkedPerson {
    /// The person.
    pub id: EmployeeId,
    /// Employment status.
    pub status: Status,
    /// `true` if the person was reactivated or rehired after the last confirmation of the link.
    pub needs_confirmation: bool,
}

/// A person that the rule finds: at one SCIM connector by the `externalId`, or by the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkCandidate {
    /// The person.
    pub id: EmployeeId,
    /// Employment status.
    pub status: Status,
    /// Role.
    pub role: Role,
    /// `true` if the provider has linked another account to the person.
    pub has_other_account: bool,
    /// Time of the last change of the address.
    pub address_changed_at: Option<Timestamp>,
    /// `true` if the person was reactivated or rehired.
    pub has_returned: bool,
    /// `true` if an admin has removed the link of the account.
    pub is_unlinked: bool,
}

/// People that the store knows for an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownPeople<'p> {
    /// The link of the account.
    Linked(LinkedPerson),
    /// The account has no link. The candidates are the people that the rule finds: at most one by the address, or at
    /// most one for each SCIM connector by the external id.
    Unlinked(&'p [LinkCandidate]),
}

/// The key by which the candidates of an account are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateKey {
    /// The `externalId` at a SCIM connector.
    ExternalId(String),
    /// The [`address_key`] of the address.
    Address(String),
}

/// The person that the account signs in as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInDecision {
    /// The person.
    pub person: EmployeeId,
    /// `true` if the link is to be stored.
    pub is_new_link: bool,
    /// `true` if the sign-in accepts the invitation of the person.
    pub accepts_invitation: bool,
}

/// The cause for which an account signs in as no person. The audit log shows it to admins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray, thiserror::Error)]
#[strum(serialize_all = "snake_case")]
pub enum LinkError {
    /// The token has no subject claim with a text, or no verified address.
    #[error("the token has no subject claim with a text, or no verified email address, that links it to a person")]
    NoClaim,
    /// The domain of the address is not proven.
    #[error("the domain of the address is not proven")]
    UnprovenDomain,
    /// No person has the id or the address.
    #[error("no person has this id or address")]
    NoPerson,
    /// Several people have the id or the address, or one person has the id at several connectors.
    #[error("several people or connectors have this id or address")]
    Ambiguous,
    /// The person is deactivated.
    #[error("the person is deactivated")]
    Deactivated,
    /// The person has not accepted the invitation.
    #[error("the person has not accepted the invitation")]
    PendingInvite,
    /// The provider has linked another account to the person.
    #[error("the provider has linked another account to the person; an admin must remove that link first")]
    OtherAccount,
    /// Only an admin, or an invitation, may link the person; or only an admin, because the link of the account was removed.
    #[error("an admin must link the account of this person")]
    NeedsAdmin,
}

impl StringEnum for LinkError {}

impl LinkSettings<'_> {
    /// Returns the key of the candidates for a first link of an account.
    ///
    /// # Errors
    /// Returns [`LinkError::NoClaim`] or [`LinkError::UnprovenDomain`].
    pub fn candidate_key(self, account: &TokenSubject) -> Result<CandidateKey, LinkError> {
        match self.rule {
            LinkRule::ScimExternalId => {
                let id = account.external_id.clone().filter(|id| !id.is_empty());
                id.map(CandidateKey::ExternalId).ok_or(LinkError::NoClaim)
            }
            LinkRule::VerifiedEmail => {
                // An address that no person may have would be found as that of another mailbox.
                let valid_email = account.verified_email.as_deref().filter(|text| email(text).is_ok());
                let address = address_key(valid_email.ok_or(LinkError::NoClaim)?);
                let (_, domain) = address.rsplit_once('@').ok_or(LinkError::NoClaim)?;
                let is_proven = self.proven_domains.iter().any(|proven| proven == domain);
                if is_proven { Ok(CandidateKey::Address(address)) } else { Err(LinkError::UnprovenDomain) }
            }
        }
    }
}

/// Decides which person an account signs in as.
///
/// # Errors
/// Returns the cause for which the account signs in as no person.
pub fn decide_sign_in(settings: LinkSettings<'_>, people: KnownPeople<'_>) -> Result<SignInDecision, LinkError> {
    match people {
        KnownPeople::Linked(person) => {
            let accepts_invitation = accept_status(settings.rule, person.status)?;
            if person.needs_confirmation {
                return Err(LinkError::NeedsAdmin);
            }
            Ok(SignInDecision { person: person.id, is_new_link: false, accepts_invitation })
        }
        KnownPeople::Unlinked([]) => Err(LinkError::NoPerson),
        KnownPeople::Unlinked([person]) => link_first(settings, person),
        KnownPeople::Unlinked(_) => Err(LinkError::Ambiguous),
    }
}

fn link_first(settings: LinkSettings<'_>, person: &LinkCandidate) -> Result<SignInDecision, LinkError> {
    let accepts_invitation = accept_status(settings.rule, person.status)?;
    if person.has_other_account {
        return Err(LinkError::OtherAccount);
    }
    // The removal would last until the next token of the account.
    if person.is_unlinked {
        return Err(LinkError::NeedsAdmin);
    }
    // The invitation went to the address, so its acceptance proves more than an address or an external id. A key that
    // writes people may have set these before the person became an org admin.
    if !accepts_invitation {
        let has_new_address = person.address_changed_at.is_some_and(|at| at > settings.created_at);
        let has_doubtful_address =
            settings.rule == LinkRule::VerifiedEmail && (has_new_address || person.has_returned);
        if person.role == Role::OrgAdmin || has_doubtful_address {
            return Err(LinkError::NeedsAdmin);
        }
    }
    Ok(SignInDecision { person: person.id, is_new_link: true, accepts_invitation })
}

/// Returns `true` if the sign-in accepts an invitation, `false` if the person is active. Refuses a deactivated
/// person, and an invited person that the `externalId` finds.
fn accept_status(rule: LinkRule, status: Status) -> Result<bool, LinkError> {
    match (status, rule) {
        (Status::Active, _) => Ok(false),
        (Status::PendingInvite, LinkRule::VerifiedEmail) => Ok(true),
        (Status::PendingInvite, LinkRule::ScimExternalId) => Err(LinkError::PendingInvite),
        (Status::Deactivated, _) => Err(LinkError::Deactivated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LinkRule::{ScimExternalId, VerifiedEmail};
    use ulid::Ulid;

    /// Decision for the person: a new link or not, and an accepted invitation or not.
    type Decision = Result<(bool, bool), LinkError>;

    const PERSON: EmployeeId = EmployeeId::from_ulid(Ulid(1));
    const CREATED_AT: Timestamp = Timestamp::from_millis(1000);

    const CANDIDATE: LinkCandidate = LinkCandidate {
        id: PERSON,
        status: Status::Active,
        role: Role::Employee,
        has_other_account: false,
        address_changed_at: None,
        has_returned: false,
        is_unlinked: false,
    };

    fn settings(rule: LinkRule, proven_domains: &[String]) -> LinkSettings<'_> {
        LinkSettings { rule, proven_domains, created_at: CREATED_AT }
    }

    fn decide(rule: LinkRule, people: KnownPeople<'_>) -> Decision {
        let decision = decide_sign_in(settings(rule, &[]), people)?;
        assert_eq!(decision.person, PERSON);
        Ok((decision.is_new_link, decision.accepts_invitation))
    }

    #[test]
    fn stored_link_counts_while_the_person_is_active() {
        let linked_person = |status, needs_confirmation| {
            KnownPeople::Linked(LinkedPerson { id: PERSON, status, needs_confirmation })
        };
        for (rule, status, needs_confirmation, wanted) in [
            (ScimExternalId, Status::Active, false, Ok((false, false))),
            (VerifiedEmail, Status::Active, false, Ok((false, false))),
            (VerifiedEmail, Status::Active, true, Err(LinkError::NeedsAdmin)),
            (ScimExternalId, Status::Active, true, Err(LinkError::NeedsAdmin)),
            (VerifiedEmail, Status::PendingInvite, false, Ok((false, true))),
            (ScimExternalId, Status::PendingInvite, false, Err(LinkError::PendingInvite)),
            (VerifiedEmail, Status::Deactivated, false, Err(LinkError::Deactivated)),
            (ScimExternalId, Status::Deactivated, true, Err(LinkError::Deactivated)),
        ] {
            assert_eq!(decide(rule, linked_person(status, needs_confirmation)), wanted, "{rule:?} {status:?}");
        }
    }

    /// Returns candidates with the decisions about them by their id and by their address.
    fn candidates() -> [(&'static str, LinkCandidate, Decision, Decision); 11] {
        let (link, needs_admin) = (Ok((true, false)), Err(LinkError::NeedsAdmin));
        let (leaver, other) = (Err(LinkError::Deactivated), Err(LinkError::OtherAccount));
        let (invited, accept) = (Err(LinkError::PendingInvite), Ok((true, true)));
        let deactivated_person = LinkCandidate { status: Status::Deactivated, ..CANDIDATE };
        let invited_person = LinkCandidate { status: Status::PendingInvite, ..CANDIDATE };
        let admin = LinkCandidate { role: Role::OrgAdmin, ..CANDIDATE };
        let with_new_address = |at| LinkCandidate { address_changed_at: Some(at), ..CANDIDATE };
        [
            ("plain", CANDIDATE, link, link),
            ("deactivated", deactivated_person, leaver, leaver),
            ("invited", invited_person, invited, accept),
            ("other account", LinkCandidate { has_other_account: true, ..CANDIDATE }, other, other),
            ("admin", admin, needs_admin, needs_admin),
            ("invited admin", LinkCandidate { role: Role::OrgAdmin, ..invited_person }, invited, accept),
            ("address changed later", with_new_address(CREATED_AT.plus_seconds(1)), link, needs_admin),
            ("address changed before", with_new_address(CREATED_AT), link, link),
            ("returned", LinkCandidate { has_returned: true, ..CANDIDATE }, link, needs_admin),
            ("unlinked", LinkCandidate { is_unlinked: true, ..CANDIDATE }, needs_admin, needs_admin),
            ("invited and unlinked", LinkCandidate { is_unlinked: true, ..invited_person }, invited, needs_admin),
        ]
    }

    #[test]
    fn first_link_needs_exactly_one_person_of_the_rule() {
        for (name, candidate, by_id, by_address) in candidates() {
            assert_eq!(decide(ScimExternalId, KnownPeople::Unlinked(&[candidate])), by_id, "{name}");
            assert_eq!(decide(VerifiedEmail, KnownPeople::Unlinked(&[candidate])), by_address, "{name}");
        }
        for rule in [ScimExternalId, VerifiedEmail] {
            assert_eq!(decide(rule, KnownPeople::Unlinked(&[])), Err(LinkError::NoPerson));
            assert_eq!(decide(rule, KnownPeople::Unlinked(&[CANDIDATE; 2])), Err(LinkError::Ambiguous));
        }
    }

    #[test]
    fn candidates_are_found_by_the_claim_of_the_rule() {
        let account = |external_id: Option<&str>, email: Option<&str>| TokenSubject {
            subject: "1".to_owned(),
            external_id: external_id.map(str::to_owned),
            verified_email: email.map(str::to_owned),
        };
        let address = |text: &str| Ok(CandidateKey::Address(text.to_owned()));
        let domains = ["example.com".to_owned(), "xn--mller-kva.example".to_owned()];
        for (email, wanted) in [
            (Some("Ada@Example.COM"), address("ada@example.com")),
            (Some("ada@müller.example"), address("ada@xn--mller-kva.example")),
            (Some("ada@sub.example.com"), Err(LinkError::UnprovenDomain)),
            (Some("ada@example.com.evil.example"), Err(LinkError::UnprovenDomain)),
            (Some("ada@evil.example@example.com"), Err(LinkError::NoClaim)),
            (Some("example.com"), Err(LinkError::NoClaim)),
            (Some("ada@\u{ff45}xample.com"), Err(LinkError::NoClaim)),
            (Some("ada@exam\u{200b}ple.com"), Err(LinkError::NoClaim)),
            (Some("ada@example.com."), Err(LinkError::NoClaim)),
            (Some("ada@[127.0.0.1]"), Err(LinkError::NoClaim)),
            (None, Err(LinkError::NoClaim)),
        ] {
            let key = settings(VerifiedEmail, &domains).candidate_key(&account(None, email));
            assert_eq!(key, wanted, "{email:?}");
        }
        let by_id = |id| settings(ScimExternalId, &[]).candidate_key(&account(id, Some("ada@example.com")));
        assert_eq!(by_id(Some("7D0f")), Ok(CandidateKey::ExternalId("7D0f".to_owned())));
        assert_eq!((by_id(Some("")), by_id(None)), (Err(LinkError::NoClaim), Err(LinkError::NoClaim)));
    }
}
