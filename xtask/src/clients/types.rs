//! Type expressions: read from schemas of the document, written in each language.

use crate::process::Outcome;
use serde_json::Value;

/// The type of a member, a parameter or an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Any,
    Text,
    Integer,
    Number,
    Flag,
    Null,
    /// The only allowed text.
    Constant(String),
    /// A text other than the known types of events, or of rows.
    UnknownWord,
    Named(String),
    List(Box<Type>),
    Map(Box<Type>),
    /// An object with these members and any others.
    Open(Vec<(String, Type)>),
    /// An element, or an array of such elements.
    OneOrMore(Box<Type>),
    Union(Vec<Type>),
}

/// Schema of events about an erased person. It is left out of the union `Event`, because its events have the event
/// types of other schemas. Where a response may have either, the type `FeedEvent` joins both.
const ERASED_EVENT: &str = "ErasedEvent";

impl Type {
    /// Reads a schema; objects inside it must have a title. A union with a title is a type of its own.
    pub(super) fn read(schema: &Value) -> Outcome<Self> {
        match schema["title"].as_str() {
            Some(title) if schema["anyOf"].is_array() => Ok(Self::Named(title.to_owned())),
            _ => Self::read_untitled(schema),
        }
    }

    /// Reads a schema without regard to its own title.
    pub(super) fn read_untitled(schema: &Value) -> Outcome<Self> {
        if let Some(name) = reference(schema) {
            return Ok(Self::Named(name.to_owned()));
        }
        for choices in ["anyOf", "oneOf"] {
            if let Some(choices) = schema[choices].as_array() {
                let remaining_choices = choices.iter().filter(|choice| reference(choice) != Some(ERASED_EVENT));
                return Ok(Self::Union(remaining_choices.map(Self::read).collect::<Outcome<_>>()?).simplify());
            }
        }
        if let Some(text) = schema["const"].as_str() {
            return Ok(Self::Constant(text.to_owned()));
        }
        if schema["not"]["anyOf"].is_array() {
            return Ok(Self::UnknownWord);
        }
        if let Some(kinds) = schema["type"].as_array() {
            let kinds = kinds.iter().map(|kind| Self::of_kind(kind, schema)).collect::<Outcome<_>>()?;
            return Ok(Self::Union(kinds).simplify());
        }
        Self::of_kind(&schema["type"], schema)
    }

    fn of_kind(kind: &Value, schema: &Value) -> Outcome<Self> {
        Ok(match kind.as_str() {
            None => Self::Any,
            Some("string") => Self::Text,
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("boolean") => Self::Flag,
            Some("null") => Self::Null,
            Some("array") => Self::List(Box::new(Self::read(&schema["items"])?)),
            Some("object") if is_open(schema) => {
                let members = schema["properties"].as_object().into_iter().flatten();
                let read = |(name, member): (&String, &Value)| -> Outcome<(String, Self)> {
                    Ok((name.clone(), Self::read(member)?))
                };
                Self::Open(members.map(read).collect::<Outcome<_>>()?)
            }
            Some("object") if schema["properties"].is_object() => {
                let title = schema["title"].as_str().ok_or_else(|| format!("an object has no title: {schema}"))?;
                Self::Named(title.to_owned())
            }
            Some("object") if schema["additionalProperties"].is_object() => {
                Self::Map(Box::new(Self::read(&schema["additionalProperties"])?))
            }
            Some("object") => Self::Map(Box::new(Self::Any)),
            Some(other) => return Err(format!("unknown type {other}: {schema}").into()),
        })
    }

    /// Flattens unions of unions: null comes last and no part is repeated.
    fn simplify(self) -> Self {
        let Self::Union(parts) = self else { return self };
        let mut flat: Vec<Self> = Vec::new();
        for part in
            parts.into_iter().flat_map(|part| if let Self::Union(inner) = part { inner } else { vec![part] })
        {
            if !flat.contains(&part) {
                flat.push(part);
            }
        }
        flat.sort_by_key(|part| *part == Self::Null);
        Self::Union(flat)
    }

    pub(super) fn typescript(&self) -> String {
        match self {
            Self::Any => "unknown".to_owned(),
            Self::Text => "string".to_owned(),
            Self::Integer | Self::Number => "number".to_owned(),
            Self::Flag => "boolean".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Constant(text) => format!("\"{text}\""),
            Self::UnknownWord => "UnknownType".to_owned(),
            Self::Named(name) => name.clone(),
            Self::List(of) => format!("Array<{}>", of.typescript()),
            Self::Map(of) => format!("Record<string, {}>", of.typescript()),
            Self::Open(members) => {
                let members = members.iter().map(|(name, of)| format!("{name}: {}; ", of.typescript()));
                format!("{{ {}[member: string]: unknown }}", members.collect::<String>())
            }
            Self::OneOrMore(of) => format!("{0} | readonly {0}[]", of.typescript()),
            Self::Union(parts) => {
                let is_open = parts.contains(&Self::Text);
                let has_names = parts.iter().any(|part| matches!(part, Self::Named(_)));
                let words = |part: &Self| {
                    if let (Self::Named(name), true) = (part, is_open) {
                        return Some(format!("Open<{name}>"));
                    }
                    (*part != Self::Text || !has_names).then(|| part.typescript())
                };
                parts.iter().filter_map(words).collect::<Vec<_>>().join(" | ")
            }
        }
    }

    pub(super) fn python(&self) -> String {
        match self {
            Self::Any => "Any".to_owned(),
            Self::Text => "str".to_owned(),
            Self::UnknownWord => "UnknownType".to_owned(),
            Self::Integer => "int".to_owned(),
            Self::Number => "float".to_owned(),
            Self::Flag => "bool".to_owned(),
            Self::Null => "None".to_owned(),
            Self::Constant(text) => format!("Literal[\"{text}\"]"),
            Self::Named(name) => name.clone(),
            Self::List(of) => format!("list[{}]", of.python()),
            Self::Map(of) => format!("dict[str, {}]", of.python()),
            Self::Open(_) => "dict[str, Any]".to_owned(),
            Self::OneOrMore(of) => format!("{0} | Sequence[{0}]", of.python()),
            Self::Union(parts) => parts.iter().map(Self::python).collect::<Vec<_>>().join(" | "),
        }
    }
}

impl Type {
    /// Returns the type in Rust. An open enumeration becomes the type of its enumeration, which has a variant for
    /// other words. Other unions become a `Value`.
    pub(super) fn rust(&self) -> String {
        match self {
            Self::Any => "Value".to_owned(),
            Self::Text | Self::UnknownWord | Self::Constant(_) => "String".to_owned(),
            Self::Integer => "i64".to_owned(),
            Self::Number => "f64".to_owned(),
            Self::Flag => "bool".to_owned(),
            Self::Null => "()".to_owned(),
            Self::Named(name) => name.clone(),
            Self::List(element) | Self::OneOrMore(element) => format!("Vec<{}>", element.rust()),
            Self::Map(element) => format!("BTreeMap<String, {}>", element.rust()),
            Self::Open(_) => "BTreeMap<String, Value>".to_owned(),
            Self::Union(parts) => {
                let is_nullable = parts.contains(&Self::Null);
                let parts: Vec<&Self> = parts.iter().filter(|part| **part != Self::Null).collect();
                let first = parts.first().map_or_else(|| "()".to_owned(), |part| part.rust());
                let is_word = |part: &&Self| matches!(part, Self::Text | Self::Constant(_));
                let is_text = |part: &&Self| matches!(part, Self::Named(_)) || is_word(part);
                let is_enumeration = parts.iter().any(is_word) && parts.iter().all(is_text);
                let target = if parts.len() == 1 || is_enumeration { first } else { "Value".to_owned() };
                if is_nullable && target != "Value" { format!("Option<{target}>") } else { target }
            }
        }
    }

    /// Returns the names of the types that a union joins.
    pub(super) fn names(&self) -> Vec<String> {
        let Self::Union(parts) = self else { return Vec::new() };
        parts
            .iter()
            .filter_map(|part| if let Self::Named(name) = part { Some(name.clone()) } else { None })
            .collect()
    }
}

/// Returns `true` for an object that may have further members beside the described ones.
pub(super) fn is_open(schema: &Value) -> bool {
    schema["additionalProperties"] == true && schema["properties"].is_object()
}

/// Returns the name of the schema that a reference leads to. `None` if `schema` is no reference.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/components/schemas/")
}

#[cfg(test)]
mod tests {
    use super::Type;
    use serde_json::json;

    #[test]
    fn open_enumeration_keeps_its_known_words() {
        let known_reference = json!({"$ref": "#/components/schemas/Role"});
        let open = Type::read(&json!({"anyOf": [known_reference, {"type": "null"}, {"type": "string"}]})).unwrap();
        assert_eq!(open.typescript(), "Open<Role> | null");
        assert_eq!(open.python(), "Role | str | None");
    }

    #[test]
    fn nested_object_without_title_is_refused() {
        assert!(Type::read(&json!({"type": "object", "properties": {}})).is_err());
        let titled_type =
            Type::read(&json!({"type": ["object", "null"], "properties": {}, "title": "Target"})).unwrap();
        assert_eq!(titled_type.typescript(), "Target | null");
    }

    #[test]
    fn open_object_keeps_its_members() {
        let schema =
            json!({"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": true});
        let open = Type::read(&schema).unwrap();
        assert_eq!(open.typescript(), "{ id: string; [member: string]: unknown }");
        assert_eq!(
            (open.python(), open.rust()),
            ("dict[str, Any]".to_owned(), "BTreeMap<String, Value>".to_owned())
        );
    }

    #[test]
    fn map_keeps_the_type_of_its_values() {
        let schema = json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}});
        let map = Type::read(&schema).unwrap();
        assert_eq!(map.typescript(), "Record<string, string | number | boolean>");
        assert_eq!(map.python(), "dict[str, str | float | bool]");
    }
}
