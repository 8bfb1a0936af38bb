//! Authentication by a stored key (§5, decisions B4, B5 and B7).

use super::{ApiKey, KeyHash};
use crate::access::{BoundPerson, Caller, Quotas, Tenant};
use crate::id::{EmployeeId, OrganizationId};
use crate::people::{Role, Status};
use crate::time::Timestamp;

/// A key with the facts that authentication needs, found by the hash of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, §5")]
pub struct KeyRecord {
    pub organization: OrganizationId,
    pub key: ApiKey,
    /// The person that the key acts for, as stored in the key's environment.
    pub holder: Option<Holder>,
}

/// Facts about the person that a key acts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, §4.3")]
pub struct Holder {
    pub id: EmployeeId,
    pub role: Role,
    pub status: Status,
    pub returned_at: Option<Timestamp>,
}

impl KeyRecord {
    /// Returns the caller for a secret with this hash, or `None` if the secret is not valid at `at` (§5, decision
    /// B5).
    #[must_use]
    pub fn authenticate(&self, hash: KeyHash, at: Timestamp) -> Option<Caller> {
        let key = &self.key;
        let person = match (key.employee_id, self.holder) {
            (None, _) => None,
            (Some(_), Some(holder)) if holder.status != Status::Deactivated && key.is_on(holder.returned_at) => {
                Some(BoundPerson { id: holder.id, is_org_admin: holder.role == Role::OrgAdmin })
            }
            (Some(_), _) => return None,
        };
        self.is_good(hash, at).then(|| Caller {
            tenant: Tenant { organization: self.organization, environment: key.environment },
            key: key.id,
            name: key.name.clone(),
            scopes: key.scopes,
            level: key.access_level,
            person,
            connector: key.connector_id,
            expires_at: key.expires_at,
            quotas: Quotas {
                read: key.reads_per_minute.unwrap_or(Quotas::DEFAULT.read),
                write: key.writes_per_minute.unwrap_or(Quotas::DEFAULT.write),
                scim: key.scim_per_minute.unwrap_or(Quotas::DEFAULT.scim),
            },
        })
    }
}

impl KeyRecord {
    /// Returns `true` if a secret with this hash is the key's, and neither the secret nor the key has ended.
    #[must_use]
    pub fn is_good(&self, hash: KeyHash, at: Timestamp) -> bool {
        let key = &self.key;
        // Until its link is opened, the hash is that of the link's code.
        let is_open = key.link_expires_at.is_none();
        let current =
            key.hash == hash || key.previous.is_some_and(|(previous, until)| previous == hash && at < until);
        current && is_open && key.is_valid(at)
    }
}

impl ApiKey {
    /// Returns `true` unless the person of the key came back after the key was created, and no admin has enabled it
    /// since (decision B7).
    #[must_use]
    pub fn is_on(&self, returned_at: Option<Timestamp>) -> bool {
        returned_at.is_none_or(|returned_at| self.enabled_at.unwrap_or(self.created_at) >= returned_at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOW, ORGANIZATION, PERSON, body, caller, codes, holder, key, record, secret, set};
    use super::super::{Patch, hash};
    use super::*;
    use crate::access::{AccessLevel, Environment, Permission, PermissionDenied};
    use crate::problem::Code;
    use crate::refusal::DomainError;
    use Permission::ObservationsRead;

    #[test]
    fn key_of_a_returned_person_is_enabled_by_its_granters() {
        let off = ApiKey { employee_id: Some(PERSON), ..key() };
        let returned_at = NOW.plus_seconds(5);
        let enable = || Patch { is_enabled: true, ..Patch::default() };
        let granter = caller(off.scopes, AccessLevel::Admin);
        let poorer = caller(set(&[ObservationsRead]), AccessLevel::Admin);
        assert!(matches!(
            off.update(enable(), Some(returned_at), &poorer, returned_at),
            Err(DomainError::Denied(PermissionDenied::CannotGrant))
        ));
        // A process whose clock is behind that of the return enables the key, too.
        let enabled = off.update(enable(), Some(returned_at), &granter, NOW).unwrap().unwrap().state;
        assert_eq!(enabled.enabled_at, Some(returned_at));
        assert!(!off.is_on(Some(returned_at)) && enabled.is_on(Some(returned_at)));
        assert_eq!(enabled.update(enable(), Some(returned_at), &granter, returned_at), Ok(None), "it is on");
        assert_eq!(off.update(enable(), None, &granter, NOW), Ok(None), "the person never left");
        assert_eq!(
            off.update(Patch::default(), Some(returned_at), &granter, NOW),
            Ok(None),
            "not by another change"
        );
        let refused = Patch::parse(body(r#"{"enabled": false}"#)).against(&off, NOW).unwrap_err();
        assert_eq!(codes(&refused), [("enabled", Code::NotPossible)]);
    }

    #[test]
    fn ended_revoked_or_orphaned_key_is_not_authenticated() {
        let at = |seconds: i64| NOW.plus_seconds(seconds);
        let expiring = ApiKey { expires_at: Some(at(60)), ..key() };
        let bound = ApiKey { employee_id: Some(PERSON), ..key() };
        let holder = holder(Role::Employee);
        let person = |status| Some(Holder { status, ..holder });
        let back = |seconds| Some(Holder { returned_at: Some(at(seconds)), ..holder });
        let enabled = ApiKey { enabled_at: Some(at(9)), ..bound.clone() };
        let revoked = key().revoke(at(1)).unwrap().state;
        let just_before = Timestamp::from_millis(at(60).millis() - 1);
        let table = [
            ("plain", key(), None, at(1_000_000), true),
            ("just before its end", expiring.clone(), None, just_before, true),
            ("at its end", expiring, None, at(60), false),
            ("revoked", revoked, None, at(1), false),
            ("bound to someone active", bound.clone(), person(Status::Active), at(0), true),
            ("bound to someone invited", bound.clone(), person(Status::PendingInvite), at(0), true),
            ("bound to someone who has left", bound.clone(), person(Status::Deactivated), at(0), false),
            ("bound to someone who is not there", bound.clone(), None, at(0), false),
            ("made when its person came back", bound.clone(), back(0), at(0), true),
            ("bound to someone who came back", bound, back(1), at(2), false),
            ("enabled when its person came back", enabled.clone(), back(9), at(9), true),
            ("enabled before its person came back again", enabled, back(10), at(10), false),
        ];
        for (what, key, person, at, good) in table {
            let caller = record(key.clone(), person).authenticate(hash(secret(1).reveal()), at);
            assert_eq!(caller.is_some(), good, "{what}");
            assert_eq!(
                record(key, person).authenticate(hash(secret(9).reveal()), at),
                None,
                "{what}, another secret"
            );
        }
    }

    #[test]
    fn caller_has_the_rights_of_its_key() {
        let key = ApiKey {
            environment: Environment::Test,
            employee_id: Some(PERSON),
            expires_at: Some(NOW.plus_seconds(5)),
            reads_per_minute: Some(1200),
            ..key()
        };
        let person = Some(holder(Role::OrgAdmin));
        let caller = record(key.clone(), person).authenticate(hash(secret(1).reveal()), NOW);
        let wanted = Caller {
            tenant: Tenant { organization: ORGANIZATION, environment: Environment::Test },
            key: key.id,
            name: key.name,
            scopes: key.scopes,
            level: AccessLevel::Standard,
            person: Some(BoundPerson { id: PERSON, is_org_admin: true }),
            connector: None,
            expires_at: key.expires_at,
            quotas: Quotas { read: 1200, ..Quotas::DEFAULT },
        };
        assert_eq!(caller, Some(wanted));
    }
}
