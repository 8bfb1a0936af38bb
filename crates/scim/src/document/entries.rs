//! Values of attributes: entries of multi-valued attributes, members of complex ones.

use candor_forms::json::{Object, Value};
use candor_forms::text::is_same_folded;

use super::super::error::{ScimError, ScimErrorType};
use super::super::filter::{Comparison, Literal};
use super::super::operations::PatchVerb;
use super::super::schemas;
use super::bounds::Budget;
use super::lookup::main_entry;
use super::{flag, is_unassigned};

/// Returns the value of the attribute with this name, compared without case.
pub(super) fn member<'a>(section: &'a Object, name: &str) -> Option<&'a Value> {
    section.iter().find(|(member, _)| member.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn find_member<'a>(section: &'a mut Object, name: &str) -> Option<&'a mut Value> {
    section.iter_mut().find(|(member, _)| member.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn drop_member(section: &mut Object, name: &str) {
    section.retain(|member, _| !member.eq_ignore_ascii_case(name));
}

/// Sets a member of this name, compared without case.
fn set_member(section: &mut Object, name: &str, value: Value) {
    match find_member(section, name) {
        Some(member) => *member = value,
        None => section.push(name, value),
    }
}

/// Returns the value of a sub-attribute, with `primary` as a boolean.
fn sub_value(name: &str, value: Value) -> Value {
    match value {
        Value::Text(text) if name == "primary" => flag(&text).map_or(Value::Text(text), Value::Bool),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Object(_)) => other,
    }
}

/// Returns the number of entries of an attribute, or 1 for an attribute that is absent or has no list of entries.
pub(super) fn count_entries(section: &Object, name: &str) -> usize {
    match member(section, name) {
        Some(Value::List(items)) => items.len(),
        Some(_) | None => 1,
    }
}

/// Returns an entry with canonical names and without members that have no value.
fn entry(members: Object) -> Object {
    let mut entry = Object::new();
    for (name, value) in members.into_iter().filter(|(_, value)| !is_unassigned(value)) {
        let name = schemas::canonical_sub(&name);
        let value = sub_value(&name, value);
        set_member(&mut entry, &name, value);
    }
    entry
}

/// Returns `true` if an entry has a member other than `type`, `primary` and `display`.
fn has_content(entry: &Object) -> bool {
    entry.iter().any(|(name, _)| name != "type" && name != "primary" && name != "display")
}

/// Reads the entries of a multi-valued attribute: an array, one object, or one text.
fn entries(name: &str, value: Value, budget: &Budget) -> Result<Vec<Object>, ScimError> {
    let items = match value {
        Value::List(items) => items,
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Object(_)) => {
            vec![other]
        }
    };
    budget.check_entries(name, items.len())?;
    let mut all = Vec::new();
    for item in items {
        match item {
            Value::Object(members) => all.push(entry(members)),
            Value::Text(text) => all.push([("value".to_owned(), Value::Text(text))].into()),
            Value::Null => {}
            other @ (Value::Bool(_) | Value::Number(_) | Value::List(_)) => {
                let detail = format!("An entry of `{name}` must be an object, not {}.", other.kind());
                return Err(ScimError::value(detail));
            }
        }
    }
    all.retain(has_content);
    Ok(all)
}

/// Takes the entries of a stored attribute.
fn take_entries(section: &mut Object, name: &str) -> Result<Vec<Object>, ScimError> {
    let objects = |items: Vec<Value>| {
        let object = |item| match item {
            Value::Object(members) => members,
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_)) => {
                [("value".to_owned(), other)].into()
            }
        };
        items.into_iter().map(object).collect()
    };
    match find_member(section, name) {
        None => Ok(vec![]),
        Some(Value::List(items)) => Ok(objects(std::mem::take(items))),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Object(_)) => {
            Err(without_entries(name))
        }
    }
}

fn without_entries(name: &str) -> ScimError {
    let detail = format!("`{name}` has no entries. Send a path without conditions.");
    ScimError::new(ScimErrorType::InvalidPath, detail)
}

fn without_parts(name: &str) -> ScimError {
    ScimError::new(ScimErrorType::InvalidPath, format!("`{name}` has no parts. Send the path `{name}`."))
}

/// Stores entries, or removes the attribute if there are none.
fn store_entries(section: &mut Object, name: &str, entries: Vec<Object>) {
    if entries.is_empty() {
        drop_member(section, name);
    } else {
        set_member(section, name, Value::List(entries.into_iter().map(Value::Object).collect()));
    }
}

pub(super) fn is_primary(entry: &Object) -> bool {
    entry.get("primary") == Some(&Value::Bool(true))
}

/// Makes the entry at `at` the only primary one, if it is primary.
fn demote_rest(entries: &mut [Object], at: usize) {
    if !entries.get(at).is_some_and(is_primary) {
        return;
    }
    for (_, entry) in entries.iter_mut().enumerate().filter(|(other, _)| *other != at) {
        if is_primary(entry) {
            entry.set("primary", Value::Bool(false));
        }
    }
}

/// Returns `true` if an entry meets all conditions. Texts are compared without case.
pub(super) fn matches(entry: &Object, conditions: &[Comparison]) -> bool {
    conditions.iter().all(|condition| {
        let name = condition.path.attribute.as_deref().unwrap_or_default();
        let value = entry.iter().find(|(member, _)| member.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        match value {
            Some(Value::Text(text)) => match condition.value.as_text() {
                Some(wanted) => is_same_folded(text, wanted),
                None => flag(text).is_some_and(|found| condition.value.as_flag() == Some(found)),
            },
            Some(Value::Bool(found)) => condition.value.as_flag() == Some(*found),
            // An absent `primary` means false.
            None => name.eq_ignore_ascii_case("primary") && condition.value.as_flag() == Some(false),
            Some(Value::Null | Value::Number(_) | Value::List(_) | Value::Object(_)) => false,
        }
    })
}

/// Returns a new entry that meets the conditions.
fn entry_of(conditions: &[Comparison]) -> Object {
    let mut entry = Object::new();
    for condition in conditions {
        let name = schemas::canonical_sub(condition.path.attribute.as_deref().unwrap_or_default());
        let value = match &condition.value {
            Literal::Text(text) => sub_value(&name, Value::Text(text.clone())),
            Literal::Flag(flag) => Value::Bool(*flag),
        };
        entry.set(&name, value);
    }
    entry
}

/// Sets the entries that meet the conditions. If there are none, creates one: identity providers add an address
/// with `emails[type eq "work"].value`.
pub(super) fn set_matching(
    section: &mut Object,
    name: &str,
    (conditions, sub): (&[Comparison], Option<&str>),
    value: Value,
    budget: &mut Budget,
) -> Result<(), ScimError> {
    if schemas::is_complex(name) {
        return Err(without_entries(name));
    }
    let changes = match sub {
        Some(sub) => [(sub.to_owned(), sub_value(sub, value))].into(),
        None => match entries(name, value, budget)?.as_slice() {
            [one] => one.clone(),
            _ => return Err(ScimError::value(format!("`{name}` with conditions must have one entry as value."))),
        },
    };
    let mut all = take_entries(section, name)?;
    let mut indexes: Vec<usize> = (0..all.len()).filter(|at| matches(&all[*at], conditions)).collect();
    if indexes.is_empty() {
        all.push(entry_of(conditions));
        indexes.push(all.len() - 1);
    }
    budget.check_entries(name, all.len())?;
    let bytes = changes.json_bytes();
    budget.check_bytes(name, bytes.saturating_mul(indexes.len()))?;
    budget.take_value(bytes, indexes.len())?;
    for at in indexes {
        for (member, value) in &changes {
            set_member(&mut all[at], member, value.clone());
        }
        demote_rest(&mut all, at);
    }
    store_entries(section, name, all);
    Ok(())
}

/// Sets a sub-attribute: of a complex attribute, or of the main entry of a multi-valued one.
pub(super) fn set_sub(section: &mut Object, name: &str, sub: &str, value: Value) -> Result<(), ScimError> {
    let value = sub_value(sub, value);
    match find_member(section, name) {
        Some(Value::Object(members)) => set_member(members, sub, value),
        Some(Value::List(_)) => {
            let mut all = take_entries(section, name)?;
            let index = main_entry(&all).unwrap_or(0);
            match all.get_mut(index) {
                Some(entry) => set_member(entry, sub, value),
                None => all.push([(sub.to_owned(), value)].into()),
            }
            demote_rest(&mut all, index);
            store_entries(section, name, all);
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_)) => return Err(without_parts(name)),
        None if schemas::is_multi_valued(name) => {
            store_entries(section, name, vec![[(sub.to_owned(), value)].into()]);
        }
        None => section.push(name, Value::Object([(sub.to_owned(), value)].into())),
    }
    Ok(())
}

/// Sets a whole attribute. Adding to a multi-valued attribute appends the entries that it does not have.
pub(super) fn set_attribute(
    section: &mut Object,
    name: &str,
    value: Value,
    verb: PatchVerb,
    budget: &mut Budget,
) -> Result<(), ScimError> {
    // Each new entry is compared with the entries before it.
    let known_entries = if verb == PatchVerb::Add { count_entries(section, name) } else { 0 };
    let new_entries = if let Value::List(items) = &value { items.len() } else { 1 };
    budget.take_value(value.json_bytes(), known_entries + new_entries)?;
    if schemas::is_multi_valued(name) {
        let new_entries = entries(name, value, budget)?;
        let mut all = if verb == PatchVerb::Add { take_entries(section, name)? } else { vec![] };
        for entry in new_entries {
            if !all.contains(&entry) {
                all.push(entry);
                let last = all.len() - 1;
                demote_rest(&mut all, last);
            }
        }
        budget.check_entries(name, all.len())?;
        store_entries(section, name, all);
        return Ok(());
    }
    if schemas::is_complex(name) {
        let Value::Object(members) = value else {
            return Err(ScimError::value(format!("`{name}` must be an object, not {}.", value.kind())));
        };
        return merge_members(section, name, members);
    }
    match (verb, find_member(section, name), value) {
        (PatchVerb::Add, Some(Value::List(items)), Value::List(more)) => {
            budget.check_entries(name, items.len() + more.len())?;
            for item in more {
                if !items.contains(&item) {
                    items.push(item);
                }
            }
        }
        (_, Some(Value::Object(_)), Value::Object(members)) => return merge_members(section, name, members),
        (_, Some(member), value) => *member = value,
        (_, None, value) => section.push(name, value),
    }
    Ok(())
}

/// Sets the members of a complex attribute. A member without a value is removed.
fn merge_members(section: &mut Object, name: &str, members: Object) -> Result<(), ScimError> {
    for (member, value) in members {
        let member = schemas::canonical_sub(&member);
        if is_unassigned(&value) {
            remove_sub(section, name, &member);
        } else {
            set_sub(section, name, &member, value)?;
        }
    }
    Ok(())
}

/// Removes the entries that meet the conditions. With `sub`, removes only this sub-attribute from them, unless it
/// is `value`: an entry without its value has no meaning.
pub(super) fn remove_matching(section: &mut Object, name: &str, conditions: &[Comparison], sub: Option<&str>) {
    let Ok(mut all) = take_entries(section, name) else { return };
    match sub {
        None | Some("value") => all.retain(|entry| !matches(entry, conditions)),
        Some(sub) => {
            for entry in all.iter_mut().filter(|entry| matches(entry, conditions)) {
                drop_member(entry, sub);
            }
            all.retain(|entry| !entry.is_empty());
        }
    }
    store_entries(section, name, all);
}

/// Removes a sub-attribute. A complex attribute or an entry without content is removed.
pub(super) fn remove_sub(section: &mut Object, name: &str, sub: &str) {
    let is_list = match find_member(section, name) {
        Some(Value::Object(members)) => {
            drop_member(members, sub);
            if members.is_empty() {
                drop_member(section, name);
            }
            false
        }
        Some(Value::List(_)) => true,
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_)) | None => false,
    };
    if is_list && let Ok(mut all) = take_entries(section, name) {
        for entry in &mut all {
            drop_member(entry, sub);
        }
        all.retain(has_content);
        store_entries(section, name, all);
    }
}

/// Returns the value by which a removal names an entry.
fn name_of_entry(item: &Value) -> Option<&Value> {
    match item {
        Value::Object(members) => members.get("value"),
        text @ Value::Text(_) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) => None,
    }
}

/// Removes an attribute, or only the entries that `value` names: objects with `value`, or texts.
pub(super) fn remove_attribute(section: &mut Object, name: &str, value: Option<&Value>) -> Result<(), ScimError> {
    let Some(value) = value.filter(|_| schemas::is_multi_valued(name)) else {
        drop_member(section, name);
        return Ok(());
    };
    let items = if let Value::List(items) = value { items.as_slice() } else { std::slice::from_ref(value) };
    let Some(removed_values) = items.iter().map(name_of_entry).collect::<Option<Vec<_>>>() else {
        let remedy = "Send objects with `value`, or no value to remove the attribute.";
        return Err(ScimError::value(format!("The entries of `{name}` to remove are not named. {remedy}")));
    };
    if let Ok(mut all) = take_entries(section, name) {
        all.retain(|entry| !entry.get("value").is_some_and(|value| removed_values.contains(&value)));
        store_entries(section, name, all);
    }
    Ok(())
}
