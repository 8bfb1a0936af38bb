//! The SCIM form of a stored person.

use candor_domain::json::{Object, Value};
use candor_domain::people::{Custom, Employee, Status};
use candor_domain::time::Timestamp;
use candor_scim::{CORE, CustomMapping, PatchOperation, ScimError, ScimPath, UserDocument, main_address};

/// A person as stored, with the data of the connector about them.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "fields of the stored person")]
pub struct StoredUser<'a> {
    pub employee: &'a Employee,
    /// Name by which the identity provider knows the person. `None` if the connector has no data about the person.
    pub user_name: Option<&'a str>,
    pub external_id: Option<&'a str>,
    /// Reference to a manager who does not exist yet.
    pub manager_ref: Option<&'a str>,
    pub extra: UserDocument,
    /// Name of the person's department.
    pub department: Option<&'a str>,
    pub mappings: &'a [CustomMapping],
    /// URL of the SCIM service.
    pub base: &'a str,
}

/// Data about a resource that the service sets.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "members of RFC 7643 §3.1")]
pub struct Meta<'a> {
    pub created: Timestamp,
    pub last_modified: Timestamp,
    /// Entity tag of the person.
    pub version: &'a str,
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn path(text: &str) -> Option<ScimPath> {
    ScimPath::parse(text).ok()
}

impl StoredUser<'_> {
    /// Returns the attributes of the person.
    #[must_use]
    pub fn document(&self) -> UserDocument {
        let Self { employee, extra, .. } = self;
        let mut document = extra.clone();
        let user_name = self.user_name.unwrap_or(&employee.email);
        document.set_core("userName", text(user_name));
        if let Some(external_id) = self.external_id {
            document.set_core("externalId", text(external_id));
        }
        for (name, value) in [("name.givenName", &employee.first_name), ("name.familyName", &employee.last_name)] {
            if let Some(path) = path(name) {
                document.put(&path, text(value));
            }
        }
        if let Some(title) = &employee.job_title {
            document.set_core("title", text(title));
        }
        document.set_core("active", Value::Bool(employee.status != Status::Deactivated));
        self.set_emails(&mut document);
        if let (None, Some(department)) = (document.enterprise("department"), self.department) {
            document.set_enterprise("department", text(department));
        }
        self.set_manager(&mut document);
        for mapping in self.mappings {
            if let Some(value) = employee.custom_fields.0.get(&mapping.key) {
                let value = match value {
                    Custom::Flag(flag) => Value::Bool(*flag),
                    Custom::Number(number) => Value::Number(number.clone().into()),
                    Custom::Text(value) => text(value),
                };
                document.put(&mapping.path, value);
            }
        }
        document
    }

    /// Returns the document after the operations of a PATCH. It has `active` only if an operation sets `active`: the
    /// stored value of a pending person is `true`, and would accept their invitation.
    ///
    /// # Errors
    /// The error of the first operation that is refused.
    pub fn apply_operations(&self, operations: &[PatchOperation]) -> Result<UserDocument, ScimError> {
        self.document().without_attributes(&["active"], &[]).apply(operations)
    }

    /// Makes the main entry of `emails` state the stored address. A linked person without `emails` has the address
    /// of the user name.
    fn set_emails(&self, document: &mut UserDocument) {
        let email = &self.employee.email;
        let Some(Value::List(mut emails)) = document.core("emails").cloned() else {
            if self.user_name.is_none() {
                document.set_core("emails", derived_emails(email));
            }
            return;
        };
        let Some((at, address)) = main_address(&emails) else { return };
        if self.employee.has_mailbox(address.trim()) {
            return;
        }
        if let Some(Value::Object(entry)) = emails.get_mut(at) {
            entry.set("value", text(email));
            document.set_core("emails", Value::List(emails));
        }
    }

    /// Adds the stored manager, unless the manager that the provider sent is not applied yet.
    fn set_manager(&self, document: &mut UserDocument) {
        if document.enterprise("manager").is_some() {
            return;
        }
        if let Some(pending) = self.manager_ref {
            document.set_enterprise("manager", Value::Object([("value".to_owned(), text(pending))].into()));
            return;
        }
        let Some(id) = self.employee.manager_id else { return };
        let url = format!("{}/Users/{id}", self.base);
        let manager = [("value".to_owned(), text(&id.to_string())), ("$ref".to_owned(), text(&url))];
        document.set_enterprise("manager", Value::Object(manager.into()));
    }

    /// Returns the resource as an identity provider sees it.
    #[must_use]
    pub fn resource(&self, meta: &Meta<'_>) -> Object {
        let mut document = self.document();
        if document.core("emails").is_none() {
            document.set_core("emails", derived_emails(&self.employee.email));
        }
        let id = self.employee.id.to_string();
        let urns = std::iter::once(CORE).chain(document.extension_urns());
        let mut resource = Object::new();
        resource.push("schemas", Value::List(urns.map(text).collect()));
        resource.push("id", text(&id));
        resource.extend(document.to_object());
        let location = format!("{}/Users/{id}", self.base);
        let meta = [
            ("resourceType".to_owned(), text("User")),
            ("created".to_owned(), text(&meta.created.to_string())),
            ("lastModified".to_owned(), text(&meta.last_modified.to_string())),
            ("location".to_owned(), text(&location)),
            ("version".to_owned(), text(meta.version)),
        ];
        resource.push("meta", Value::Object(meta.into()));
        resource
    }
}

fn derived_emails(email: &str) -> Value {
    let entry = [
        ("value".to_owned(), text(email)),
        ("type".to_owned(), text("work")),
        ("primary".to_owned(), Value::Bool(true)),
    ];
    Value::List(vec![Value::Object(entry.into())])
}
