//! Reads the values of an employee from a SCIM user.

use candor_domain::catalog::department;
use candor_domain::external_id::EXTERNAL_ID_CHARS;
use candor_domain::id::EmployeeId;
use candor_domain::json::{Object, Value};
use candor_domain::people::Employee;
use candor_domain::text::{self, address_key, check_length};
use candor_scim::{CustomMapping, ScimError, ScimPath, ScimSchema, UserDocument, main_address, manager_text};

/// Maximum size of the attributes of a user that Candor keeps as sent, because it does not model them, in bytes of
/// JSON.
pub const MAX_EXTRA_BYTES: usize = 16 * 1024;
/// Length of the longest user name, in characters.
const USER_NAME_CHARS: usize = 254;
/// Length of the longest reference to a manager, in characters.
const MANAGER_CHARS: usize = 254;

/// A reference to a manager: an id, else the external id of a person of the connector, else an e-mail address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerReference(String);

impl ManagerReference {
    /// Creates a reference from the text that an identity provider sent.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the reference as sent.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the id, if the reference is one.
    #[must_use]
    pub fn id(&self) -> Option<EmployeeId> {
        self.0.parse().ok()
    }

    /// Returns the person that the reference names if it is no id: the person with this `externalId` at the
    /// connector, else the person with this address.
    #[must_use]
    pub fn choose(linked: Option<EmployeeId>, addressed: Option<EmployeeId>) -> Option<EmployeeId> {
        linked.or(addressed)
    }

    /// Returns the key of the e-mail address that the reference may be.
    #[must_use]
    pub fn email_key(&self) -> String {
        address_key(&self.0)
    }
}

/// The values that a SCIM document states about a person. `None` means that the document does not have the attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct ScimUser {
    /// Name by which the identity provider knows the person, as sent.
    pub user_name: String,
    /// Id of the person at the identity provider.
    pub external_id: Option<String>,
    /// `false` if the person must be deactivated.
    pub active: Option<bool>,
    /// E-mail address of the person.
    pub email: String,
    /// First name of the person.
    pub first_name: String,
    /// Last name of the person.
    pub last_name: String,
    /// Job title of the person.
    pub job_title: Option<String>,
    /// Name of the department.
    pub department: Option<String>,
    /// Reference to the manager.
    pub manager: Option<ManagerReference>,
    /// Values of mapped custom fields; `None` for a field whose attribute is absent.
    pub custom_fields: Vec<(String, Option<Value>)>,
    /// Attributes that Candor keeps as sent, with department and manager.
    rest: UserDocument,
}

/// Returns the text of an attribute. Some identity providers send employee numbers as JSON numbers.
fn text_of(name: &str, value: Option<&Value>) -> Result<Option<String>, ScimError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(ScimError::value(format!("`{name}` must be a string, not {}.", other.kind()))),
    }
}

/// Returns the text of an attribute. Refuses a text with more than `chars` characters.
fn bounded_text(name: &str, value: Option<&Value>, chars: usize) -> Result<Option<String>, ScimError> {
    let text = text_of(name, value)?;
    if let Some(text) = &text {
        check_length(text, 1..=chars).map_err(|flaw| ScimError::value(format!("`{name}` {}.", flaw.message)))?;
    }
    Ok(text)
}

impl ScimUser {
    /// Reads a document. `stored` is the person that it is about, if they exist.
    ///
    /// # Errors
    /// `invalidValue` for missing or invalid values, and for more than [`MAX_EXTRA_BYTES`] of other attributes.
    pub fn read(
        document: &UserDocument,
        mappings: &[CustomMapping],
        stored: Option<&Employee>,
    ) -> Result<Self, ScimError> {
        let user_name = bounded_text("userName", document.core("userName"), USER_NAME_CHARS)?
            .ok_or_else(|| ScimError::value("`userName` is required."))?;
        let external_id = bounded_text("externalId", document.core("externalId"), EXTERNAL_ID_CHARS)?;
        let active = match document.core("active") {
            None => None,
            Some(Value::Bool(active)) => Some(*active),
            Some(_) => return Err(ScimError::value("`active` must be true or false.")),
        };
        let email = address(document, &user_name, stored)?;
        let (first_name, last_name) = names(document, &user_name, stored)?;
        let job_title = text_of("title", document.core("title"))?;
        let department = bounded_text("department", document.enterprise("department"), department::NAME_CHARS)?;
        let manager = document.enterprise("manager").and_then(manager_text);
        let manager = manager.map(Value::Text);
        let manager = bounded_text("manager", manager.as_ref(), MANAGER_CHARS)?.map(ManagerReference::new);
        let custom_fields = custom_fields(document, mappings)?;
        let rest = rest(document, mappings);
        let user = Self {
            user_name,
            external_id,
            active,
            email,
            first_name,
            last_name,
            job_title,
            department,
            manager,
            custom_fields,
            rest,
        };
        user.check_rest()?;
        Ok(user)
    }

    /// Checks the attributes that are kept as sent. PostgreSQL cannot store U+0000.
    fn check_rest(&self) -> Result<(), ScimError> {
        if has_nul(&Value::Object(self.rest.to_object())) {
            return Err(ScimError::value("Texts must not have the character U+0000."));
        }
        // The size of the text that is stored: a number may have been sent with any number of zeros.
        let stored_text = serde_json::to_string(&self.rest.to_object());
        let size = stored_text.map_or(usize::MAX, |text| text.len());
        if size <= MAX_EXTRA_BYTES {
            return Ok(());
        }
        let detail = format!(
            "Attributes that Candor keeps as sent have {size} bytes of JSON. Send at most {MAX_EXTRA_BYTES} bytes."
        );
        Err(ScimError::value(detail))
    }

    /// Returns the attributes that are kept as sent. Department and manager are among them only while they cannot
    /// be applied.
    #[must_use]
    pub fn extra(&self, is_department_pending: bool, is_manager_pending: bool) -> UserDocument {
        let mut dropped_paths = Vec::new();
        if !is_department_pending {
            dropped_paths.push("department");
        }
        if !is_manager_pending {
            dropped_paths.push("manager");
        }
        self.rest.clone().without_attributes(&[], &dropped_paths)
    }

    /// Returns the members of an employee that the document states, as the body of a creation or update. A missing
    /// title and missing mapped fields are null if `clears`, and absent otherwise.
    #[must_use]
    pub fn employee_body(&self, clears: bool) -> Object {
        let mut body = Object::new();
        for (name, value) in
            [("email", &self.email), ("first_name", &self.first_name), ("last_name", &self.last_name)]
        {
            body.push(name, Value::Text(value.clone()));
        }
        match &self.job_title {
            Some(title) => body.push("job_title", Value::Text(title.clone())),
            None if clears => body.push("job_title", Value::Null),
            None => {}
        }
        let fields = self.custom_fields.iter().filter(|(_, value)| clears || value.is_some());
        let fields: Object =
            fields.map(|(key, value)| (key.clone(), value.clone().unwrap_or(Value::Null))).collect();
        if !fields.is_empty() {
            body.push("custom_fields", Value::Object(fields));
        }
        body
    }

    /// Returns the key of the e-mail address that the user name may be.
    #[must_use]
    pub fn user_name_key(&self) -> String {
        address_key(&self.user_name)
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.contains('\0'),
        Value::List(items) => items.iter().any(has_nul),
        Value::Object(members) => members.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the address: primary, else work, else the only one, else the user name, else the stored address.
fn address(document: &UserDocument, user_name: &str, stored: Option<&Employee>) -> Result<String, ScimError> {
    if let Some(Value::List(emails)) = document.core("emails")
        && let Some((_, address)) = main_address(emails)
    {
        let address = address.trim();
        text::email(address).map_err(|flaw| ScimError::value(format!("`emails.value` {}.", flaw.message)))?;
        return Ok(address.to_owned());
    }
    let Err(flaw) = text::email(user_name) else { return Ok(user_name.to_owned()) };
    stored
        .map(|person| person.email.clone())
        .ok_or_else(|| ScimError::value(format!("`userName` {}, or `emails.value` must be one.", flaw.message)))
}

/// Sign in place of a last name. Many people have one name only, and a record needs a last name.
const NO_LAST_NAME: &str = "-";

/// Returns first and last name. A missing name stays as stored; for a new person, it is taken from the display name. A
/// single name becomes the first name, and the last name is [`NO_LAST_NAME`]. Without any name, both are the part of
/// the user name before the `@`.
fn names(
    document: &UserDocument,
    user_name: &str,
    stored: Option<&Employee>,
) -> Result<(String, String), ScimError> {
    let name = if let Some(Value::Object(name)) = document.core("name") { Some(name) } else { None };
    let part = |path: &str, member: &str| text_of(path, name.and_then(|name| name.get(member)));
    let (given, family) = (part("name.givenName", "givenName")?, part("name.familyName", "familyName")?);
    if let (Some(given), Some(family)) = (&given, &family) {
        return Ok((given.clone(), family.clone()));
    }
    if let Some(person) = stored {
        let first = given.unwrap_or_else(|| person.first_name.clone());
        return Ok((first, family.unwrap_or_else(|| person.last_name.clone())));
    }
    let whole_name = part("name.formatted", "formatted")?;
    let display_name = text_of("displayName", document.core("displayName"))?.or(whole_name);
    if let Some((first, rest)) = display_name.as_deref().and_then(|name| name.split_once(char::is_whitespace)) {
        return Ok((given.unwrap_or_else(|| first.to_owned()), family.unwrap_or_else(|| rest.trim().to_owned())));
    }
    if let (Some(name), Some(family)) = (&display_name, &family)
        && name != family
    {
        return Ok((name.clone(), family.clone()));
    }
    Ok(if let Some(only) = given.or(family).or(display_name) {
        (only, NO_LAST_NAME.to_owned())
    } else {
        let local = user_name.split('@').next().filter(|local| !local.is_empty()).unwrap_or(user_name);
        (local.to_owned(), local.to_owned())
    })
}

/// Returns the values of mapped fields. A field that has no place in the document is left out: its absence says nothing.
fn custom_fields(
    document: &UserDocument,
    mappings: &[CustomMapping],
) -> Result<Vec<(String, Option<Value>)>, ScimError> {
    let value = |mapping: &CustomMapping| match document.value_at(&mapping.path).cloned() {
        Some(Value::List(_) | Value::Object(_)) => {
            let name = mapping.path.attribute.as_deref().unwrap_or_default();
            let detail = format!(
                "`{name}` must be a string, number or boolean, because the custom field `{}` is mapped to it.",
                mapping.key
            );
            Err(ScimError::value(detail))
        }
        value => Ok((mapping.key.clone(), value.filter(|value| *value != Value::Null))),
    };
    mappings.iter().filter(|mapping| document.has_place(&mapping.path)).map(value).collect()
}

/// Returns the attributes that an employee does not have, with department and manager.
fn rest(document: &UserDocument, mappings: &[CustomMapping]) -> UserDocument {
    let mut rest = document.clone().without_attributes(&["userName", "externalId", "active", "title"], &[]);
    for sub in ["givenName", "familyName"] {
        let path = ScimPath {
            schema: ScimSchema::Core,
            attribute: Some("name".to_owned()),
            conditions: None,
            sub: Some(sub.to_owned()),
        };
        rest.remove_plain(&path);
    }
    for mapping in mappings {
        rest.remove_plain(&mapping.path);
    }
    rest
}
