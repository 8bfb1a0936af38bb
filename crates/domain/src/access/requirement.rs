//! The callers that an operation admits (§5, decisions B5, B6).

use super::{AdminContext, Caller, Environment, Permission, PermissionError};

/// The key that an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    /// No key: the operation is public.
    None,
    /// Any valid key, whatever its scopes are.
    Any,
    /// Any valid key but that of a connector, whatever its scopes are.
    AnyReader,
    /// A key with the read scope of each type of resource that the request names. The use case checks these
    /// scopes.
    ReadsTypes,
    /// A key with this scope.
    Scope(Permission),
    /// The key of a connector.
    Connector,
}

/// The callers that an operation admits.
///
/// An operation selects callers by kind of key, scope, admin context, environment, and the need to see the whole data
/// set.
///
/// ```
/// use candor_domain::access::{Access, AdminContext, Permission};
///
/// const ACCESS: Access = Access::data_admin(Permission::SettingsWrite).live_only();
///
/// assert_eq!(ACCESS.required_scope(), Some(Permission::SettingsWrite));
/// assert_eq!(ACCESS.admin_context(), Some(AdminContext::Data));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    key: Key,
    admin_context: Option<AdminContext>,
    environment: Option<Environment>,
    needs_full_sight: bool,
    other_scope: Option<Permission>,
}

impl Access {
    /// Every client, without a key.
    pub const PUBLIC: Self = Self::new(Key::None, None);
    /// Every valid key, whatever its scopes are.
    pub const ANY_KEY: Self = Self::new(Key::Any, None);
    /// Every valid key but those of connectors, whatever its scopes are. The response has what the key may read.
    pub const ANY_READER: Self = Self::new(Key::AnyReader, None);
    /// Keys with the read scope of each type of resource that the request names. The use case checks the scopes.
    pub const READS_TYPES: Self = Self::new(Key::ReadsTypes, None);

    /// Keys of a connector, for SCIM requests.
    pub const SCIM: Self = Self::new(Key::Connector, None);

    const fn new(key: Key, admin_context: Option<AdminContext>) -> Self {
        Self { key, admin_context, environment: None, needs_full_sight: false, other_scope: None }
    }

    /// Keys with this scope.
    #[must_use]
    pub const fn scope(scope: Permission) -> Self {
        Self::new(Key::Scope(scope), None)
    }

    /// Keys with this scope in admin context for data.
    #[must_use]
    pub const fn data_admin(scope: Permission) -> Self {
        Self::new(Key::Scope(scope), Some(AdminContext::Data))
    }

    /// Keys with this scope whose own level is admin, for keys, connectors and settings.
    #[must_use]
    pub const fn settings_admin(scope: Permission) -> Self {
        Self::new(Key::Scope(scope), Some(AdminContext::Settings))
    }

    /// Admin-level keys with this scope that act for no person, for operations on the whole data set.
    #[must_use]
    pub const fn organization_admin(scope: Permission) -> Self {
        Self::new(Key::Scope(scope), Some(AdminContext::Organization))
    }

    /// Keys that have this scope and act for no person, or for an org admin: only these keys may write to people.
    #[must_use]
    pub const fn people_writer(scope: Permission) -> Self {
        Self::new(Key::Scope(scope), Some(AdminContext::People))
    }

    /// Also admits keys that have this scope instead of the required one.
    #[must_use]
    pub const fn or_scope(self, scope: Permission) -> Self {
        Self { other_scope: Some(scope), ..self }
    }

    /// Refuses test keys (decision B6).
    #[must_use]
    pub const fn live_only(self) -> Self {
        Self { environment: Some(Environment::Live), ..self }
    }

    /// Refuses live keys (decision B6).
    #[must_use]
    pub const fn test_only(self) -> Self {
        Self { environment: Some(Environment::Test), ..self }
    }

    /// Refuses keys that act for a person who is not an org admin. The operation shows or sends data that such a
    /// key must not see (decision B5).
    #[must_use]
    pub const fn full_sight(self) -> Self {
        Self { needs_full_sight: true, ..self }
    }

    /// Returns `true` if no key is needed.
    #[must_use]
    pub const fn is_public(&self) -> bool {
        matches!(self.key, Key::None)
    }

    /// Returns `true` if the scopes depend on the types of resources that the request names.
    #[must_use]
    pub const fn reads_types(&self) -> bool {
        matches!(self.key, Key::ReadsTypes)
    }

    /// Returns the scope that a request needs; `None` if no fixed scope is required. A key may have
    /// [`Access::other_scope`] instead.
    #[must_use]
    pub const fn required_scope(&self) -> Option<Permission> {
        match self.key {
            Key::None | Key::Any | Key::AnyReader | Key::ReadsTypes => None,
            Key::Scope(scope) => Some(scope),
            Key::Connector => Some(Permission::Scim),
        }
    }

    /// Returns the scope that a key may have instead of the required one; `None` if there is no such scope.
    #[must_use]
    pub const fn other_scope(&self) -> Option<Permission> {
        self.other_scope
    }

    /// Returns the admin context that is required in addition to the scope; `None` if none is required. The
    /// context is checked after the fields of a request (decision A13).
    #[must_use]
    pub const fn admin_context(&self) -> Option<AdminContext> {
        self.admin_context
    }

    /// Returns `true` if a write of this operation can give access that lasts: it changes the rights of people or
    /// keys, subscriptions or settings, or makes a person a participant of a conversation, an assignment or a review.
    /// The caller of such a write is read from the store, so that a caller who has just lost rights cannot get them
    /// back by the write (decision B4). All other writes change contents alone.
    #[must_use]
    pub const fn gives_access(&self) -> bool {
        let has_contents_only = matches!(
            self.key,
            Key::Scope(
                Permission::ObservationsWrite | Permission::ObjectivesWrite | Permission::NotificationsWrite
            ) | Key::None
        );
        self.admin_context.is_some() || !has_contents_only
    }

    /// Returns `true` if the caller of a write of this operation is read from the store.
    ///
    /// This is needed for an operation that [gives access](Self::gives_access). For a key that acts for an org admin,
    /// it is needed for each write, because the role opens objectives of the organization and hidden observations
    /// (decision B4).
    #[must_use]
    pub fn needs_fresh_caller(&self, caller: &Caller) -> bool {
        self.gives_access() || caller.person.is_some_and(|person| person.is_org_admin)
    }

    /// Returns the only environment whose keys are admitted; `None` if keys of both environments are admitted.
    #[must_use]
    pub const fn environment(&self) -> Option<Environment> {
        self.environment
    }

    /// Returns `true` if keys that act for a person who is no org admin are refused.
    #[must_use]
    pub const fn needs_full_sight(&self) -> bool {
        self.needs_full_sight
    }

    /// Checks the kind of the caller's key, the environment, the scope, and the need to see the whole data set, in
    /// this order (decision A13).
    ///
    /// The admin context is checked later, by [`Caller::require_admin`].
    ///
    /// # Errors
    /// [`PermissionError::ConnectorKey`], [`PermissionError::NoConnectorKey`],
    /// [`PermissionError::TestKey`], [`PermissionError::LiveKey`], [`PermissionError::MissingScope`],
    /// [`PermissionError::ActsForPerson`].
    pub fn admit(&self, caller: &Caller) -> Result<(), PermissionError> {
        match (self.key, caller.connector) {
            (Key::Scope(_) | Key::AnyReader | Key::ReadsTypes, Some(_)) => {
                return Err(PermissionError::ConnectorKey);
            }
            (Key::Connector, None) => return Err(PermissionError::NoConnectorKey),
            (Key::None | Key::Any, _)
            | (Key::Connector, Some(_))
            | (Key::Scope(_) | Key::AnyReader | Key::ReadsTypes, None) => {}
        }
        match self.environment {
            Some(Environment::Live) => caller.require_live()?,
            Some(Environment::Test) => caller.require_test()?,
            None => {}
        }
        let has_other = self.other_scope.is_some_and(|scope| caller.require(scope).is_ok());
        if let Some(scope) = self.required_scope().filter(|_| !has_other) {
            caller.require(scope)?;
        }
        if self.needs_full_sight { caller.require_full_sight() } else { Ok(()) }
    }

    /// Checks all requirements that do not depend on the request: the requirements of [`Access::admit`], then the
    /// admin context.
    ///
    /// # Errors
    /// The errors of [`Access::admit`] and [`Caller::require_admin`].
    pub fn check(&self, caller: &Caller) -> Result<(), PermissionError> {
        self.admit(caller)?;
        self.admin_context().map_or(Ok(()), |context| caller.require_admin(context))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::unbound;
    use super::super::{AccessLevel, BoundPerson};
    use super::*;
    use crate::access::Permissions;
    use crate::id::EmployeeId;
    use ulid::Ulid;

    const SCOPE: Permission = Permission::EventsRead;

    fn key(scopes: Permissions, environment: Environment, is_bound: bool) -> Caller {
        let mut caller = unbound(AccessLevel::Standard);
        caller.scopes = scopes;
        caller.tenant.environment = environment;
        caller.person = is_bound.then(|| BoundPerson { id: EmployeeId::from_ulid(Ulid(7)), is_org_admin: false });
        caller
    }

    #[test]
    fn writes_of_contents_alone_give_no_access() {
        for (access, gives) in [
            (Access::scope(Permission::ObservationsWrite), false),
            (Access::data_admin(Permission::ObservationsWrite), true),
            (Access::scope(Permission::ObjectivesWrite), false),
            (Access::scope(Permission::NotificationsWrite), false),
            (Access::scope(Permission::WebhooksWrite).full_sight(), true),
            (Access::scope(Permission::ConversationsWrite), true),
            (Access::scope(Permission::AssignmentsWrite), true),
            (Access::settings_admin(Permission::SettingsWrite), true),
            (Access::people_writer(Permission::EmployeesWrite), true),
            (Access::SCIM, true),
            (Access::PUBLIC, false),
        ] {
            assert_eq!(access.gives_access(), gives, "{access:?}");
        }
    }

    #[test]
    fn org_admin_is_read_anew_for_each_write() {
        let contents = Access::scope(Permission::ObjectivesWrite);
        for (person, is_org_admin, fresh) in [(None, false, false), (Some(7), false, false), (Some(7), true, true)]
        {
            let mut caller = unbound(AccessLevel::Standard);
            caller.person = person.map(|id| BoundPerson { id: EmployeeId::from_ulid(Ulid(id)), is_org_admin });
            assert_eq!(contents.needs_fresh_caller(&caller), fresh, "{person:?} {is_org_admin}");
            assert!(Access::SCIM.needs_fresh_caller(&caller));
        }
    }

    #[test]
    fn access_is_refused_by_environment_then_scope_then_sight() {
        let access = Access::scope(SCOPE).live_only().full_sight();
        let permissions = Permissions::NONE.with(SCOPE);
        for (caller, refused) in [
            (key(Permissions::NONE, Environment::Test, true), Some(PermissionError::TestKey)),
            (key(Permissions::NONE, Environment::Live, true), Some(PermissionError::MissingScope(SCOPE))),
            (key(permissions, Environment::Live, true), Some(PermissionError::ActsForPerson)),
            (key(permissions, Environment::Live, false), None),
        ] {
            assert_eq!(access.admit(&caller).err(), refused, "{caller:?}");
        }
        let live = key(permissions, Environment::Live, false);
        assert_eq!(Access::scope(SCOPE).test_only().admit(&live), Err(PermissionError::LiveKey));
    }

    #[test]
    fn key_of_a_connector_is_admitted_to_scim_and_me_only() {
        let plain = key(Permissions::ALL, Environment::Test, false);
        let scopes = Permissions::NONE.with(Permission::Scim);
        let connector = Some(crate::id::ConnectorId::from_ulid(Ulid(8)));
        let of_connector = Caller { connector, ..key(scopes, Environment::Test, false) };
        let connector_refusal = Err(PermissionError::ConnectorKey);
        for (access, connectors, others) in [
            (Access::SCIM, Ok(()), Err(PermissionError::NoConnectorKey)),
            (Access::ANY_KEY, Ok(()), Ok(())),
            (Access::PUBLIC, Ok(()), Ok(())),
            (Access::ANY_READER, connector_refusal, Ok(())),
            (Access::READS_TYPES, connector_refusal, Ok(())),
            (Access::scope(SCOPE), connector_refusal, Ok(())),
            (Access::settings_admin(SCOPE).live_only(), connector_refusal, Err(PermissionError::TestKey)),
        ] {
            assert_eq!(access.admit(&of_connector), connectors, "{access:?}");
            assert_eq!(access.admit(&plain), others, "{access:?}");
        }
    }

    #[test]
    fn access_without_a_scope_admits_every_key() {
        let weakest = key(Permissions::NONE, Environment::Test, true);
        for access in [Access::PUBLIC, Access::ANY_KEY, Access::ANY_READER, Access::READS_TYPES] {
            assert_eq!(access.admit(&weakest), Ok(()), "{access:?}");
        }
        assert!(Access::PUBLIC.is_public() && !Access::ANY_KEY.is_public());
    }
}
