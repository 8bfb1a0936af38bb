//! Reads query parameters: bracket filters, sort, cursor, expand; every problem is collected (§1, A10).

use std::collections::BTreeSet;

use crate::fields::Word;
use crate::id::{Id, Kind};
use crate::page::{DEFAULT_LIMIT, ListDigest, MAX_LIMIT, PageRequest, Sort, Sorts, read_cursor};
use crate::problem::{Code, Flaw, Problems};
use crate::time::{Date, Timestamp};

/// The longest value of a filter that can match anything; longer ones are refused before they reach a store.
const MAX_VALUE_CHARS: usize = 4096;
/// How often a repeatable filter may be repeated.
const MAX_REPEATS: usize = 100;

/// The decoded parameters of a query, and the problems found so far.
#[derive(Debug)]
pub struct Params {
    pairs: Vec<(String, String)>,
    known: Vec<String>,
    problems: Problems,
}

/// Inclusive bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds<T> {
    /// Not before this.
    pub gte: Option<T>,
    /// Not after this.
    pub lte: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self { gte: None, lte: None }
    }
}

/// A page of a list as a request asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest<F, E> {
    /// Which entries.
    pub filter: F,
    /// In which order.
    pub sort: Sort,
    /// Which page of them.
    pub page: PageRequest,
    /// What is inlined.
    pub expand: Vec<E>,
    /// Binds the next cursor to this very list.
    pub digest: ListDigest,
}

/// Which entries of something archivable (§4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Archived {
    /// Those that are not archived.
    #[default]
    No,
    /// Those that are.
    Yes,
    /// Both.
    All,
}

impl Word for () {
    const WORDS: &'static [(&'static str, Self)] = &[];
}

impl Word for Archived {
    const NAME: &'static str = "ArchivedFilter";
    const WORDS: &'static [(&'static str, Self)] = &[("false", Self::No), ("true", Self::Yes), ("all", Self::All)];
}

impl Params {
    /// Starts reading.
    #[must_use]
    pub const fn new(pairs: Vec<(String, String)>) -> Self {
        Self { pairs, known: Vec::new(), problems: Problems::none() }
    }

    fn values(&mut self, name: &str) -> Vec<String> {
        self.known.push(name.to_owned());
        self.pairs.iter().filter(|(it, _)| it == name).map(|(_, value)| value.clone()).collect()
    }

    /// A parameter that may be given once.
    pub fn one<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, Flaw>) -> Option<T> {
        let values = self.values(name);
        let result = match values.as_slice() {
            [] => return None,
            [value] => sized(value).and_then(parse),
            _ => Err(Flaw::format("given only once")),
        };
        self.problems.take(name, result)
    }

    /// A parameter that may be repeated; an entry matches any of the values.
    pub fn many<T>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, Flaw>) -> Vec<T> {
        let values = self.values(name);
        if values.len() > MAX_REPEATS {
            self.problems.add(name, Flaw::new(Code::TooLong, format!("can be repeated at most {MAX_REPEATS} times")));
            return Vec::new();
        }
        let results: Result<Vec<T>, Flaw> = values.iter().map(|value| sized(value).and_then(&parse)).collect();
        self.problems.take(name, results).unwrap_or_default()
    }

    /// The filters named `filter[<prefix>.<key>]`, with their keys, which `is_key` accepts or not.
    pub fn keyed(&mut self, prefix: &str, is_key: impl Fn(&str) -> Result<(), Flaw>) -> Vec<(String, String)> {
        let start = format!("filter[{prefix}.");
        let is_keyed = |it: &&String| it.starts_with(&start) && it.ends_with(']');
        let names: BTreeSet<String> = self.pairs.iter().map(|(name, _)| name).filter(is_keyed).cloned().collect();
        if names.len() > MAX_REPEATS {
            self.problems.add(&start, Flaw::new(Code::TooLong, format!("can be repeated at most {MAX_REPEATS} times")));
            self.known.extend(names);
            return Vec::new();
        }
        let mut keyed = Vec::new();
        for name in names {
            let key = name[start.len()..name.len() - 1].to_owned();
            let value = self.one(&name, |it| is_key(&key).map(|()| it.to_owned()));
            keyed.extend(value.map(|value| (key, value)));
        }
        keyed
    }

    /// A pair of inclusive bounds, `name[gte]` and `name[lte]`.
    pub fn bounds<T: Ord>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, Flaw>) -> Bounds<T> {
        let (lower, upper) = (format!("{name}[gte]"), format!("{name}[lte]"));
        let (gte, lte) = (self.one(&lower, &parse), self.one(&upper, &parse));
        if let (Some(gte), Some(lte)) = (&gte, &lte)
            && gte > lte
        {
            self.problems.add(lower, Flaw::new(Code::OutOfRange, format!("must not be after {upper}")));
        }
        Bounds { gte, lte }
    }

    /// The paths to inline: comma-separated, repeated, or both, as clients made from the document send them; each once.
    pub fn expand<E: Word>(&mut self) -> Vec<E> {
        let mut paths = Vec::new();
        let listed = |text: &str| text.split(',').map(E::from_word).collect::<Result<Vec<_>, _>>();
        for path in self.many("expand", listed).into_iter().flatten() {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    /// Reads the parameters of a list that only the time of the last change narrows (decision D10).
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn changed(mut self, list: &str, sorts: Sorts) -> Result<ListRequest<Bounds<Timestamp>, ()>, Problems> {
        let bounds = self.bounds("filter[updated_at]", datetime);
        self.list(list, sorts, bounds, Vec::new())
    }

    /// Reads sort, limit and cursor, and ends the reading of a list's parameters.
    ///
    /// # Errors
    /// Every problem found, unknown filters included.
    pub fn list<F, E>(
        mut self,
        name: &str,
        sorts: Sorts,
        filter: F,
        expand: Vec<E>,
    ) -> Result<ListRequest<F, E>, Problems> {
        let sort = self.one("sort", |text| {
            let known = sorts.iter().find(|(word, _)| *word == text);
            known
                .map(|(_, it)| *it)
                .ok_or_else(|| Flaw::one_of(&sorts.iter().map(|(word, _)| *word).collect::<Vec<_>>()))
        });
        let sort = sort.unwrap_or(sorts[0].1);
        let limit = self.one("limit", limit).unwrap_or(DEFAULT_LIMIT);
        let digest = self.digest(name, sort);
        let after = self.one("cursor", |text| {
            read_cursor(digest, sort.by, text)
                .ok_or_else(|| Flaw::format("a next_cursor of this list, with the same sort and filters"))
        });
        self.finish()?;
        Ok(ListRequest { filter, sort, page: PageRequest { limit, after }, expand, digest })
    }

    fn digest(&self, name: &str, sort: Sort) -> ListDigest {
        let mut filters: Vec<_> = self
            .pairs
            .iter()
            .filter(|(name, _)| name.starts_with("filter[") || name == "q" || name == "types")
            .collect();
        filters.sort();
        ListDigest::of(&format!("{name}\n{sort:?}\n{filters:?}"))
    }

    /// Ends the reading: an unknown filter is a problem, other unknown parameters are ignored.
    ///
    /// # Errors
    /// Every problem found.
    pub fn finish(mut self) -> Result<(), Problems> {
        for (name, _) in &self.pairs {
            if name.starts_with("filter[") && !self.known.contains(name) {
                self.known.push(name.clone());
                self.problems.add(name, Flaw::new(Code::UnknownField, "is not a filter of this list"));
            }
        }
        self.problems.or(())
    }
}

fn sized(value: &str) -> Result<&str, Flaw> {
    if value.chars().nth(MAX_VALUE_CHARS).is_some() {
        return Err(Flaw::new(Code::TooLong, format!("must have at most {MAX_VALUE_CHARS} characters")));
    }
    if value.contains('\0') { Err(Flaw::format("text without U+0000")) } else { Ok(value) }
}

fn limit(text: &str) -> Result<u16, Flaw> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return Err(Flaw::format("a whole number"));
    }
    let limit = text.parse().ok().filter(|it| (1..=MAX_LIMIT).contains(it));
    limit.ok_or_else(|| Flaw::new(Code::OutOfRange, format!("must be from 1 to {MAX_LIMIT}")))
}

/// One of a closed set of words.
///
/// # Errors
/// `invalid_enum`.
pub fn word<T: Word>(text: &str) -> Result<T, Flaw> {
    T::from_word(text)
}

/// An id to compare with. A text that is no id of the kind names nothing, so nothing matches it (decision A2).
///
/// # Errors
/// None; the signature is that of the other parsers.
pub fn id<K: Kind>(text: &str) -> Result<Id<K>, Flaw> {
    Ok(text.parse().unwrap_or(Id::from_bytes([0; 16])))
}

/// A date.
///
/// # Errors
/// `invalid_format`.
pub fn date(text: &str) -> Result<Date, Flaw> {
    text.parse().map_err(|_| Flaw::format("a date, YYYY-MM-DD"))
}

/// A datetime with an offset.
///
/// # Errors
/// `invalid_format`.
pub fn datetime(text: &str) -> Result<Timestamp, Flaw> {
    text.parse().map_err(|_| Flaw::format("an ISO 8601 datetime with an offset, such as Z or %2B02:00"))
}

/// Any text.
///
/// # Errors
/// None; the signature is that of the other parsers.
pub fn any(text: &str) -> Result<String, Flaw> {
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Key, Position, SortBy, cursor};

    const SORTS: Sorts = &[("created_at", Sort::up(SortBy::CreatedAt)), ("-created_at", Sort::down(SortBy::CreatedAt))];

    fn params(query: &[(&str, &str)]) -> Params {
        Params::new(query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    type Query<'a> = &'a [(&'a str, &'a str)];
    type Listed = ListRequest<(Option<Archived>, Bounds<Date>), Archived>;

    fn list(query: Query<'_>) -> Result<Listed, Vec<(String, Code)>> {
        let mut params = params(query);
        let filter = (params.one("filter[archived]", word), params.bounds("filter[day]", date));
        let expand = params.expand();
        let problems = |it: Problems| it.as_slice().iter().map(|it| (it.field.clone(), it.code)).collect();
        params.list("things", SORTS, filter, expand).map_err(problems)
    }

    #[test]
    fn each_bad_parameter_is_named_with_its_code() {
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
    fn edges_are_inside() {
        for limit in ["1", "100"] {
            assert_eq!(list(&[("limit", limit)]).unwrap().page.limit.to_string(), limit);
        }
        assert_eq!(list(&[]).unwrap().page.limit, DEFAULT_LIMIT);
        assert!(list(&[("filter[day][gte]", "2026-01-01"), ("filter[day][lte]", "2026-01-01")]).is_ok());
        assert!(list(&[("colour", "red")]).is_ok(), "other unknown parameters are ignored");
    }

    #[test]
    fn expand_is_the_union_of_its_repeats_and_commas() {
        let expand = |query: Query<'_>| list(query).map(|it| it.expand);
        let both = Ok(vec![Archived::Yes, Archived::All]);
        assert_eq!(expand(&[("expand", "true,all")]), both);
        assert_eq!(expand(&[("expand", "true"), ("expand", "all")]), both);
        assert_eq!(expand(&[("expand", "true,all"), ("expand", "true"), ("expand", "all,true")]), both);
        let refused = Err(vec![("expand".to_owned(), Code::InvalidEnum)]);
        assert_eq!(expand(&[("expand", "true"), ("expand", "age")]), refused);
        assert_eq!(expand(&[("expand", "true"), ("expand", "")]), refused);
    }

    #[test]
    fn a_cursor_survives_another_limit_or_expand_but_not_another_sort_or_filter() {
        let position = Position { key: Key::Time(Timestamp::from_millis(1)), id: [7; 16] };
        let text = cursor(list(&[]).unwrap().digest, &position);
        let with = |more: &[(&str, &str)]| list(&[&[("cursor", text.as_str())], more].concat()).map(|it| it.page.after);
        assert_eq!(with(&[]), Ok(Some(position.clone())));
        assert_eq!(with(&[("limit", "7"), ("expand", "true")]), Ok(Some(position)));
        assert!(with(&[("sort", "-created_at")]).is_err());
        assert!(with(&[("filter[archived]", "all")]).is_err());
    }

    #[test]
    fn a_keyed_filter_given_twice_is_one_problem() {
        let mut params = params(&[("filter[custom_fields.x]", "y"), ("filter[custom_fields.x]", "z")]);
        assert_eq!(params.keyed("custom_fields", |_| Ok(())), []);
        let problems = params.finish().unwrap_err();
        let codes: Vec<_> = problems.as_slice().iter().map(|it| (it.field.as_str(), it.code)).collect();
        assert_eq!(codes, [("filter[custom_fields.x]", Code::InvalidFormat)]);
    }

    #[test]
    fn a_store_is_not_asked_for_more_keyed_filters_than_it_can_answer() {
        let query: Vec<_> = (0..=MAX_REPEATS).map(|it| format!("filter[custom_fields.k{it}]")).collect();
        let keyed = |count: usize| {
            let query: Vec<_> = query.iter().take(count).map(|it| (it.as_str(), "x")).collect();
            let mut params = params(&query);
            (params.keyed("custom_fields", |_| Ok(())).len(), params.finish().err().map(|it| it.as_slice().len()))
        };
        assert_eq!(keyed(MAX_REPEATS), (MAX_REPEATS, None));
        assert_eq!(keyed(MAX_REPEATS + 1), (0, Some(1)));
    }

    #[test]
    fn a_key_that_cannot_be_one_is_a_problem_of_its_filter() {
        let mut params = params(&[("filter[custom_fields.]", "42"), ("filter[custom_fields.x]", "y")]);
        let is_key = |key: &str| if key.is_empty() { Err(Flaw::required()) } else { Ok(()) };
        assert_eq!(params.keyed("custom_fields", is_key), [("x".to_owned(), "y".to_owned())]);
        let problems = params.finish().unwrap_err();
        let named: Vec<_> = problems.as_slice().iter().map(|it| (it.field.as_str(), it.code)).collect();
        assert_eq!(named, [("filter[custom_fields.]", Code::Required)]);
    }

    #[test]
    fn keyed_filters_carry_their_key() {
        let mut params = params(&[("filter[custom_fields.cost.center]", "42"), ("filter[custom_fields.x]", "y")]);
        let keyed = params.keyed("custom_fields", |_| Ok(()));
        assert_eq!(keyed, [("cost.center".to_owned(), "42".to_owned()), ("x".to_owned(), "y".to_owned())]);
        assert_eq!(params.finish(), Ok(()));
    }
}
