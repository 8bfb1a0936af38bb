//! Unique values.

/// A value that one resource of a tenant can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unique {
    /// A person's address, without case.
    EmployeeEmail,
    /// A person's id in another system.
    EmployeeExternalId,
    /// A department's name, without case.
    DepartmentName,
    /// An attribute's name, without case.
    AttributeName,
    /// The id of a new resource.
    Id,
}
