//! Unique constraints.

/// A value that must be unique within a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unique {
    /// Email address of a person, case-insensitive.
    EmployeeEmail,
    /// Id of a person in another system.
    EmployeeExternalId,
    /// Id of an observation in another system.
    ObservationExternalId,
    /// Id of an objective in another system.
    ObjectiveExternalId,
    /// Id of a summary in another system.
    SummaryExternalId,
    /// Id of an assignment in another system.
    AssignmentExternalId,
    /// Name of a department, case-insensitive.
    DepartmentName,
    /// Name of an attribute, case-insensitive.
    AttributeName,
    /// `userName` of a person at a connector, case-insensitive.
    ScimUserName,
    /// `externalId` of a person at a connector.
    ScimExternalId,
    /// Person with an account at an identity provider.
    IdentityLinkPerson,
    /// Open issue of a connector.
    OpenIssue,
    /// Id of a new resource.
    Id,
}
