//! Reads query parameters: bracket filters, sort, cursor and expand. Collects every problem (§1, A10).

use strum::{IntoStaticStr, VariantArray};

mod kinds;
mod near;
mod values;

pub use kinds::parse_id;
pub use kinds::{
    ARCHIVED, DRY_RUN, Param, Parameter, StatusWord, UPDATED_AT, ValueForm, address, any, date, datetime, flag,
    id, identifier_param, identifying_name, instant, param, plain, status, word,
};

use std::collections::BTreeSet;

use crate::fields::{StringEnum, string_enum};
use crate::page::{DEFAULT_LIMIT, ListDigest, PageRequest, Sort, SortBy, Sortable, read_cursor};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::time::Timestamp;
use values::{check_value_size, limit};

/// Maximum length of a filter value, in characters. Longer values can match nothing and are refused before they
/// reach a store.
pub const MAX_VALUE_CHARS: usize = 4096;
/// Maximum number of repetitions of a repeatable filter.
pub const MAX_REPEATS: usize = 100;

/// The decoded parameters of a query, and the problems found so far.
#[derive(Debug)]
pub struct Params {
    pairs: Vec<(String, String)>,
    /// Names that the operation reads.
    known: Vec<String>,
    /// Names of keyed filters that were read. They come from the request and are as long as the client likes, so no
    /// misspelling is compared with them.
    keyed: BTreeSet<String>,
    problems: ValidationErrors,
    described: Option<Vec<Parameter>>,
}

/// Inclusive bounds of a range; `None` is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds<T> {
    /// Inclusive lower bound; `None` for no bound.
    pub gte: Option<T>,
    /// Inclusive upper bound; `None` for no bound.
    pub lte: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self { gte: None, lte: None }
    }
}

/// A page of a list, as requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest<F, E> {
    /// Conditions of the list.
    pub filter: F,
    /// Order of the list.
    pub sort: Sort,
    /// Size and start of the page.
    pub page: PageRequest,
    /// Related resources to include in each entry.
    pub expand: Vec<E>,
    /// Digest that binds the next cursor to this list.
    pub digest: ListDigest,
}

/// Filter by archive status (§4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Archived {
    /// Only entries in use.
    #[default]
    #[strum(to_string = "false")]
    No,
    /// Only archived entries.
    #[strum(to_string = "true")]
    Yes,
    /// Entries in use and archived ones.
    All,
}

string_enum!(Archived, "ArchivedFilter");

impl Params {
    /// Creates a reader of these decoded name and value pairs.
    #[must_use]
    pub const fn new(pairs: Vec<(String, String)>) -> Self {
        Self {
            pairs,
            known: Vec::new(),
            keyed: BTreeSet::new(),
            problems: ValidationErrors::none(),
            described: None,
        }
    }

    fn values(&mut self, name: &str) -> Vec<String> {
        self.known.push(name.to_owned());
        self.find_values(name)
    }

    fn find_values(&self, name: &str) -> Vec<String> {
        self.pairs.iter().filter(|(pair, _)| pair == name).map(|(_, value)| value.clone()).collect()
    }

    /// Returns the parameters that `read` declares. Runs `read` on an empty query and drops its result.
    #[must_use]
    pub fn describe_parameters<T>(read: impl FnOnce(&mut Self) -> T) -> Vec<Parameter> {
        let mut params = Self { described: Some(Vec::new()), ..Self::new(Vec::new()) };
        read(&mut params);
        params.described.unwrap_or_default()
    }

    fn note(&mut self, parameter: impl FnOnce() -> Parameter) {
        if let Some(descriptions) = &mut self.described {
            descriptions.push(parameter());
        }
    }

    /// Returns `true` if the query has this parameter. Another function reads and checks its value.
    pub fn has(&mut self, name: &str) -> bool {
        !self.parse_repeated(name, |text| Ok(text.to_owned())).is_empty()
    }

    /// Reads a parameter that may be given once. Returns `None` if the parameter is absent, or invalid, which is
    /// recorded as a problem.
    pub fn one<T>(&mut self, param: &Param<T>) -> Option<T> {
        self.one_and(param, Ok)
    }

    /// Reads a parameter that must be given exactly once. Returns `None` and records a problem if the parameter is
    /// missing or invalid.
    pub fn required<T>(&mut self, param: &Param<T>) -> Option<T> {
        self.note(|| param.described_as_required());
        if self.values_of(param.name).next().is_none() {
            self.problems.add(param.name, ValueError::required());
        }
        self.single(param.name, param.parse)
    }

    /// Iterates over the raw values of a parameter.
    pub fn values_of(&self, name: &'static str) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(pair, _)| pair == name).map(|(_, value)| &**value)
    }

    /// Returns the first raw value of a parameter whose name is compared without case, as in SCIM.
    #[must_use]
    pub fn value_ignoring_case(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(pair, _)| pair.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Reads a parameter that may be given once, with an additional condition that depends on more than its
    /// value.
    pub fn one_and<S, T>(&mut self, param: &Param<S>, then: impl FnOnce(S) -> Result<T, ValueError>) -> Option<T> {
        self.note(|| param.describe(false));
        self.single(param.name, |text| (param.parse)(text).and_then(then))
    }

    fn single<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, ValueError>) -> Option<T> {
        let values = self.values(name);
        self.parse_single(name, &values, parse)
    }

    fn parse_single<T>(
        &mut self,
        name: &str,
        values: &[String],
        parse: impl FnOnce(&str) -> Result<T, ValueError>,
    ) -> Option<T> {
        let result = match values {
            [] => return None,
            [value] => check_value_size(value).and_then(parse),
            _ => Err(ValueError::format("given only once")),
        };
        self.problems.take(name, result)
    }

    /// Reads a parameter that may be repeated; an entry matches any of the values.
    pub fn many<T>(&mut self, param: &Param<T>) -> Vec<T> {
        self.note(|| param.describe(true));
        self.parse_repeated(param.name, |text| {
            (param.parse)(text).map_err(|flaw| near::with_repetition(flaw, text))
        })
    }

    /// Reads `filter[status]`, which may be repeated. Returns each named status once, in the order of the
    /// OpenAPI document. Returns none without the filter, and every status if `all` is among the values.
    pub fn statuses<T: StatusWord>(&mut self, about: &'static str) -> Vec<T> {
        let status_filter = self.many(&status(about));
        let is_wanted = |status: &T| status_filter.contains(&None) || status_filter.contains(&Some(*status));
        T::ALL.iter().copied().filter(is_wanted).collect()
    }

    fn parse_repeated<T>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, ValueError>) -> Vec<T> {
        let values = self.values(name);
        if values.len() > MAX_REPEATS {
            self.problems
                .add(name, ValueError::new(Code::TooLong, format!("can be repeated at most {MAX_REPEATS} times")));
            return Vec::new();
        }
        let results: Result<Vec<T>, ValueError> =
            values.iter().map(|value| check_value_size(value).and_then(&parse)).collect();
        self.problems.take(name, results).unwrap_or_default()
    }

    /// Reads the filters named `filter[<prefix>.<key>]`. Returns keys and values. `is_key` checks the keys, which
    /// have at most `key_chars` characters.
    pub fn read_keyed_filters(
        &mut self,
        prefix: &'static str,
        about: &'static str,
        key_chars: usize,
        is_key: impl Fn(&str) -> Result<(), ValueError>,
    ) -> Vec<(String, String)> {
        self.note(|| Parameter::Keyed { prefix, about, key_chars });
        let start = format!("filter[{prefix}.");
        let is_keyed = |text: &&String| text.starts_with(&start) && text.ends_with(']');
        let names: BTreeSet<String> = self.pairs.iter().map(|(name, _)| name).filter(is_keyed).cloned().collect();
        if names.len() > MAX_REPEATS {
            self.problems.add(
                &start,
                ValueError::new(Code::TooLong, format!("can be repeated at most {MAX_REPEATS} times")),
            );
            self.keyed.extend(names);
            return Vec::new();
        }
        let mut filters = Vec::new();
        for name in names {
            let key = name[start.len()..name.len() - 1].to_owned();
            let values = self.find_values(&name);
            let value = self.parse_single(&name, &values, |text| is_key(&key).map(|()| text.to_owned()));
            filters.extend(value.map(|value| (key, value)));
            self.keyed.insert(name);
        }
        filters
    }

    /// Returns `true` if the parameter `dry_run` makes a write a trial. `is_possible` is `true` if the operation
    /// has trials (decision A18).
    ///
    /// # Errors
    /// The problem of the parameter: `invalid_format` if it is repeated, `invalid_enum` for a value other than
    /// `true` and `false`, `not_possible` for `true` where the operation has no trials.
    pub fn dry_run(&self, is_possible: bool) -> Result<bool, ValidationErrors> {
        let values: Vec<&str> = self.values_of(DRY_RUN.name).collect();
        let read = match values.as_slice() {
            [] => Ok(false),
            [value] => (DRY_RUN.parse)(value),
            _ => Err(ValueError::format("given only once")),
        };
        let possible = read.and_then(|is_trial| {
            let message = "is not possible for this operation; omit the parameter to carry the operation out";
            if is_trial && !is_possible { Err(ValueError::new(Code::NotPossible, message)) } else { Ok(is_trial) }
        });
        let mut problems = ValidationErrors::none();
        let is_trial = problems.take(DRY_RUN.name, possible).unwrap_or_default();
        problems.or(is_trial)
    }

    /// Reads a pair of inclusive bounds, `name[gte]` and `name[lte]`.
    pub fn bounds<T: Ord>(&mut self, param: &Param<T>) -> Bounds<T> {
        let Param { name, about, takes, .. } = *param;
        self.note(|| Parameter::Bounds { name, about, takes });
        let (lower, upper) = (format!("{name}[gte]"), format!("{name}[lte]"));
        let (gte, lte) = (self.single(&lower, param.parse), self.single(&upper, param.parse));
        if let (Some(gte), Some(lte)) = (&gte, &lte)
            && gte > lte
        {
            self.problems.add(lower, ValueError::new(Code::OutOfRange, format!("must not be after {upper}")));
        }
        Bounds { gte, lte }
    }

    /// Reads the parameter `expand`: the paths to inline, each once. Clients generated from the OpenAPI document
    /// send them comma-separated, repeated, or both.
    pub fn expand<E: StringEnum>(&mut self) -> Vec<E> {
        self.note(|| Parameter::Expand(E::NAME));
        let mut paths = Vec::new();
        let read_words = |text: &str| text.split(',').map(E::from_word).collect::<Result<Vec<_>, _>>();
        for path in self.parse_repeated("expand", read_words).into_iter().flatten() {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    /// Reads the parameters of a list whose only filter is the time of the last change (decision D10).
    pub fn list_by_update_time<T: Sortable>(&mut self, list: &str) -> ListRequest<Bounds<Timestamp>, ()> {
        let bounds = self.bounds(&UPDATED_AT);
        self.list::<T, _, _>(list, bounds, Vec::new())
    }

    /// Reads sort, limit and cursor of a list.
    pub fn list<T: Sortable, F, E>(&mut self, name: &str, filter: F, expand: Vec<E>) -> ListRequest<F, E> {
        self.note(|| Parameter::Sort(T::ORDERS_NAME, T::DEFAULT.word()));
        self.read_sorted_list(name, T::DEFAULT, T::sorts(), filter, expand)
    }

    /// Reads sort, limit and cursor of a list with orders of its own, of which the first is the default. `orders`
    /// is the name in the OpenAPI document for the words of these orders.
    pub fn read_ordered_list<F, E>(
        &mut self,
        orders: &'static str,
        name: &str,
        sorts: impl Iterator<Item = (&'static str, Sort)> + Clone,
        filter: F,
    ) -> ListRequest<F, E> {
        let (word, default) = sorts.clone().next().unwrap_or(("", Sort::descending_by(SortBy::CreatedAt)));
        self.note(|| Parameter::Sort(orders, word));
        self.read_sorted_list(name, default, sorts, filter, Vec::new())
    }

    /// Reads sort, limit and cursor of a list with these orders.
    pub fn read_sorted_list<F, E>(
        &mut self,
        name: &str,
        default: Sort,
        sorts: impl Iterator<Item = (&'static str, Sort)> + Clone,
        filter: F,
        expand: Vec<E>,
    ) -> ListRequest<F, E> {
        let words = || sorts.clone().map(|(word, _)| word).collect::<Vec<_>>();
        let sort = self.single("sort", |text| {
            let sort_order = sorts.clone().find(|(word, _)| *word == text);
            sort_order.map(|(_, value)| value).ok_or_else(|| ValueError::one_of(&words()))
        });
        self.read_page(name, sort.unwrap_or(default), filter, expand)
    }

    /// Reads limit and cursor of a list with a fixed order.
    pub fn read_page<F, E>(&mut self, name: &str, sort: Sort, filter: F, expand: Vec<E>) -> ListRequest<F, E> {
        self.note(|| Parameter::Page);
        let limit = self.single("limit", limit).unwrap_or(DEFAULT_LIMIT);
        let digest = self.digest(name, sort);
        let position = self.single("cursor", |text| {
            read_cursor(digest, sort.by, text)
                .ok_or_else(|| ValueError::format("a next_cursor of this list, with the same sort and filters"))
        });
        ListRequest { filter, sort, page: PageRequest { limit, after: position }, expand, digest }
    }

    fn digest(&self, name: &str, sort: Sort) -> ListDigest {
        let mut filters: Vec<_> = self
            .pairs
            .iter()
            .filter(|(name, _)| name.starts_with("filter[") || name == "q" || name == "types")
            .collect();
        filters.sort();
        ListDigest::new(&format!("{name}\n{sort:?}\n{filters:?}"))
    }

    /// Reads the parameters of a request with the function of its operation, such as `Filter::read`.
    ///
    /// # Errors
    /// One problem for each wrong parameter.
    pub fn parse<T>(mut self, read: impl FnOnce(&mut Self) -> T) -> Result<T, ValidationErrors> {
        let value = read(&mut self);
        self.finish(value)
    }

    /// Ends the reading. An unknown filter is a problem, and so is a misspelled parameter of the request; other
    /// unknown parameters are ignored.
    ///
    /// # Errors
    /// Every problem found.
    pub fn finish<T>(mut self, value: T) -> Result<T, ValidationErrors> {
        let mut unknown_names: Vec<&String> = Vec::new();
        for (name, _) in &self.pairs {
            if self.known.contains(name) || self.keyed.contains(name) || unknown_names.contains(&name) {
                continue;
            }
            let Some(form) = near::right_form(name, &self.known) else { continue };
            let message = if name.starts_with("filter[") {
                format!("is not a filter of this list; write {form}")
            } else {
                format!("is not a parameter; write {form}")
            };
            self.problems.add(name, ValueError::new(Code::UnknownField, message));
            unknown_names.push(name);
        }
        self.problems.or(value)
    }
}

#[cfg(test)]
mod tests;
