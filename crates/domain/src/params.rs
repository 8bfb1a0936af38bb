//! Reads query parameters: bracket filters, sort, cursor, expand; every problem is collected (§1, A10).

use strum::{IntoStaticStr, VariantArray};

use std::collections::BTreeSet;

use crate::fields::Word;
use crate::id::{Id, Kind};
use crate::page::{DEFAULT_LIMIT, ListDigest, Listed, MAX_LIMIT, PageRequest, Sort, read_cursor};
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Archived {
    /// Those that are not archived.
    #[default]
    #[strum(to_string = "false")]
    No,
    /// Those that are.
    #[strum(to_string = "true")]
    Yes,
    /// Both.
    All,
}

impl Word for Archived {
    const NAME: &'static str = "ArchivedFilter";
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
    pub fn changed<T: Listed>(mut self, list: &str) -> Result<ListRequest<Bounds<Timestamp>, ()>, Problems> {
        let bounds = self.bounds("filter[updated_at]", datetime);
        self.list::<T, _, _>(list, bounds, Vec::new())
    }

    /// Reads sort, limit and cursor, and ends the reading of a list's parameters.
    ///
    /// # Errors
    /// Every problem found, unknown filters included.
    pub fn list<T: Listed, F, E>(self, name: &str, filter: F, expand: Vec<E>) -> Result<ListRequest<F, E>, Problems> {
        self.sorted(name, T::DEFAULT, T::sorts(), filter, expand)
    }

    /// Reads sort, limit and cursor of a list in one of these orders.
    pub(crate) fn sorted<F, E>(
        mut self,
        name: &str,
        default: Sort,
        sorts: impl Iterator<Item = (&'static str, Sort)> + Clone,
        filter: F,
        expand: Vec<E>,
    ) -> Result<ListRequest<F, E>, Problems> {
        let words = || sorts.clone().map(|(word, _)| word).collect::<Vec<_>>();
        let sort = self.one("sort", |text| {
            let known = sorts.clone().find(|(word, _)| *word == text);
            known.map(|(_, it)| it).ok_or_else(|| Flaw::one_of(&words()))
        });
        let sort = sort.unwrap_or(default);
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

/// `true` or `false`.
///
/// # Errors
/// `invalid_enum`.
pub fn flag(text: &str) -> Result<bool, Flaw> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Flaw::one_of(&["true", "false"])),
    }
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
mod tests;
