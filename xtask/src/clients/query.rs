//! The query of an operation as one type: filters by field, ranges by bound.

use super::document::{member, object, text};
use super::model::{Member, NamedType, RenderedType};
use super::types::Type;
use crate::process::Outcome;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const RANGE: &str = "Range";
/// Name of the parameter of a dry run in queries.
pub(super) const DRY_RUN: &str = "dry_run";

/// The query parameters of an operation.
pub(super) struct Query {
    operation: String,
    pub(super) members: Vec<Member>,
    filters: Vec<Member>,
    pub(super) joined: Vec<String>,
}

/// Returns the type for the bounds of a filter.
pub(super) fn range() -> NamedType {
    let bound_of = |name: &str, doc: &str| Member {
        name: name.to_owned(),
        doc: doc.to_owned(),
        required: false,
        rendered: RenderedType::from(&Type::Text),
    };
    let bounds = vec![
        bound_of("gte", "The least value that matches."),
        bound_of("lte", "The greatest value that matches."),
    ];
    object(RANGE, "Bounds of a date or time, both inclusive.", bounds)
}

/// Returns the filters of all operations whose parameters name a key of a map.
pub(super) fn keyed_filters(document: &Value) -> BTreeSet<String> {
    let items = document["paths"].as_object().into_iter().flat_map(Map::values);
    let operations = items.filter_map(Value::as_object).flat_map(Map::values);
    let parameters = operations.filter_map(|operation| operation["parameters"].as_array()).flatten();
    parameters.filter_map(keyed_filter).map(str::to_owned).collect()
}

/// Returns the filter whose keys a parameter names: `custom_fields` for `filter[custom_fields.city]`, where `city` is a
/// key of its map. `None` for all other parameters.
fn keyed_filter(parameter: &Value) -> Option<&str> {
    parameter["schema"]["additionalProperties"].as_object()?;
    let pattern = parameter["schema"]["propertyNames"]["pattern"].as_str()?;
    pattern.trim_start_matches('^').split("\\.").next()
}

impl Query {
    /// Reads the query parameters of an operation. `name` is the beginning of the names of its types.
    pub(super) fn read(document: &Value, operation: &Value, name: &str) -> Outcome<Self> {
        let mut query = Self { operation: name.to_owned(), members: vec![], filters: vec![], joined: vec![] };
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = match parameter["$ref"].as_str() {
                Some(path) => document.pointer(path.trim_start_matches('#')).ok_or("a parameter is missing")?,
                None => parameter,
            };
            // Skipped: a dry run is another way to call the method, because it changes the type of the answer.
            if parameter["in"] == "query" && parameter["name"] != DRY_RUN {
                query.add(&text(&parameter["name"])?, parameter)?;
            }
        }
        if !query.filters.is_empty() {
            let filter = Type::Named(query.filter_name());
            query.members.insert(0, member("filter", &Value::Null, false, &filter));
            query.members[0].doc = "Conditions that every entry matches.".to_owned();
        }
        Ok(query)
    }

    fn filter_name(&self) -> String {
        format!("{}Filter", self.operation)
    }

    fn add(&mut self, name: &str, parameter: &Value) -> Outcome {
        let schema = &parameter["schema"];
        if let Some(prefix) = keyed_filter(parameter) {
            self.filters.push(member(prefix, parameter, false, &Type::read(schema)?));
            return Ok(());
        }
        let mut of_type = Type::read(schema)?;
        if let Type::List(items) = of_type {
            of_type = Type::OneOrMore(items);
        }
        if parameter["explode"] == false {
            self.joined.push(name.to_owned());
        }
        let Some(filter) = name.strip_prefix("filter[") else {
            self.members.push(member(name, parameter, parameter["required"] == true, &of_type));
            return Ok(());
        };
        let (field, bound) = filter.split_once(']').ok_or_else(|| format!("unknown parameter {name}"))?;
        if bound.is_empty() {
            self.filters.push(member(field, parameter, false, &of_type));
        } else if !self.filters.iter().any(|known| known.name == field) {
            let bounds = json!({"description": format!("Bounds of `{field}`, both inclusive.")});
            self.filters.push(member(field, &bounds, false, &Type::Named(RANGE.to_owned())));
        }
        Ok(())
    }

    /// Returns the name of the query's type, if there are parameters.
    pub(super) fn name(&self) -> Option<String> {
        (!self.members.is_empty()).then(|| format!("{}Query", self.operation))
    }

    /// Returns the types of the query and its filters.
    pub(super) fn types(self) -> Vec<NamedType> {
        let (filter, operation) = (self.filter_name(), self.operation.clone());
        let filters = (!self.filters.is_empty())
            .then(|| object(&filter, &format!("Filters of the operation `{operation}`."), self.filters.clone()));
        let query =
            self.name().map(|name| object(&name, &format!("Query of the operation `{operation}`."), self.members));
        filters.into_iter().chain(query).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Query, keyed_filters};
    use serde_json::json;

    #[test]
    fn bracketed_filters_become_members_of_one_object() {
        let text = json!({"type": "string"});
        let parameters = json!([
            {"in": "query", "name": "filter[status]", "schema": {"type": "array", "items": text}, "explode": true},
            {"in": "query", "name": "filter[updated_at][gte]", "schema": text},
            {"in": "query", "name": "filter[updated_at][lte]", "schema": text},
            {"in": "query", "name": "types", "schema": {"type": "array", "items": text}, "explode": false},
            {"in": "query", "name": "filter", "schema": {
                "additionalProperties": text, "propertyNames": {"pattern": "^metadata\\..{1,40}$"},
            }},
            {"in": "header", "name": "If-Match", "schema": text},
        ]);
        let operation = json!({"parameters": parameters});
        assert_eq!(
            keyed_filters(&json!({"paths": {"/people": {"get": operation}}})),
            ["metadata".to_owned()].into()
        );
        let query = Query::read(&json!({}), &operation, "ListPeople").unwrap();
        let names = |of: &[super::Member]| of.iter().map(|member| member.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            (names(&query.members), names(&query.filters)),
            (
                vec!["filter".to_owned(), "types".to_owned()],
                ["status", "updated_at", "metadata"].map(str::to_owned).into()
            )
        );
        assert_eq!(query.filters[1].rendered.typescript, "Range");
        assert_eq!(query.joined, ["types"]);
    }
}
