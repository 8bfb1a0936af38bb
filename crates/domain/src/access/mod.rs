//! API keys, the callers that they authenticate, and the permissions of callers (§5, decisions B3 to B6).

pub mod api_key;
mod asker;
mod authority;
mod denied;
mod grant;
mod key_text;
mod networks;
mod quota;
mod requirement;

pub use asker::{Asker, Reach};
pub use authority::Authority;
pub use denied::PermissionError;
pub use grant::Grant;
pub use key_text::SecretMark;
pub use networks::{AllowedNetworks, MAX_NETWORKS};
pub use quota::{QuotaClass, Quotas};
pub use requirement::Access;

use serde::{Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};
use ulid::Ulid;

use crate::fields::{StringEnum, string_enum};
use crate::id::{ConnectorId, EmployeeId, IdentityProviderId, KeyId, OrganizationId};
use crate::schema::{array, inline_schema, open};
use crate::time::Timestamp;

/// One of the two data sets of an organization (decision B6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Environment {
    /// The organization's real data.
    Live,
    /// Data for trials, separate from the live data.
    Test,
}

string_enum!(Environment, "Environment");

/// The owner of stored data: an organization in one environment. Every read and write names a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct Tenant {
    pub organization: OrganizationId,
    pub environment: Environment,
}

/// The bit of a tenant's bytes that marks the test data set. The highest bit of a ULID is clear until the year
/// 6429.
const TEST_BIT: u128 = 1 << 127;

impl Tenant {
    /// Returns the tenant of an organization's live data set.
    #[must_use]
    pub const fn live(organization: OrganizationId) -> Self {
        Self { organization, environment: Environment::Live }
    }

    /// Returns the 16 bytes that every primary key of a tenant's tables starts with.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        let bits = self.organization.ulid().0;
        match self.environment {
            Environment::Live => bits.to_be_bytes(),
            Environment::Test => (bits | TEST_BIT).to_be_bytes(),
        }
    }

    /// Reads a tenant from the bytes that [`Tenant::to_bytes`] returned.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        let bits = u128::from_be_bytes(bytes);
        let environment = if bits & TEST_BIT == 0 { Environment::Live } else { Environment::Test };
        Self { organization: OrganizationId::from_ulid(Ulid(bits & !TEST_BIT)), environment }
    }
}

/// A permission of an API key, which the contract calls a scope (decision B3). Write does not imply read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is named after its word")]
pub enum Permission {
    #[strum(to_string = "observations:read")]
    ObservationsRead,
    #[strum(to_string = "observations:write")]
    ObservationsWrite,
    #[strum(to_string = "objectives:read")]
    ObjectivesRead,
    #[strum(to_string = "objectives:write")]
    ObjectivesWrite,
    #[strum(to_string = "employees:read")]
    EmployeesRead,
    #[strum(to_string = "employees:write")]
    EmployeesWrite,
    #[strum(to_string = "webhooks:read")]
    WebhooksRead,
    #[strum(to_string = "webhooks:write")]
    WebhooksWrite,
    #[strum(to_string = "summaries:read")]
    SummariesRead,
    #[strum(to_string = "summaries:write")]
    SummariesWrite,
    #[strum(to_string = "conversations:read")]
    ConversationsRead,
    #[strum(to_string = "conversations:write")]
    ConversationsWrite,
    #[strum(to_string = "assignments:read")]
    AssignmentsRead,
    #[strum(to_string = "assignments:write")]
    AssignmentsWrite,
    #[strum(to_string = "notifications:read")]
    NotificationsRead,
    #[strum(to_string = "notifications:write")]
    NotificationsWrite,
    #[strum(to_string = "events:read")]
    EventsRead,
    #[strum(to_string = "audit:read")]
    AuditRead,
    #[strum(to_string = "settings:read")]
    SettingsRead,
    #[strum(to_string = "settings:write")]
    SettingsWrite,
    #[strum(to_string = "exports:read")]
    ExportsRead,
    #[strum(to_string = "scim")]
    Scim,
    #[strum(to_string = "employees:erase")]
    EmployeesErase,
}

string_enum!(Permission, "ApiKeyScope");

/// The scope that stands for every present and future scope.
pub const ALL_SCOPES: &str = "*";

/// The set of scopes of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions(u32);

impl Permissions {
    /// Every scope, including scopes that are added later.
    pub const ALL: Self = Self(u32::MAX);
    /// The empty set of scopes.
    pub const NONE: Self = Self(0);

    /// Returns the set with `scope` added.
    #[must_use]
    pub const fn with(self, scope: Permission) -> Self {
        Self(self.0 | 1 << scope as u8)
    }

    /// Returns `true` if the set has this scope.
    #[must_use]
    pub const fn has(self, scope: Permission) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// Returns `true` if this set has every scope of `other`.
    #[must_use]
    pub const fn cover(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Returns `true` if the set names the scope `scim` of identity providers. The set of all scopes does not count:
    /// only keys of connectors have `scim`, and they have no further scope.
    #[must_use]
    pub fn is_scim(self) -> bool {
        self != Self::ALL && self.has(Permission::Scim)
    }

    /// Returns the scopes as the API shows them: `*` alone for all.
    #[must_use]
    pub fn words(self) -> Vec<&'static str> {
        if self == Self::ALL {
            return vec![ALL_SCOPES];
        }
        Permission::ALL.iter().filter(|scope| self.has(**scope)).map(|scope| scope.word()).collect()
    }

    /// Reads a set of scopes, or returns `None` if one of the words is not a scope.
    #[must_use]
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        words.into_iter().try_fold(Self::NONE, |set, word| {
            if word == ALL_SCOPES {
                Some(Self::ALL)
            } else {
                Permission::from_word(word).ok().map(|scope| set.with(scope))
            }
        })
    }
}

inline_schema!(Permissions, "Permissions", |generator| array(&open(generator, Permission::NAME)));

impl Serialize for Permissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.words())
    }
}

/// The level of a key. Requests for settings need the level `admin` in addition to their scope (decision B4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum AccessLevel {
    /// A key for the application's everyday requests.
    Standard,
    /// A key that may also manage keys, connectors, settings and shared data.
    Admin,
}

string_enum!(AccessLevel, "AccessLevel");

/// The API key or bearer token that authenticated a request, with its rights at the time of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct Caller {
    /// The data set that the request reads and writes.
    pub tenant: Tenant,
    pub key: KeyId,
    /// The name of the key.
    pub name: String,
    pub scopes: Permissions,
    /// The level of the key itself, whatever the role of its person.
    pub level: AccessLevel,
    /// The person that a bound key acts for, or `None` for a key of the organization.
    pub person: Option<BoundPerson>,
    /// The connector of a key with the scope `scim`, `None` for all other keys. The key of a connector serves SCIM
    /// requests and `GET /me` only.
    pub connector: Option<ConnectorId>,
    /// The identity provider whose bearer token authenticated the request instead of an API key (decision B11). `key`
    /// is then an id of the account at the provider. `None` for a request with an API key.
    pub identity_provider: Option<IdentityProviderId>,
    /// The session that the key ends with: itself, or the session that created it (decision B10). `None` without one.
    pub session: Option<KeyId>,
    /// Expiry time of the key, or `None` if it does not expire.
    pub expires_at: Option<Timestamp>,
    /// Networks from which the key can be used. Those of each key that it creates lie inside them.
    pub allowed_networks: AllowedNetworks,
    /// The secret or bearer token of the request. `None` until it is known.
    pub secret: Option<SecretMark>,
    /// `true` for the previous secret of a key, which neither rotates it nor gets what another secret made (decision B7).
    pub has_previous_secret: bool,
    pub quotas: Quotas,
}

/// Kinds of admin context that requests need in addition to a scope (decision B5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminContext {
    /// Data that shapes the organization: departments, attributes, org objectives, the audit log.
    Data,
    /// API keys, connectors and settings.
    Settings,
    /// Writes to people, for keys of the organization at any level and for keys that act for an org admin.
    People,
    /// Operations on whole data sets, for admin-level keys that act for no person.
    Organization,
}

/// The person that a key acts for (decision B5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct BoundPerson {
    pub id: EmployeeId,
    /// `true` if the person's role is `org_admin`.
    pub is_org_admin: bool,
}

impl Caller {
    /// Requires a scope.
    ///
    /// # Errors
    /// [`PermissionError::MissingScope`].
    pub const fn require(&self, scope: Permission) -> Result<(), PermissionError> {
        if self.scopes.has(scope) { Ok(()) } else { Err(PermissionError::MissingScope(scope)) }
    }

    /// Returns `true` in admin context for data (decision B5). The role of a bound key's person decides, whatever
    /// the level of the key; a key of the organization needs admin level.
    #[must_use]
    pub fn is_data_admin(&self) -> bool {
        self.person.map_or(self.level == AccessLevel::Admin, |person| person.is_org_admin)
    }

    /// Requires admin context of this kind.
    ///
    /// # Errors
    /// [`PermissionError::AdminRequired`], [`PermissionError::AdminKeyRequired`],
    /// [`PermissionError::ActsForPerson`], [`PermissionError::OrganizationKeyRequired`].
    pub fn require_admin(&self, context: AdminContext) -> Result<(), PermissionError> {
        let (has, denied) = match context {
            AdminContext::Data => (self.is_data_admin(), PermissionError::AdminRequired),
            AdminContext::Settings => (self.level == AccessLevel::Admin, PermissionError::AdminKeyRequired),
            AdminContext::People => {
                (self.person.is_none() || self.is_data_admin(), PermissionError::ActsForPerson)
            }
            AdminContext::Organization => (
                self.person.is_none() && self.level == AccessLevel::Admin,
                PermissionError::OrganizationKeyRequired,
            ),
        };
        if has { Ok(()) } else { Err(denied) }
    }

    /// Requires the test environment.
    ///
    /// # Errors
    /// [`PermissionError::LiveKey`].
    pub fn require_test(&self) -> Result<(), PermissionError> {
        if self.tenant.environment == Environment::Test { Ok(()) } else { Err(PermissionError::LiveKey) }
    }

    /// Requires the live environment.
    ///
    /// # Errors
    /// [`PermissionError::TestKey`].
    pub fn require_live(&self) -> Result<(), PermissionError> {
        if self.tenant.environment == Environment::Live { Ok(()) } else { Err(PermissionError::TestKey) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    impl Caller {
        /// Returns the caller with a key of this level.
        pub(crate) fn with_level(self, level: AccessLevel) -> Self {
            Self { level, ..self }
        }
    }

    /// Creates a caller with every scope and a key of the organization.
    pub(crate) fn unbound(level: AccessLevel) -> Caller {
        Caller {
            tenant: Tenant::live(OrganizationId::from_ulid(Ulid(1))),
            key: KeyId::from_ulid(Ulid(2)),
            name: "Test".to_owned(),
            scopes: Permissions::ALL,
            level,
            person: None,
            connector: None,
            identity_provider: None,
            session: None,
            expires_at: None,
            allowed_networks: AllowedNetworks::EVERYWHERE,
            secret: None,
            has_previous_secret: false,
            quotas: Quotas::DEFAULT,
        }
    }

    /// Creates a caller with every scope and a standard key that acts for this person.
    pub(crate) fn bound_caller(id: EmployeeId, is_org_admin: bool) -> Caller {
        Caller { person: Some(BoundPerson { id, is_org_admin }), ..unbound(AccessLevel::Standard) }
    }

    #[test]
    fn tenant_survives_a_round_trip_through_its_bytes() {
        let organization = OrganizationId::from_ulid(Ulid(0x0123_4567 << 90 | 77));
        for environment in [Environment::Live, Environment::Test] {
            let tenant = Tenant { organization, environment };
            assert_eq!(Tenant::from_bytes(tenant.to_bytes()), tenant);
        }
    }

    #[test]
    fn organization_context_needs_an_unbound_admin_key() {
        let person = EmployeeId::from_ulid(Ulid(3));
        let expected_error = Err(PermissionError::OrganizationKeyRequired);
        for (caller, wanted) in [
            (unbound(AccessLevel::Admin), Ok(())),
            (unbound(AccessLevel::Standard), expected_error),
            (bound_caller(person, true), expected_error),
            (bound_caller(person, true).with_level(AccessLevel::Admin), expected_error),
        ] {
            assert_eq!(caller.require_admin(AdminContext::Organization), wanted, "{caller:?}");
        }
    }

    #[test]
    fn write_does_not_imply_read() {
        let scopes = Permissions::NONE.with(Permission::ObservationsWrite);
        assert!(scopes.has(Permission::ObservationsWrite));
        assert!(!scopes.has(Permission::ObservationsRead));
        assert!(Permissions::ALL.cover(scopes) && !scopes.cover(Permissions::ALL));
    }

    #[test]
    fn every_scope_is_read_from_its_word() {
        for scope in Permission::ALL {
            let set = Permissions::from_words([scope.word()]).unwrap();
            assert_eq!((set.has(*scope), set.words()), (true, vec![scope.word()]));
        }
        assert_eq!(Permissions::from_words(["*"]), Some(Permissions::ALL));
        assert_eq!(Permissions::from_words(["observations"]), None);
    }
}
