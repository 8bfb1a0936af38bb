//! A SCIM user as sent: attributes in their canonical case, by schema. The operations of a PATCH are applied to a
//! document together: all of them or none.

mod bounds;
mod entries;
mod lookup;
mod manager;
mod put;

use candor_forms::json::{Object, Value};

use super::error::{ScimError, ScimErrorType};
use super::operations::{PatchOperation, PatchVerb};
use super::path::{self, ScimPath, ScimSchema};
use super::schemas::{self, ENTERPRISE};
use bounds::{Budget, MAX_GIVEN};

pub use lookup::main_address;
pub use manager::manager_text;

/// The attributes of a SCIM user, without `id`, `meta` and `schemas`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserDocument {
    core: Object,
    /// Extensions by URN, the enterprise extension in its canonical case. No extension is empty.
    extensions: Vec<(String, Object)>,
}

/// Returns the boolean that a text states in any case; `None` for any other text.
pub(super) fn flag(text: &str) -> Option<bool> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Returns `true` for the values that mean "no value": null, an empty array, an empty text.
pub(super) fn is_unassigned(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::List(items) => items.is_empty(),
        Value::Text(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

impl UserDocument {
    /// Reads the body of a creation or replacement.
    ///
    /// # Errors
    /// `invalidSyntax` for members that are no attributes or are given twice, `invalidValue` for values of the
    /// wrong type.
    pub fn from_body(body: Object) -> Result<Self, ScimError> {
        let mut document = Self::default();
        let members: Object = body.into_iter().filter(|(_, value)| *value != Value::Null).collect();
        let mut budget = Budget::new();
        document.merge(&ScimSchema::Core, members, PatchVerb::Add, &mut budget).map_err(|error| {
            match error.kind {
                Some(ScimErrorType::InvalidPath | ScimErrorType::InvalidFilter) => {
                    ScimError { kind: Some(ScimErrorType::InvalidSyntax), ..error }
                }
                _ => error,
            }
        })?;
        Ok(document)
    }

    /// Restores the attributes that [`UserDocument::to_object`] returned.
    #[must_use]
    pub fn from_stored(stored: Object) -> Self {
        let mut document = Self::default();
        for (name, value) in stored {
            match value {
                Value::Object(members) if name.contains(':') => document.extensions.push((name, members)),
                value @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Text(_)
                | Value::List(_)
                | Value::Object(_)) => document.core.push(name, value),
            }
        }
        document
    }

    /// Returns the attributes as one object, with the extensions as members.
    #[must_use]
    pub fn to_object(&self) -> Object {
        let extensions = self.extensions.iter().map(|(urn, members)| (urn, Value::Object(members.clone())));
        let core = self.core.iter().cloned();
        core.chain(extensions.map(|(urn, members)| (urn.clone(), members))).collect()
    }

    /// Returns the URNs of the extensions with members.
    pub fn extension_urns(&self) -> impl Iterator<Item = &str> {
        self.extensions.iter().map(|(urn, _)| urn.as_str())
    }

    /// Returns `true` if there is no attribute.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.core.is_empty() && self.extensions.is_empty()
    }

    /// Returns the document after the operations. The document itself never changes, so a refused operation leaves
    /// no effect of earlier operations.
    ///
    /// # Errors
    /// The error of the first operation that is refused.
    pub fn apply(&self, operations: &[PatchOperation]) -> Result<Self, ScimError> {
        let (mut after, mut budget) = (self.clone(), Budget::new());
        for operation in operations {
            after.perform(operation, &mut budget)?;
        }
        Ok(after)
    }

    fn perform(&mut self, operation: &PatchOperation, budget: &mut Budget) -> Result<(), ScimError> {
        let PatchOperation { verb, path, value } = operation;
        match (path, value) {
            (Some(path), value) => {
                let extension = path.possible_urn().filter(|urn| self.has_extension(urn));
                let whole = extension.map(|urn| ScimPath::extension(&urn));
                self.change(whole.as_ref().unwrap_or(path), *verb, value.clone(), budget)
            }
            (None, Some(Value::Object(members))) => self.merge(&ScimSchema::Core, members.clone(), *verb, budget),
            (None, _) => Err(ScimError::value("An operation without `path` must have an object as `value`.")),
        }
    }

    /// Applies the members of an object to the document. The name of each member may be a path.
    fn merge(
        &mut self,
        schema: &ScimSchema,
        members: Object,
        verb: PatchVerb,
        budget: &mut Budget,
    ) -> Result<(), ScimError> {
        if members.len() > MAX_GIVEN {
            let detail = format!("An object of attributes has at most {MAX_GIVEN} members.");
            return Err(ScimError::value(detail));
        }
        let mut names = std::collections::BTreeSet::new();
        for (name, value) in members {
            if !names.insert(name.to_ascii_lowercase()) {
                return Err(ScimError::syntax(format!("`{name}` is given twice. Send each attribute once.")));
            }
            let path = self.member_path(schema, name.trim(), &value)?;
            let attribute = path.attribute.as_deref();
            if path.schema == ScimSchema::Core && attribute.is_some_and(schemas::is_read_only) {
                continue;
            }
            match (attribute, value) {
                (None, Value::Object(members)) => self.merge(&path.schema, members, verb, budget)?,
                (None, Value::Null) => {}
                (None, _) => return Err(ScimError::value(format!("`{name}` must be an object."))),
                (Some(_), value) => {
                    let value = Some(value).filter(|value| *value != Value::Null);
                    self.change(&path, verb, value, budget)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the path that the name of a member means.
    fn member_path(&self, schema: &ScimSchema, name: &str, value: &Value) -> Result<ScimPath, ScimError> {
        let has_extension = |urn: &str| self.has_extension(urn);
        let is_object = matches!(value, Value::Object(_));
        let is_whole = *schema == ScimSchema::Core
            && name.len() <= path::MAX_PATH_BYTES
            && path::is_extension(name, is_object, has_extension);
        if is_whole { Ok(ScimPath::extension(name)) } else { ScimPath::parse_in(schema, name) }
    }

    fn has_extension(&self, urn: &str) -> bool {
        self.extensions.iter().any(|(known, _)| known.eq_ignore_ascii_case(urn))
    }

    /// Sets or removes the attribute that a path names.
    fn change(
        &mut self,
        path: &ScimPath,
        verb: PatchVerb,
        value: Option<Value>,
        budget: &mut Budget,
    ) -> Result<(), ScimError> {
        let Some(name) = path.attribute.as_deref() else {
            return self.change_schema(path, verb, value, budget);
        };
        if path.schema == ScimSchema::Core {
            if name == "schemas" || schemas::is_dropped(name) {
                return Ok(());
            }
            if schemas::is_read_only(name) {
                let detail = format!("`{name}` is read-only. Remove the operation.");
                return Err(ScimError::new(ScimErrorType::Mutability, detail));
            }
            if name == "active" {
                return self.set_active(verb, value.as_ref());
            }
        }
        if verb != PatchVerb::Remove && path.schema == ScimSchema::Enterprise && name == "manager" {
            return self.set_manager(path.sub.as_deref(), value);
        }
        value.as_ref().map_or(Ok(()), |value| budget.check_size(name, value))?;
        if let Some(section) = self.section(&path.schema) {
            budget.take_change(section, entries::member(section, name))?;
            let conditions = path.conditions.as_ref().map_or(0, Vec::len);
            budget.take_comparisons(conditions * entries::count_entries(section, name))?;
        }
        let value = value.filter(|value| !is_unassigned(value));
        if verb == PatchVerb::Remove || value.is_none() {
            if let (Some(value), Some(section)) = (&value, self.section(&path.schema)) {
                budget.take_value(value.json_bytes(), entries::count_entries(section, name))?;
            }
            return self.remove(path, name, verb, value.as_ref());
        }
        let Some(value) = value else { return Ok(()) };
        budget.check_room(self.section(&path.schema), self.extensions.len())?;
        let section = self.section_mut(&path.schema);
        match (&path.conditions, path.sub.as_deref()) {
            (Some(conditions), sub) => entries::set_matching(section, name, (conditions, sub), value, budget)?,
            (None, Some(sub)) => entries::set_sub(section, name, sub, value)?,
            (None, None) => entries::set_attribute(section, name, value, verb, budget)?,
        }
        entries::member(section, name).map_or(Ok(()), |value| budget.check_size(name, value))
    }

    /// Sets members of a whole schema, or removes an extension.
    fn change_schema(
        &mut self,
        path: &ScimPath,
        verb: PatchVerb,
        value: Option<Value>,
        budget: &mut Budget,
    ) -> Result<(), ScimError> {
        match (verb, value) {
            (PatchVerb::Remove, _) if path.schema == ScimSchema::Core => {
                Err(ScimError::new(ScimErrorType::Mutability, "The core schema of a user cannot be removed."))
            }
            (PatchVerb::Remove, _) | (PatchVerb::Add | PatchVerb::Replace, None) => {
                self.extensions.retain(|(urn, _)| !urn.eq_ignore_ascii_case(path.schema.urn()));
                Ok(())
            }
            (PatchVerb::Add | PatchVerb::Replace, Some(Value::Object(members))) => {
                self.merge(&path.schema, members, verb, budget)
            }
            (PatchVerb::Add | PatchVerb::Replace, Some(_)) => {
                Err(ScimError::value(format!("`{}` must be an object.", path.schema.urn())))
            }
        }
    }

    /// Sets `active`. A value that cannot be read is refused: if it were ignored, a person who left would stay
    /// active.
    fn set_active(&mut self, verb: PatchVerb, value: Option<&Value>) -> Result<(), ScimError> {
        if verb == PatchVerb::Remove {
            let detail = "`active` is required. Set it to false to deactivate the person.";
            return Err(ScimError::new(ScimErrorType::Mutability, detail));
        }
        let is_active = match value {
            Some(Value::Bool(is_active)) => Some(*is_active),
            Some(Value::Text(text)) => flag(text),
            _ => None,
        };
        let Some(is_active) = is_active else { return Err(ScimError::value("`active` must be true or false.")) };
        self.core.set("active", Value::Bool(is_active));
        Ok(())
    }

    fn remove(
        &mut self,
        path: &ScimPath,
        name: &str,
        verb: PatchVerb,
        value: Option<&Value>,
    ) -> Result<(), ScimError> {
        if path.schema == ScimSchema::Core && name == "userName" {
            let kind =
                if verb == PatchVerb::Remove { ScimErrorType::Mutability } else { ScimErrorType::InvalidValue };
            return Err(ScimError::new(kind, "`userName` is required and must not be empty."));
        }
        let is_manager = path.schema == ScimSchema::Enterprise && name == "manager";
        let urn = path.schema.urn();
        let section = match &path.schema {
            ScimSchema::Core => Some(&mut self.core),
            ScimSchema::Enterprise | ScimSchema::Other(_) => {
                let extension = self.extensions.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(urn));
                extension.map(|(_, members)| members)
            }
        };
        if let Some(section) = section {
            match (&path.conditions, path.sub.as_deref()) {
                (None, Some("value" | "$ref")) if is_manager => entries::remove_attribute(section, name, None)?,
                (Some(conditions), sub) => entries::remove_matching(section, name, conditions, sub),
                (None, Some(sub)) => entries::remove_sub(section, name, sub),
                (None, None) => entries::remove_attribute(section, name, value)?,
            }
        }
        self.extensions.retain(|(_, members)| !members.is_empty());
        Ok(())
    }

    /// Returns the attributes of a schema.
    pub(super) fn section(&self, schema: &ScimSchema) -> Option<&Object> {
        match schema {
            ScimSchema::Core => Some(&self.core),
            ScimSchema::Enterprise | ScimSchema::Other(_) => {
                let section = self.extensions.iter().find(|(urn, _)| urn.eq_ignore_ascii_case(schema.urn()));
                section.map(|(_, members)| members)
            }
        }
    }

    fn section_mut(&mut self, schema: &ScimSchema) -> &mut Object {
        let urn = schema.urn();
        if *schema == ScimSchema::Core {
            return &mut self.core;
        }
        let index = match self.extensions.iter().position(|(known, _)| known.eq_ignore_ascii_case(urn)) {
            Some(at) => at,
            None => {
                self.extensions.push((urn.to_owned(), Object::new()));
                self.extensions.len() - 1
            }
        };
        &mut self.extensions[index].1
    }

    /// Returns the value at a path. Of several entries, the first that meets the conditions counts.
    #[must_use]
    pub fn value_at(&self, path: &ScimPath) -> Option<&Value> {
        let section = self.section(&path.schema)?;
        let value = entries::member(section, path.attribute.as_deref()?)?;
        lookup::value_in(value, path.conditions.as_deref(), path.sub.as_deref())
    }

    /// Returns `true` if the value of a path could stand in the document: no attribute with a plain value is in the place of
    /// one with sub-attributes.
    #[must_use]
    pub fn has_place(&self, path: &ScimPath) -> bool {
        let section = self.section(&path.schema);
        let value =
            section.zip(path.attribute.as_deref()).and_then(|(section, name)| entries::member(section, name));
        path.sub.is_none() || matches!(value, None | Some(Value::List(_) | Value::Object(_)))
    }

    /// Returns the attribute of the core schema.
    #[must_use]
    pub fn core(&self, name: &str) -> Option<&Value> {
        self.core.get(name)
    }

    /// Returns the attribute of the enterprise extension.
    #[must_use]
    pub fn enterprise(&self, name: &str) -> Option<&Value> {
        self.section(&ScimSchema::Enterprise)?.get(name)
    }

    /// Sets the attribute of the core schema, without a check of the value.
    pub fn set_core(&mut self, name: &str, value: Value) {
        self.core.set(name, value);
    }

    /// Sets the attribute of the enterprise extension, without a check of the value.
    pub fn set_enterprise(&mut self, name: &str, value: Value) {
        self.section_mut(&ScimSchema::Enterprise).set(name, value);
    }

    /// Removes attributes of the core schema and of the enterprise extension.
    #[must_use]
    pub fn without_attributes(mut self, core: &[&str], enterprise: &[&str]) -> Self {
        self.core.retain(|name, _| !core.contains(&name));
        for (urn, members) in &mut self.extensions {
            if urn == ENTERPRISE {
                members.retain(|name, _| !enterprise.contains(&name));
            }
        }
        self.extensions.retain(|(_, members)| !members.is_empty());
        self
    }
}
