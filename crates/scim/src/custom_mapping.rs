//! Mappings of SCIM attributes to custom fields.

use super::error::{ScimError, ScimErrorType};
use super::path::{ScimPath, ScimSchema};
use super::schemas;

/// A custom field that takes its value from an attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomMapping {
    /// Key of the custom field.
    pub key: String,
    /// Path of the attribute.
    pub path: ScimPath,
}

impl CustomMapping {
    /// Reads a mapping of a connector.
    ///
    /// # Errors
    /// `invalidPath` for a malformed path or the path of a whole schema.
    pub fn parse(key: &str, path: &str) -> Result<Self, ScimError> {
        let attribute_path = ScimPath::parse(path)?;
        if attribute_path.attribute.is_none() {
            let detail = "The path of a mapping must name an attribute.";
            return Err(ScimError::new(ScimErrorType::InvalidPath, detail));
        }
        Ok(Self { key: key.to_owned(), path: attribute_path })
    }

    /// Returns the reason why no custom field can have the attribute, as the rest of a sentence about the path.
    #[must_use]
    pub fn refusal(&self) -> Option<&'static str> {
        let ScimPath { schema, attribute, conditions, sub } = &self.path;
        let name = attribute.as_deref().unwrap_or_default();
        if conditions.is_some() {
            return Some("has conditions");
        }
        if sub.as_deref().is_some_and(|sub| sub.eq_ignore_ascii_case("primary")) {
            return Some("names the main entry");
        }
        match schema {
            ScimSchema::Core if schemas::is_dropped(name) || schemas::is_read_only(name) => {
                Some("is never stored")
            }
            ScimSchema::Core if schemas::is_field_of_person(name, sub.as_deref()) => {
                Some("sets a field of the person")
            }
            ScimSchema::Enterprise if name == "department" || name == "manager" => {
                Some("sets a field of the person")
            }
            ScimSchema::Core | ScimSchema::Enterprise => schemas::shape_problem(name, sub.is_some()),
            ScimSchema::Other(_) => None,
        }
    }

    /// Returns `true` if both mappings read the same value, or if one mapping reads a part of the value of the other
    /// mapping.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let is_equal = |one: &Option<String>, other: &Option<String>| match (one, other) {
            (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let (one, other) = (&self.path, &other.path);
        let is_part = one.sub.is_none() || other.sub.is_none();
        one.schema.urn().eq_ignore_ascii_case(other.schema.urn())
            && is_equal(&one.attribute, &other.attribute)
            && (is_part || is_equal(&one.sub, &other.sub))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(path: &str) -> CustomMapping {
        CustomMapping::parse("badge", path).unwrap()
    }

    #[test]
    fn path_that_no_custom_field_can_have_is_refused() {
        let enterprise = crate::ENTERPRISE;
        let free_paths = [
            "nickName",
            "userType",
            "name.middleName",
            "name.formatted",
            "phoneNumbers.value",
            "addresses.country",
            "x-grade",
            "x-desk.floor",
            "employeeNumber",
            &format!("{enterprise}:costCenter"),
            "urn:acme:2.0:User:title",
            "urn:acme:2.0:User:department",
        ];
        for path in free_paths {
            assert_eq!(mapping(path).refusal(), None, "{path}");
        }
        let refused_paths = [
            "addresses.primary",
            "x-desk.Primary",
            "userName",
            "externalId",
            "active",
            "title",
            "TITLE",
            "emails",
            "emails.value",
            "name",
            "name.givenName",
            "name.FamilyName",
            "manager",
            "manager.value",
            &format!("{enterprise}:department"),
            "id",
            "meta.version",
            "schemas",
            "password",
            "groups.value",
            "roles",
            "photos.value",
            "phoneNumbers",
            "addresses",
            "nickName.short",
            "employeeNumber.part",
            r#"phoneNumbers[type eq "mobile"].value"#,
        ];
        for path in refused_paths {
            assert!(mapping(path).refusal().is_some(), "{path}");
        }
    }

    #[test]
    fn paths_of_one_value_overlap() {
        let enterprise = crate::ENTERPRISE;
        let table = [
            ("userType", "USERTYPE", true),
            ("costCenter", &format!("{enterprise}:costCenter"), true),
            ("costCenter", &format!("{}:COSTCENTER", enterprise.to_uppercase()), true),
            ("x-desk", "x-desk.floor", true),
            ("x-desk.floor", "x-desk.Floor", true),
            ("x-desk.floor", "x-desk.room", false),
            ("userType", "locale", false),
            ("userType", "urn:acme:2.0:User:userType", false),
        ];
        for (one, other, is_overlapping) in table {
            assert_eq!(mapping(one).overlaps(&mapping(other)), is_overlapping, "{one} {other}");
            assert_eq!(mapping(other).overlaps(&mapping(one)), is_overlapping, "{other} {one}");
        }
    }
}
