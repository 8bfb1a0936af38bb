//! Mutations of request bodies, for tests of the domain and of the API.

use candor_domain::json::{Object, Value};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::RngCore;

/// Returns a value that identity providers might send in a wrong place.
fn strange(random: &mut Xoshiro256PlusPlus) -> Value {
    let texts =
        ["", " ", "True", "False", "null", "emp_", "a@b", "\u{0}", "é", "urn:", "https://x/", "emails[", "$ref"];
    let pick = usize::try_from(random.next_u32()).unwrap_or_default();
    match pick % 9 {
        0 => Value::Null,
        1 => Value::Bool(pick & 16 == 0),
        2 => Value::Number((-1).into()),
        3 => Value::List(vec![]),
        4 => Value::Object(Object::new()),
        5 => Value::List(vec![Value::Null, strange(random)]),
        6 => Value::Object([("value".to_owned(), strange(random))].into()),
        _ => Value::Text(texts[(pick / 9) % texts.len()].to_owned()),
    }
}

fn strange_name(name: &str, random: &mut Xoshiro256PlusPlus) -> String {
    match random.next_u32() % 6 {
        0 => name.to_uppercase(),
        1 => format!("{name}.value"),
        2 => format!("{name}[type eq \"work\"].value"),
        3 => format!("urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:{name}"),
        4 => name.chars().rev().collect(),
        _ => String::new(),
    }
}

/// Changes about one in `odds` of the nodes of a value.
pub(crate) fn mutate(value: Value, odds: u32, random: &mut Xoshiro256PlusPlus) -> Value {
    if random.next_u32().is_multiple_of(odds) {
        return strange(random);
    }
    match value {
        Value::List(items) => {
            let mut items: Vec<_> = items.into_iter().map(|item| mutate(item, odds, random)).collect();
            if random.next_u32().is_multiple_of(odds) {
                items.extend(items.clone());
            }
            Value::List(items)
        }
        Value::Object(members) => {
            let mut changed_members = Object::new();
            for (name, value) in members {
                let value = mutate(value, odds, random);
                match random.next_u32() % (odds * 2) {
                    0 => changed_members.push(strange_name(&name, random), value),
                    1 => {}
                    2 => {
                        changed_members.push(name.clone(), value);
                        changed_members.push(name, strange(random));
                    }
                    _ => changed_members.push(name, value),
                }
            }
            Value::Object(changed_members)
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_)) => other,
    }
}
