//! Misspelled parameters of a request: ignoring them would return other rows than the client asked for, or carry
//! out a write that was meant as a trial (decision A10).

use super::{DRY_RUN, Params};
use crate::problem::{Code, ValidationErrors, ValueError};

/// Beginnings of the names of parameters that change what a request returns, each with the right form of the
/// parameter.
const FORMS: [(&str, &str); 6] = [
    ("filter", "filter[field]=value, and repeat it for several values"),
    ("sort", "sort=field, or sort=-field for the descending order"),
    ("expand", "expand=path, with commas between several paths"),
    ("limit", "limit=50, and cursor=… with next_cursor for the next page"),
    ("cursor", "cursor=… with next_cursor of the page before"),
    ("since", "since=… with a time such as 2026-01-01T00:00:00Z"),
];
/// Beginning of the names of parameters by which other services page.
const PAGE: &str = "page[";
/// Length of the shortest name of which a misspelling is recognized: short words are near to many other words.
const MISSPELLED_LETTERS: usize = 5;
/// Maximum number of edits between a misspelled name and the right one.
const MOST_EDITS: usize = 2;

impl Params {
    /// Refuses misspellings of `dry_run`.
    ///
    /// # Errors
    /// `unknown_field` for each misspelling.
    pub fn expect_no_misspelled_dry_run(&self) -> Result<(), ValidationErrors> {
        let mut problems = ValidationErrors::none();
        for (name, _) in self.pairs.iter().filter(|(name, _)| is_misspelled_dry_run(name)) {
            let message = "is not a parameter; write dry_run=true, or omit it to carry the operation out";
            problems.add(name, ValueError::new(Code::UnknownField, message));
        }
        problems.or(())
    }
}

/// Returns the right form of a parameter that the request does not read, or `None` if the parameter is to be ignored.
/// `known` are the names that the request reads.
pub(super) fn right_form(name: &str, known: &[String]) -> Option<String> {
    let plain = decode_once(name).trim().to_lowercase();
    if plain.starts_with(PAGE) {
        return Some(FORMS[3].1.to_owned());
    }
    let Some((word, form)) = FORMS.iter().find(|(word, _)| plain.starts_with(word)) else {
        return misspelled_form(&plain, known);
    };
    // An exact word other than `filter`, such as `since`, is a parameter of other lists. It is ignored here.
    if name == *word && *word != "filter" {
        return None;
    }
    let field = field_of(&plain[word.len()..]);
    let is_same = |known: &&String| known.strip_prefix(word).is_some_and(|rest| field_of(rest) == field);
    let is_near = |known: &&String| {
        known.strip_prefix(word).is_some_and(|rest| is_same_or_misspelled(&field, &field_of(rest)))
    };
    let parameter =
        known.iter().find(is_same).or_else(|| known.iter().find(is_near)).filter(|_| !field.is_empty());
    Some(
        parameter.map_or_else(|| (*form).to_owned(), |name| format!("{name}=…, and repeat it for several values")),
    )
}

/// Returns the right form of a misspelled name: that of a filter (`fliter[status]`), or that of a parameter of the
/// request (`connectorId`, `emtpy`).
fn misspelled_form(plain: &str, known: &[String]) -> Option<String> {
    let (filter, form) = FORMS[0];
    let is_filter = |word: &str| strsim::osa_distance(word, filter) <= MOST_EDITS;
    let is_short = |word: &str| word.len() <= filter.len() + MOST_EDITS;
    if plain.split_once('[').is_some_and(|(word, rest)| rest.ends_with(']') && is_short(word) && is_filter(word)) {
        return Some(form.to_owned());
    }
    let is_plain = |known: &&String| !known.contains('[') && is_same_or_misspelled(plain, known);
    known.iter().find(is_plain).map(|name| format!("{name}=…"))
}

/// Returns `true` if a name and a parameter have the same letters and digits, or differ by one edit if the
/// parameter is long enough. Separators and case do not count. `parameter` is a name that the code defines, never
/// one from a request: the work grows with the product of both lengths.
fn is_same_or_misspelled(name: &str, parameter: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let (given, right) = (letters(name), letters(parameter));
    let may_be_near = right.len() >= MISSPELLED_LETTERS && given.len().abs_diff(right.len()) <= 1;
    given == right || (may_be_near && strsim::osa_distance(&given, &right) == 1)
}

/// Returns `true` if a name is a misspelling of `dry_run`. If it were ignored, the write would be carried out.
fn is_misspelled_dry_run(name: &str) -> bool {
    name != DRY_RUN.name && is_same_or_misspelled(&decode_once(name), DRY_RUN.name)
}

/// Adds the advice to repeat the parameter to the flaw of a value that seems to be several words.
pub(super) fn with_repetition(flaw: ValueError, text: &str) -> ValueError {
    if flaw.code == Code::InvalidEnum && text.contains(',') {
        return ValueError::new(flaw.code, format!("{}; repeat the parameter for several values", flaw.message));
    }
    flaw
}

/// Decodes brackets and underscores that are encoded twice.
fn decode_once(name: &str) -> String {
    let mut text = name.to_owned();
    for (code, sign) in [("%5B", "["), ("%5b", "["), ("%5D", "]"), ("%5d", "]"), ("%5F", "_"), ("%5f", "_")] {
        text = text.replace(code, sign);
    }
    text
}

/// Returns the name of a field from `rest`, the part of a parameter behind its first word, such as `[status]`:
/// without brackets and other separators.
fn field_of(rest: &str) -> String {
    rest.chars().filter(|character| character.is_alphanumeric() || *character == '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_right_parameter_gets_its_right_form() {
        let known_names = ["filter[status]", "filter[employee_id]", "sort", "limit", "cursor"].map(str::to_owned);
        let status = "filter[status]=…, and repeat it for several values";
        for name in [
            "filter.status",
            "filter%5Bstatus%5D",
            "FILTER[STATUS]",
            "Filter[status]",
            "filter[status][]",
            "filters[status]",
            "filter_status",
        ] {
            let form = right_form(name, &known_names).unwrap_or_else(|| panic!("{name}"));
            assert!(form.starts_with("filter["), "{name}: {form}");
        }
        assert_eq!(right_form("filter.status", &known_names).as_deref(), Some(status));
        for (name, word) in [
            ("filter", "filter[field]"),
            ("filter[nope]", "filter[field]"),
            ("expand[]", "expand="),
            ("expand[0]", "expand="),
            ("sort[last_name]", "sort="),
            ("sortBy", "sort="),
            ("Limit", "limit="),
            ("page[size]", "limit="),
            ("page%5Bnumber%5D", "limit="),
            ("since_id", "since="),
            ("fliter[status]", "filter[field]"),
            ("filter[statsu]", "filter[status]"),
            (" filter[status]", "filter["),
        ] {
            let form = right_form(name, &known_names).unwrap_or_else(|| panic!("{name}"));
            assert!(form.starts_with(word), "{name}: {form}");
        }
        let key_prefixes = ["q", "page[漢]", "so漢"].map(str::to_owned);
        assert!(right_form("filter.漢", &key_prefixes).is_some_and(|form| form.starts_with("filter[field]")));
        for foreign in ["utm_source", "_", "page", "offset", "x", "colour", "since", "expand", "q", "data[status]"]
        {
            assert_eq!(right_form(foreign, &known_names), None, "{foreign}");
        }
    }

    #[test]
    fn misspelled_parameter_of_the_request_gets_its_name() {
        let known_names = ["connector_id", "empty", "ignore_columns", "q", "filter[status]"].map(str::to_owned);
        for (name, right) in [
            ("connectorId", "connector_id=…"),
            ("connector-id", "connector_id=…"),
            ("Empty", "empty=…"),
            ("emtpy", "empty=…"),
            ("empty[]", "empty=…"),
            ("ignoreColumns", "ignore_columns=…"),
            ("ignore_column", "ignore_columns=…"),
            ("Q", "q=…"),
        ] {
            assert_eq!(right_form(name, &known_names).as_deref(), Some(right), "{name}");
        }
        for foreign in ["connector", "columns", "p", "status", "utm_source", "_", ""] {
            assert_eq!(right_form(foreign, &known_names), None, "{foreign}");
        }
    }

    #[test]
    fn words_with_a_comma_are_told_to_be_repeated() {
        let flaw = |text: &str| with_repetition(ValueError::one_of(&["a", "b"]), text).message;
        assert_eq!(flaw("a,b"), "must be one of: a, b; repeat the parameter for several values");
        assert_eq!(flaw("c"), "must be one of: a, b");
    }

    #[test]
    fn misspelled_dry_run_is_recognized() {
        for name in ["dryRun", "dry-run", "DRY_RUN", "Dry_Run", "dry_run[]", "dry_runs", "dry_rum", "dry%5Frun"] {
            assert!(is_misspelled_dry_run(name), "{name}");
        }
        for name in ["dry_run", "dry", "run", "dry_cleaning"] {
            assert!(!is_misspelled_dry_run(name), "{name}");
        }
    }
}
