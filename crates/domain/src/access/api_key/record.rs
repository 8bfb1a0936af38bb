//! Authentication by a stored key (§5, decisions B4, B5 and B7).

use super::{ApiKey, KeyHash};
use crate::access::{AccessLevel, AllowedNetworks, BoundPerson, Caller, Permission, Quotas, Tenant};
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
    /// Returns the caller for a secret with this hash, or `None` if the secret is not valid at `at` or the key is
    /// off because of its person (§5, decision B5). Returns `None` also for a session and for every key that a
    /// session created, because this record does not tell if the session has ended (decision B10).
    #[must_use]
    pub fn authenticate(&self, hash: KeyHash, at: Timestamp) -> Option<Caller> {
        if self.key.session_root().is_some() { None } else { self.authenticate_key(hash, at) }
    }

    /// Returns the caller for a secret with this hash, without a check that the session of the key has not ended.
    #[must_use]
    pub fn authenticate_key(&self, hash: KeyHash, at: Timestamp) -> Option<Caller> {
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
            identity_provider: None,
            session: key.session_root(),
            expires_at: key.end_of_secret(hash),
            secret: Some(hash.mark()),
            has_previous_secret: key.hash != hash,
            allowed_networks: key.allowed_networks.clone(),
            quotas: Quotas {
                read: key.reads_per_minute.unwrap_or(Quotas::DEFAULT.read),
                write: key.writes_per_minute.unwrap_or(Quotas::DEFAULT.write),
                scim: key.scim_per_minute.unwrap_or(Quotas::DEFAULT.scim),
            },
        })
    }
}

impl KeyRecord {
    /// Returns `true` if this is the hash of a valid secret of the key, see [`ApiKey::accepts`].
    #[must_use]
    pub fn is_good(&self, hash: KeyHash, at: Timestamp) -> bool {
        self.key.accepts(hash, at)
    }
}

impl ApiKey {
    /// Returns `true` if this is the hash of a valid secret of the key: the key is neither revoked nor expired,
    /// and has no unopened portal link. The previous secret is valid until its overlap ends.
    #[must_use]
    pub fn accepts(&self, hash: KeyHash, at: Timestamp) -> bool {
        // Until the portal link of a key is opened, `hash` is the hash of the link's code.
        let is_open = self.link_expires_at.is_none();
        let is_previous = self.previous.is_some_and(|(previous, _)| previous == hash);
        let is_before_end = self.end_of_secret(hash).is_none_or(|end| at < end);
        (self.hash == hash || is_previous && is_before_end) && is_open && self.is_valid(at)
    }

    /// Returns the end of the access that the secret with this hash gives. The previous secret ends with its overlap, so
    /// it gives no access beyond that (decision B7). It always ends before the key does, because the end of the key can
    /// be changed later: so the previous secret never has the reach of the current one. `None` for a secret without an
    /// end.
    fn end_of_secret(&self, hash: KeyHash) -> Option<Timestamp> {
        let previous = self.previous.filter(|(previous, _)| self.hash != hash && *previous == hash);
        let Some((_, until)) = previous else { return self.expires_at };
        let before_key = self.expires_at.map(|end| Timestamp::from_millis(end.millis().saturating_sub(1)));
        Some(before_key.map_or(until, |end| end.min(until)))
    }

    /// Returns `true` if a response of many lines that began with a secret of this key may go on. `networks` are the
    /// networks of the key at the start. The secret with the hash `secret` must be valid, or without it the key must be
    /// neither revoked nor expired. The key must still be usable from all of `networks`, and must still have admin level
    /// and one of `scopes`.
    #[must_use]
    pub fn may_continue(
        &self,
        secret: Option<KeyHash>,
        scopes: &[Permission],
        networks: &AllowedNetworks,
        at: Timestamp,
    ) -> bool {
        let has_scope = scopes.iter().any(|scope| self.scopes.has(*scope));
        let is_valid = secret.map_or_else(|| self.is_valid(at), |hash| self.accepts(hash, at));
        let is_usable = is_valid && self.allowed_networks.cover(networks);
        is_usable && self.access_level == AccessLevel::Admin && has_scope
    }

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
    use crate::access::{Environment, PermissionError};
    use crate::problem::Code;
    use crate::refusal::DomainError;
    use Permission::ObservationsRead;

    #[test]
    fn key_of_a_returned_person_is_enabled_by_its_granters() {
        let disabled_key = ApiKey { employee_id: Some(PERSON), ..key() };
        let returned_at = NOW.plus_seconds(5);
        let enable = || Patch { is_enabled: true, ..Patch::default() };
        let granter = caller(disabled_key.scopes, AccessLevel::Admin);
        let poorer = caller(set(&[ObservationsRead]), AccessLevel::Admin);
        assert!(matches!(
            disabled_key.update(enable(), Some(returned_at), &poorer, returned_at),
            Err(DomainError::Denied(PermissionError::CannotGrant))
        ));
        // The clock of the process that enables the key may be behind the clock that gave `returned_at`.
        let enabled_key = disabled_key.update(enable(), Some(returned_at), &granter, NOW).unwrap().unwrap().state;
        assert_eq!(enabled_key.enabled_at, Some(returned_at));
        assert!(!disabled_key.is_on(Some(returned_at)) && enabled_key.is_on(Some(returned_at)));
        assert_eq!(enabled_key.update(enable(), Some(returned_at), &granter, returned_at), Ok(None), "it is on");
        assert_eq!(disabled_key.update(enable(), None, &granter, NOW), Ok(None), "the person never left");
        assert_eq!(
            disabled_key.update(Patch::default(), Some(returned_at), &granter, NOW),
            Ok(None),
            "not by another change"
        );
        let error = Patch::parse(body(r#"{"enabled": false}"#)).resolve_with(&disabled_key, NOW).unwrap_err();
        assert_eq!(codes(&error), [("enabled", Code::NotPossible)]);
    }

    #[test]
    fn ended_revoked_or_orphaned_key_is_not_authenticated() {
        let time_after = |seconds: i64| NOW.plus_seconds(seconds);
        let expiring = ApiKey { expires_at: Some(time_after(60)), ..key() };
        let bound_key = ApiKey { employee_id: Some(PERSON), ..key() };
        let holder = holder(Role::Employee);
        let person = |status| Some(Holder { status, ..holder });
        let returned_holder = |seconds| Some(Holder { returned_at: Some(time_after(seconds)), ..holder });
        let enabled_key = ApiKey { enabled_at: Some(time_after(9)), ..bound_key.clone() };
        let revoked_key = key().revoke(time_after(1)).unwrap().state;
        let just_before = Timestamp::from_millis(time_after(60).millis() - 1);
        let table = [
            ("plain", key(), None, time_after(1_000_000), true),
            ("just before its end", expiring.clone(), None, just_before, true),
            ("at its end", expiring, None, time_after(60), false),
            ("revoked", revoked_key, None, time_after(1), false),
            ("bound to someone active", bound_key.clone(), person(Status::Active), time_after(0), true),
            ("bound to someone invited", bound_key.clone(), person(Status::PendingInvite), time_after(0), true),
            (
                "bound to someone who has left",
                bound_key.clone(),
                person(Status::Deactivated),
                time_after(0),
                false,
            ),
            ("bound to someone who is not there", bound_key.clone(), None, time_after(0), false),
            ("made when its person came back", bound_key.clone(), returned_holder(0), time_after(0), true),
            ("bound to someone who came back", bound_key, returned_holder(1), time_after(2), false),
            ("enabled when its person came back", enabled_key.clone(), returned_holder(9), time_after(9), true),
            ("enabled before its person came back again", enabled_key, returned_holder(10), time_after(10), false),
        ];
        for (what, key, person, now, good) in table {
            let caller = record(key.clone(), person).authenticate(hash(secret(1).reveal()), now);
            assert_eq!(caller.is_some(), good, "{what}");
            assert_eq!(
                record(key, person).authenticate(hash(secret(9).reveal()), now),
                None,
                "{what}, another secret"
            );
        }
    }

    #[test]
    fn previous_secret_ends_with_its_overlap_or_its_key() {
        let time = |seconds: i64| NOW.plus_seconds(seconds);
        let of_previous = hash(secret(9).reveal());
        let table = [
            // end of the key, end of the previous secret, end of its caller
            (None, time(60), time(60)),
            (Some(time(90)), time(60), time(60)),
            (Some(time(30)), time(60), Timestamp::from_millis(time(30).millis() - 1)),
        ];
        for (expires_at, until, end) in table {
            let key = ApiKey { expires_at, previous: Some((of_previous, until)), ..key() };
            let record = record(key.clone(), None);
            let end_of = |hash| record.authenticate(hash, NOW).map(|caller| caller.expires_at);
            assert_eq!(end_of(hash(secret(1).reveal())), Some(expires_at), "the current secret");
            assert_eq!(end_of(of_previous), Some(Some(end)), "{expires_at:?} {until}");
            assert!(!key.accepts(of_previous, end) && key.accepts(of_previous, NOW), "{expires_at:?} {until}");
        }
    }

    #[test]
    fn long_response_ends_with_the_secret_of_its_request() {
        let scopes = [ObservationsRead];
        let (current, previous) = (hash(secret(1).reveal()), hash(secret(9).reveal()));
        let overlap_end = NOW.plus_seconds(60);
        let key = ApiKey {
            scopes: set(&scopes),
            access_level: AccessLevel::Admin,
            previous: Some((previous, overlap_end)),
            ..key()
        };
        let goes_on = |secret, at| key.may_continue(secret, &scopes, &AllowedNetworks::EVERYWHERE, at);
        assert!(goes_on(Some(previous), NOW) && !goes_on(Some(previous), overlap_end));
        assert!(goes_on(Some(current), overlap_end) && goes_on(None, overlap_end));
        assert!(!goes_on(Some(hash("other")), NOW), "a secret that ended at once");
    }

    #[test]
    fn caller_has_the_rights_of_its_key() {
        let key = ApiKey {
            environment: Environment::Test,
            employee_id: Some(PERSON),
            expires_at: Some(NOW.plus_seconds(5)),
            allowed_networks: AllowedNetworks::from_texts(["192.0.2.0/24"]).unwrap(),
            reads_per_minute: Some(1200),
            ..key()
        };
        let person = Some(holder(Role::OrgAdmin));
        let caller = record(key.clone(), person).authenticate(hash(secret(1).reveal()), NOW);
        let expected_caller = Caller {
            tenant: Tenant { organization: ORGANIZATION, environment: Environment::Test },
            key: key.id,
            name: key.name,
            scopes: key.scopes,
            level: AccessLevel::Standard,
            person: Some(BoundPerson { id: PERSON, is_org_admin: true }),
            connector: None,
            identity_provider: None,
            session: None,
            expires_at: key.expires_at,
            allowed_networks: key.allowed_networks,
            secret: Some(key.hash.mark()),
            has_previous_secret: false,
            quotas: Quotas { read: 1200, ..Quotas::DEFAULT },
        };
        assert_eq!(caller, Some(expected_caller));
    }
}
