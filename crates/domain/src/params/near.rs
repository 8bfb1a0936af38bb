//! Misspelled parameters of a request: ignoring them would return other rows than the client asked for, or carry
//! out a write that was meant as a trial (decision A10).

use super::DRY_RUN;

/// First letters of the parameters that change what a request returns, each with its right form.
const FORMS: [(&str, &str); 6] = [
    ("filter", "filter[field]=value, and repeat it for several values"),
    ("sort", "sort=field, or sort=-field for the descending order"),
    ("expand", "expand=path, with commas between several paths"),
    ("limit", "limit=50, and cursor=… with next_cursor for the next page"),
    ("cursor", "cursor=… with next_cursor of the page before"),
    ("since", "since=… with a time such as 2026-01-01T00:00:00Z"),
];
/// First letters of parameters of other services that page by number.
const PAGE: &str = "page[";

/// Returns the right form of a parameter that the request does not have, or `None` if the parameter is a foreign one.
/// `known` are the names that the request reads.
pub(super) fn right_form(name: &str, known: &[String]) -> Option<String> {
    let plain = decode_brackets(name).to_lowercase();
    if plain.starts_with(PAGE) {
        return Some(FORMS[3].1.to_owned());
    }
    let (word, form) = FORMS.iter().find(|(word, _)| plain.starts_with(word))?;
    // A word without anything else is a parameter of other lists.
    if name == *word && *word != "filter" {
        return None;
    }
    let field = field_of(&plain[word.len()..]);
    let is_same = |known: &&String| known.strip_prefix(word).is_some_and(|rest| field_of(rest) == field);
    let parameter = known.iter().find(is_same).filter(|_| !field.is_empty());
    Some(
        parameter.map_or_else(|| (*form).to_owned(), |name| format!("{name}=…, and repeat it for several values")),
    )
}

/// Returns `true` if a name is a misspelling of `dry_run`. If it were ignored, the write would be carried out.
pub(super) fn is_misspelled_dry_run(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    name != DRY_RUN.name && letters.eq_ignore_ascii_case("dryrun")
}

/// Decodes brackets that are encoded twice.
fn decode_brackets(name: &str) -> String {
    let mut text = name.to_owned();
    for (code, bracket) in [("%5B", "["), ("%5b", "["), ("%5D", "]"), ("%5d", "]")] {
        text = text.replace(code, bracket);
    }
    text
}

/// Returns the letters of the field after the word, whatever separates them.
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
        ] {
            let form = right_form(name, &known_names).unwrap_or_else(|| panic!("{name}"));
            assert!(form.starts_with(word), "{name}: {form}");
        }
        let key_prefixes = ["q", "page[漢]", "so漢"].map(str::to_owned);
        assert!(right_form("filter.漢", &key_prefixes).is_some_and(|form| form.starts_with("filter[field]")));
        for foreign in ["utm_source", "_", "page", "offset", "x", "colour", "since", "expand", "q"] {
            assert_eq!(right_form(foreign, &known_names), None, "{foreign}");
        }
    }

    #[test]
    fn misspelled_dry_run_is_recognized() {
        for name in ["dryRun", "dry-run", "DRY_RUN", "dryrun", "Dry_Run", "dry_run[]"] {
            assert!(is_misspelled_dry_run(name), "{name}");
        }
        for name in ["dry_run", "dry", "run", "dry_runs"] {
            assert!(!is_misspelled_dry_run(name), "{name}");
        }
    }
}
