//! The paths of the SCIM service, and the answers that need no stored data.

use actix_web::http::Method;

use super::{document, list, no_such_path, not_implemented, resource_types, schemas, service_provider_config};
use crate::response::Answer;

/// A path of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Endpoint {
    Users,
    User(String),
    ServiceProviderConfig,
    ResourceTypes,
    ResourceType(String),
    Schemas,
    Schema(String),
    Groups,
    Group,
    /// `/Me`, `/Bulk` and `.search`.
    Unsupported,
    Unknown,
}

impl Endpoint {
    /// Finds the endpoint of a path below the base. A trailing slash is ignored.
    pub(super) fn find(path: &str) -> Self {
        let path = path.trim_matches('/').replace("%3A", ":").replace("%3a", ":");
        let (first, rest) =
            path.split_once('/').map_or((path.as_str(), None), |(first, rest)| (first, Some(rest)));
        let rest = rest.filter(|rest| !rest.is_empty());
        if first == ".search" || rest.is_some_and(|rest| rest == ".search") {
            return Self::Unsupported;
        }
        if rest.is_some_and(|rest| rest.contains('/')) {
            return Self::Unknown;
        }
        match (first, rest.map(str::to_owned)) {
            ("Users", None) => Self::Users,
            ("Users", Some(id)) => Self::User(id),
            ("ServiceProviderConfig" | "ServiceProviderConfigs", None) => Self::ServiceProviderConfig,
            ("ResourceTypes", None) => Self::ResourceTypes,
            ("ResourceTypes", Some(name)) => Self::ResourceType(name),
            ("Schemas", None) => Self::Schemas,
            ("Schemas", Some(urn)) => Self::Schema(urn),
            ("Groups", None) => Self::Groups,
            ("Groups", Some(_)) => Self::Group,
            ("Me" | "Bulk", _) => Self::Unsupported,
            _ => Self::Unknown,
        }
    }

    /// Returns the pattern of the path for logs and metrics.
    pub(super) const fn pattern(&self) -> &'static str {
        match self {
            Self::Users => "/scim/v2/Users",
            Self::User(_) => "/scim/v2/Users/{id}",
            Self::ServiceProviderConfig => "/scim/v2/ServiceProviderConfig",
            Self::ResourceTypes => "/scim/v2/ResourceTypes",
            Self::ResourceType(_) => "/scim/v2/ResourceTypes/{id}",
            Self::Schemas => "/scim/v2/Schemas",
            Self::Schema(_) => "/scim/v2/Schemas/{id}",
            Self::Groups => "/scim/v2/Groups",
            Self::Group => "/scim/v2/Groups/{id}",
            Self::Unsupported | Self::Unknown => "/scim/v2",
        }
    }

    /// Returns the name of the operation for traces.
    pub(super) fn operation(&self, method: &Method) -> &'static str {
        match (self, method.as_str()) {
            (Self::Users, "POST") => "scim.create_user",
            (Self::Users, _) => "scim.list_users",
            (Self::User(_), "PUT") => "scim.replace_user",
            (Self::User(_), "PATCH") => "scim.patch_user",
            (Self::User(_), "DELETE") => "scim.remove_user",
            (Self::User(_), _) => "scim.get_user",
            (
                Self::ServiceProviderConfig
                | Self::ResourceTypes
                | Self::ResourceType(_)
                | Self::Schemas
                | Self::Schema(_)
                | Self::Groups
                | Self::Group
                | Self::Unsupported
                | Self::Unknown,
                _,
            ) => "scim.discover",
        }
    }

    pub(super) const fn is_of_users(&self) -> bool {
        matches!(self, Self::Users | Self::User(_))
    }

    /// Returns the methods of the endpoint, for `Allow`, if the endpoint does not support this method.
    pub(super) fn refused_method(&self, method: &Method) -> Option<&'static str> {
        let is_read = method == Method::GET || method == Method::HEAD;
        let (allow, is_known) = match self {
            Self::Users => ("GET, HEAD, POST", is_read || method == Method::POST),
            Self::User(_) => (
                "GET, HEAD, PUT, PATCH, DELETE",
                is_read || [Method::PUT, Method::PATCH, Method::DELETE].contains(method),
            ),
            Self::ServiceProviderConfig
            | Self::ResourceTypes
            | Self::ResourceType(_)
            | Self::Schemas
            | Self::Schema(_) => ("GET, HEAD", is_read),
            Self::Groups | Self::Group | Self::Unsupported | Self::Unknown => ("", true),
        };
        (!is_known).then_some(allow)
    }

    /// Returns the answer of an endpoint without stored data.
    pub(super) fn discovery(&self, base: &str, method: &Method) -> Option<Answer> {
        let by_id = |all: Vec<serde_json::Value>, id: &str| all.into_iter().find(|one| one["id"] == id);
        let is_read = method == Method::GET || method == Method::HEAD;
        Some(match self {
            Self::ServiceProviderConfig => document(&service_provider_config(base)),
            Self::ResourceTypes => document(&list(resource_types(base))),
            Self::ResourceType(name) => document(&by_id(resource_types(base), name)?),
            Self::Schemas => document(&list(schemas(base))),
            Self::Schema(urn) => document(&by_id(schemas(base), urn)?),
            Self::Groups if is_read => document(&list(vec![])),
            Self::Group if is_read => return None,
            Self::Groups | Self::Group => {
                not_implemented("Groups are not supported. Map the department attribute of users instead.")
            }
            Self::Unsupported => not_implemented("This endpoint is not supported. Use /Users."),
            Self::Unknown => no_such_path(base),
            Self::Users | Self::User(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_found_with_and_without_trailing_slash() {
        let user = "emp_1".to_owned();
        let urn = candor_domain::scim::CORE;
        let path_below = |rest: &str| format!("/Users{rest}");
        let table = [
            ("/Users", Endpoint::Users),
            (&path_below("/"), Endpoint::Users),
            (&path_below("/emp_1"), Endpoint::User(user.clone())),
            (&path_below("/emp_1/"), Endpoint::User(user)),
            (&path_below("/emp_1/x"), Endpoint::Unknown),
            (&path_below("/.search"), Endpoint::Unsupported),
            ("/.search", Endpoint::Unsupported),
            ("/Me", Endpoint::Unsupported),
            ("/Bulk", Endpoint::Unsupported),
            ("/Groups/1", Endpoint::Group),
            ("/users", Endpoint::Unknown),
            ("", Endpoint::Unknown),
            (&format!("/Schemas/{urn}"), Endpoint::Schema(urn.to_owned())),
            (&format!("/Schemas/{}", urn.replace(':', "%3A")), Endpoint::Schema(urn.to_owned())),
        ];
        for (path, endpoint) in table {
            assert_eq!(Endpoint::find(path), endpoint, "{path}");
        }
    }
}
