//! Parsing of query parameters as clients send them.

use super::*;
use crate::page::{Key, Position, SortBy, SortKey, cursor};
use crate::time::Date;

/// A listed resource with a creation time only.
struct Thing(Timestamp);

impl Sortable for Thing {
    const ORDERS_NAME: &'static str = "ThingSort";
    const ORDERS: &'static [SortKey<Self>] = &[SortKey::ascending_by(SortBy::CreatedAt, |row| Key::Time(row.0))];
}

fn params(query: &[(&str, &str)]) -> Params {
    Params::new(query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

type Query<'a> = &'a [(&'a str, &'a str)];
type Found = ListRequest<(Option<Archived>, Bounds<Date>), Archived>;

fn list(query: Query<'_>) -> Result<Found, Vec<(String, Code)>> {
    let mut params = params(query);
    let filter = (params.one(&word("filter[archived]", "")), params.bounds(&date("filter[day]", "")));
    let expand = params.expand();
    let problems = |found: ValidationErrors| {
        found.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
    };
    let request = params.list::<Thing, _, _>("things", filter, expand);
    params.finish(request).map_err(problems)
}

#[test]
fn bad_parameter_is_named_with_its_code() {
    let table: &[(Query<'_>, &str, Code)] = &[
        (&[("limit", "0")], "limit", Code::OutOfRange),
        (&[("limit", "101")], "limit", Code::OutOfRange),
        (&[("limit", "-1")], "limit", Code::OutOfRange),
        (&[("limit", "99999999999999999999")], "limit", Code::OutOfRange),
        (&[("limit", "ten")], "limit", Code::InvalidFormat),
        (&[("limit", "")], "limit", Code::InvalidFormat),
        (&[("limit", "1.0")], "limit", Code::InvalidFormat),
        (&[("cursor", "nonsense")], "cursor", Code::InvalidFormat),
        (&[("sort", "age")], "sort", Code::InvalidEnum),
        (&[("expand", "true,age")], "expand", Code::InvalidEnum),
        (&[("expand", "")], "expand", Code::InvalidEnum),
        (&[("expand", "true,")], "expand", Code::InvalidEnum),
        (&[("filter[archived]", "maybe")], "filter[archived]", Code::InvalidEnum),
        (&[("filter[archived]", "all"), ("filter[archived]", "all")], "filter[archived]", Code::InvalidFormat),
        (&[("filter[age]", "3")], "filter[age]", Code::UnknownField),
        (&[("filter.day", "3"), ("filter.day", "4")], "filter.day", Code::UnknownField),
        (&[("filter[day][gt]", "2026-01-01")], "filter[day][gt]", Code::UnknownField),
        (&[("filter[day][gte]", "2026-02-30")], "filter[day][gte]", Code::InvalidFormat),
        (
            &[("filter[day][gte]", "2026-01-02"), ("filter[day][lte]", "2026-01-01")],
            "filter[day][gte]",
            Code::OutOfRange,
        ),
    ];
    for (query, field, code) in table {
        assert_eq!(list(query).unwrap_err(), [((*field).to_owned(), *code)], "{query:?}");
    }
}

#[test]
fn bounds_of_limits_are_inclusive() {
    for limit in ["1", "100"] {
        assert_eq!(list(&[("limit", limit)]).unwrap().page.limit.to_string(), limit);
    }
    assert_eq!(list(&[]).unwrap().page.limit, DEFAULT_LIMIT);
    assert!(list(&[("filter[day][gte]", "2026-01-01"), ("filter[day][lte]", "2026-01-01")]).is_ok());
    assert!(list(&[("colour", "red")]).is_ok(), "other unknown parameters are ignored");
}

#[test]
fn expand_unites_repeated_and_comma_separated_words() {
    let expand = |query: Query<'_>| list(query).map(|request| request.expand);
    let both = Ok(vec![Archived::Yes, Archived::All]);
    assert_eq!(expand(&[("expand", "true,all")]), both);
    assert_eq!(expand(&[("expand", "true"), ("expand", "all")]), both);
    assert_eq!(expand(&[("expand", "true,all"), ("expand", "true"), ("expand", "all,true")]), both);
    let expected_error = Err(vec![("expand".to_owned(), Code::InvalidEnum)]);
    assert_eq!(expand(&[("expand", "true"), ("expand", "age")]), expected_error);
    assert_eq!(expand(&[("expand", "true"), ("expand", "")]), expected_error);
}

#[test]
fn cursor_is_bound_to_its_sort_and_filter() {
    let position = Position { key: Key::Time(Timestamp::from_millis(1)), id: [7; 16] };
    let text = cursor(list(&[]).unwrap().digest, &position);
    let with = |more: &[(&str, &str)]| {
        list(&[&[("cursor", text.as_str())], more].concat()).map(|request| request.page.after)
    };
    assert_eq!(with(&[]), Ok(Some(position.clone())));
    assert_eq!(with(&[("limit", "7"), ("expand", "true")]), Ok(Some(position)));
    assert!(with(&[("sort", "-created_at")]).is_err());
    assert!(with(&[("filter[archived]", "all")]).is_err());
}

#[test]
fn misspelling_is_compared_with_names_of_the_program_only() {
    let long = "a".repeat(20_000);
    let pairs = [format!("filter[metadata.{long}]"), format!("filter[metadatb.{long}]")];
    let mut params = Params::new(pairs.map(|name| (name, "1".to_owned())).to_vec());
    params.read_keyed_filters("metadata", "", 40_000, |_| Ok(()));
    let problems = params.finish(()).unwrap_err();
    let messages: Vec<_> = problems.as_slice().iter().map(|problem| problem.message.to_string()).collect();
    assert_eq!(
        messages,
        ["is not a filter of this list; write filter[field]=value, and repeat it for several values"]
    );
}

#[test]
fn repeated_keyed_filter_is_one_problem() {
    let mut params = params(&[("filter[custom_fields.x]", "y"), ("filter[custom_fields.x]", "z")]);
    assert_eq!(params.read_keyed_filters("custom_fields", "", 64, |_| Ok(())), []);
    let problems = params.finish(()).unwrap_err();
    let codes: Vec<_> = problems.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code)).collect();
    assert_eq!(codes, [("filter[custom_fields.x]", Code::InvalidFormat)]);
}

#[test]
fn number_of_keyed_filters_is_limited() {
    let query: Vec<_> = (0..=MAX_REPEATS).map(|number| format!("filter[custom_fields.k{number}]")).collect();
    let filters_of = |count: usize| {
        let query: Vec<_> = query.iter().take(count).map(|name| (name.as_str(), "x")).collect();
        let mut params = params(&query);
        (
            params.read_keyed_filters("custom_fields", "", 64, |_| Ok(())).len(),
            params.finish(()).err().map(|problems| problems.as_slice().len()),
        )
    };
    assert_eq!(filters_of(MAX_REPEATS), (MAX_REPEATS, None));
    assert_eq!(filters_of(MAX_REPEATS + 1), (0, Some(1)));
}

#[test]
fn malformed_field_name_is_a_problem_of_its_filter() {
    let mut params = params(&[("filter[custom_fields.]", "42"), ("filter[custom_fields.x]", "y")]);
    let is_key = |key: &str| if key.is_empty() { Err(ValueError::required()) } else { Ok(()) };
    assert_eq!(params.read_keyed_filters("custom_fields", "", 64, is_key), [("x".to_owned(), "y".to_owned())]);
    let problems = params.finish(()).unwrap_err();
    let codes: Vec<_> = problems.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code)).collect();
    assert_eq!(codes, [("filter[custom_fields.]", Code::Required)]);
}

#[test]
fn keyed_filters_carry_the_field_name() {
    let mut params = params(&[("filter[custom_fields.cost.center]", "42"), ("filter[custom_fields.x]", "y")]);
    let filters = params.read_keyed_filters("custom_fields", "", 64, |_| Ok(()));
    assert_eq!(filters, [("cost.center".to_owned(), "42".to_owned()), ("x".to_owned(), "y".to_owned())]);
    assert_eq!(params.finish(()), Ok(()));
}

#[test]
fn dry_run_accepts_true_and_false_once() {
    let read = |query: Query<'_>, is_possible| params(query).dry_run(is_possible);
    for is_possible in [true, false] {
        assert_eq!(read(&[("filter[age]", "3")], is_possible), Ok(false), "other parameters are ignored");
        assert_eq!(read(&[("dry_run", "false")], is_possible), Ok(false));
    }
    assert_eq!(read(&[("dry_run", "true")], true), Ok(true));
    let table: &[(Query<'_>, bool, Code)] = &[
        (&[("dry_run", "true")], false, Code::NotPossible),
        (&[("dry_run", "yes")], true, Code::InvalidEnum),
        (&[("dry_run", "TRUE")], false, Code::InvalidEnum),
        (&[("dry_run", "")], true, Code::InvalidEnum),
        (&[("dry_run", "true"), ("dry_run", "true")], true, Code::InvalidFormat),
    ];
    for (query, is_possible, code) in table {
        let problems = read(query, *is_possible).unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!((problem.field.as_str(), problem.code), ("dry_run", *code), "{query:?}");
    }
}
