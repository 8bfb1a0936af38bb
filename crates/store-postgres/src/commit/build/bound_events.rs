//! Events as parameters of a statement, with the condition that a subscription's filter permits them.

use candor_domain::event::Event;
use candor_domain::fields::StringEnum;
use candor_subscriptions::{DepartmentFact, EventFacts};
use candor_tables::flat::{SqlValue, Type};

use super::webhooks::text;
use crate::layout::Statement;

/// SQL for the events of a statement.
pub(super) struct BoundEvents {
    /// Further source of the `FROM` clause, with a comma before it; empty for one event.
    pub(super) source: String,
    /// Id, type, time and bit of an event.
    pub(super) columns: [String; 4],
    /// Condition that the filter of the subscription `w` permits the event.
    pub(super) is_permitted: String,
}

/// SQL for the facts of an event.
struct FactColumns<'a> {
    employee: &'a str,
    department: &'a str,
    kind: &'a str,
    scope: &'a str,
}

/// Binds one event as scalars.
pub(super) fn bind_one(statement: &mut Statement, event: &Event) -> BoundEvents {
    let facts = EventFacts::from_event(event);
    let (tenant, sql) = (statement.tenant.clone(), &mut statement.sql);
    let columns = [
        sql.id(event.id.to_bytes()),
        sql.bind(text(event.kind)),
        sql.bind(SqlValue::Time(event.created_at)),
        sql.bind(SqlValue::Int(event.kind.bit())),
    ];
    let [employee, department, person, kind, scope] = values(&facts).map(|value| sql.bind(value));
    // The subquery runs only if a subscription filters by departments, and then once.
    let department = format!(
        "COALESCE({department}, (SELECT m.department_id FROM employees AS m WHERE m.tenant_id = {tenant} \
         AND m.id = {person}))"
    );
    let facts = FactColumns { employee: &employee, department: &department, kind: &kind, scope: &scope };
    BoundEvents { source: String::new(), columns, is_permitted: is_permitted(&facts) }
}

/// Binds events as arrays, as a table named `e`.
pub(super) fn bind_several(statement: &mut Statement, events: &[&Event]) -> BoundEvents {
    let facts: Vec<_> = EventFacts::from_events(events).iter().map(values).collect();
    let (tenant, sql) = (statement.tenant.clone(), &mut statement.sql);
    let mut columns = vec![
        sql.ids(events.iter().map(|event| event.id.to_bytes())),
        sql.many(Type::Text, events.iter().map(|event| text(event.kind))),
        sql.many(Type::Time, events.iter().map(|event| SqlValue::Time(event.created_at))),
        sql.many(Type::Int, events.iter().map(|event| SqlValue::Int(event.kind.bit()))),
    ];
    let [employees, departments, people, kinds, scopes] = [0, 1, 2, 3, 4].map(|at| {
        let kind = if at < 3 { Type::Id } else { Type::Text };
        sql.many(kind, facts.iter().map(|values| values[at].clone()))
    });
    columns.extend([employees, departments, kinds, scopes]);
    // The array is built only if a subscription filters by departments, and then once. The inner query finds each
    // person by the key.
    let department = format!(
        "COALESCE(e.department, (ARRAY(SELECT (SELECT m.department_id FROM employees AS m \
         WHERE m.tenant_id = {tenant} AND m.id = u.id) FROM UNNEST({people}) WITH ORDINALITY AS u (id, number) \
         ORDER BY u.number))[e.number])"
    );
    let facts = FactColumns { employee: "e.employee", department: &department, kind: "e.kind", scope: "e.scope" };
    BoundEvents {
        source: format!(
            ", UNNEST({}) WITH ORDINALITY AS e (id, type, at, bit, employee, department, kind, scope, number)",
            columns.join(", ")
        ),
        columns: ["e.id", "e.type", "e.at", "e.bit"].map(str::to_owned),
        is_permitted: is_permitted(&facts),
    }
}

/// Condition that the filter of the subscription `w` permits an event with these facts. A fact that is null meets
/// no condition. The condition must agree with
/// [`EventFilter::matches`](candor_subscriptions::EventFilter::matches).
fn is_permitted(facts: &FactColumns<'_>) -> String {
    let FactColumns { employee, department, kind, scope } = facts;
    format!(
        "(w.filter_employee_ids IS NULL OR {employee} = ANY(w.filter_employee_ids)) \
         AND (w.filter_type IS NULL OR w.filter_type = {kind}) \
         AND (w.filter_scopes IS NULL OR {scope} = ANY(string_to_array(w.filter_scopes, ' '))) \
         AND (w.filter_department_ids IS NULL OR {department} = ANY(w.filter_department_ids))"
    )
}

/// Returns the person, the known department, the person whose department is to be read, the type and the scope.
fn values(facts: &EventFacts) -> [SqlValue; 5] {
    let id = |id: Option<[u8; 16]>| id.map_or(SqlValue::Null(Type::Id), SqlValue::Id);
    let word =
        |word: Option<&str>| word.map_or(SqlValue::Null(Type::Text), |word| SqlValue::Text(word.to_owned()));
    let (known, person) = match facts.department {
        DepartmentFact::Known(department) => (department, None),
        DepartmentFact::OfPerson(person) => (None, Some(person)),
    };
    [
        id(facts.employee_id.map(|id| id.to_bytes())),
        id(known.map(|id| id.to_bytes())),
        id(person.map(|id| id.to_bytes())),
        word(facts.kind.map(StringEnum::word)),
        word(facts.scope.map(StringEnum::word)),
    ]
}
