//! Reads of attributes with several entries or with sub-attributes.

use std::borrow::Borrow;

use candor_forms::json::{Object, Value};

use super::super::filter::Comparison;
use super::entries::{is_primary, matches};

/// Returns the value that a path selects in the value of an attribute: of several entries the first one that meets the
/// conditions, without conditions the main one, as a change of the path does; and with `sub` a sub-attribute.
pub(super) fn value_in<'a>(
    value: &'a Value,
    conditions: Option<&[Comparison]>,
    sub: Option<&str>,
) -> Option<&'a Value> {
    let matching_values = match value {
        Value::List(items) if conditions.is_some() || sub.is_some() => {
            let members_of =
                |item: &'a Value| if let Value::Object(members) = item { Some(members) } else { None };
            let (objects, entries): (Vec<&Value>, Vec<&Object>) =
                items.iter().filter_map(|item| Some((item, members_of(item)?))).unzip();
            let index = match conditions {
                Some(conditions) => entries.iter().position(|entry| matches(entry, conditions))?,
                None => main_entry(&entries).unwrap_or(0),
            };
            *objects.get(index)?
        }
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Object(_)) => other,
    };
    match (sub, matching_values) {
        (None, matching_values) => Some(matching_values),
        (Some(sub), Value::Object(members)) => {
            members.iter().find(|(member, _)| member.eq_ignore_ascii_case(sub)).map(|(_, value)| value)
        }
        (Some(_), _) => None,
    }
}

/// Returns the entry that stands for the attribute: primary, else work, else the only one.
pub(super) fn main_entry<O: Borrow<Object>>(entries: &[O]) -> Option<usize> {
    let work = |entry: &O| matches!(entry.borrow().get("type"), Some(Value::Text(kind)) if kind.eq_ignore_ascii_case("work"));
    let primary = entries.iter().position(|entry| is_primary(entry.borrow()));
    primary.or_else(|| entries.iter().position(work)).or_else(|| (entries.len() == 1).then_some(0))
}

/// Returns the position and the address of the main entry of `emails` that has an address.
#[must_use]
pub fn main_address(emails: &[Value]) -> Option<(usize, &str)> {
    let mut addresses = Vec::new();
    let mut objects = Vec::new();
    for (at, item) in emails.iter().enumerate() {
        let Value::Object(members) = item else { continue };
        if let Some(Value::Text(address)) = members.get("value") {
            addresses.push((at, address.as_str()));
            objects.push(members.clone());
        }
    }
    addresses.get(main_entry(&objects)?).copied()
}
