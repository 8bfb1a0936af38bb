//! Reports about the parts of a divided file, in the terms of the whole file.

use std::collections::HashMap;

use candor_domain::problem::Code;
use serde_json::{Value, json};

use super::row_problem::not_imported;
use super::split::Part;

/// Rows that failed in the parts so far, each with the row to correct.
#[derive(Debug, Default)]
pub struct FailedRows(HashMap<u32, u32>);

impl FailedRows {
    /// Converts the row numbers of a part's failed rows to those of the whole file, also in messages. A row whose
    /// manager failed, also in an earlier part, names the row to correct.
    pub fn convert(&mut self, part: &Part, errors: &mut [Value]) {
        for error in errors {
            let row_number = number_of(&error["row_number"]).unwrap_or_default();
            let number = part.number(row_number);
            error["row_number"] = json!(number);
            let mut message = part.renumber_rows(error["message"].as_str().unwrap_or_default());
            let problems = error.get_mut("problems").and_then(Value::as_array_mut);
            for problem in problems.into_iter().flatten() {
                self.convert_problem(part, row_number, problem, &mut message);
            }
            error["message"] = json!(message);
            let own = number_of(&error["caused_by_row"]).map(|cause| part.number(cause));
            let cause = common_cause(error).or(own);
            if let Some(cause) = cause {
                error["caused_by_row"] = json!(cause);
            }
            // Managers come before their reports, so the rows of the reports find this entry.
            self.0.insert(number, cause.unwrap_or(number));
        }
    }

    /// Converts the row numbers in the text of a problem. `message` is the message of the whole row, which
    /// contains the same text and is converted too.
    fn convert_problem(&self, part: &Part, here: u32, problem: &mut Value, message: &mut String) {
        let mut text = part.renumber_rows(problem["message"].as_str().unwrap_or_default());
        let is_unknown =
            problem["field"] == "manager_email" && problem["code"] == json!(Code::NotFoundInOrganization);
        let manager = part.manager(here).filter(|_| is_unknown).and_then(|row| Some((row, *self.0.get(&row)?)));
        if let Some((row, cause)) = manager {
            let new_message = format!("{} {}", &text[..quoted_length(&text)], not_imported(row, cause));
            *message = message.replacen(&text, &new_message, 1);
            problem["caused_by_row"] = json!(cause);
            text = new_message;
        } else if let Some(cause) = number_of(&problem["caused_by_row"]) {
            problem["caused_by_row"] = json!(part.number(cause));
        }
        problem["message"] = json!(text);
    }
}

impl Part {
    /// Converts the row numbers in a message to those of the whole file. Values of cells, which are quoted, stay.
    #[must_use]
    pub fn renumber_rows(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let is_inside_word = result.ends_with(|before: char| before.is_alphanumeric() || before == '_');
            let list = ["row ", "rows "].into_iter().find(|word| rest.starts_with(*word) && !is_inside_word);
            let token_length = match (letter, list) {
                ('"', _) => quoted_length(rest),
                (_, Some(word)) => word.len(),
                (_, None) => letter.len_utf8(),
            };
            let (before, after) = rest.split_at(token_length);
            result.push_str(before);
            rest = if list.is_some() { self.push_numbers(&mut result, after) } else { after };
        }
        result
    }

    /// Appends the converted numbers of a list at the beginning of a text. Returns the text behind the list.
    fn push_numbers<'a>(&self, result: &mut String, text: &'a str) -> &'a str {
        let mut rest = text;
        loop {
            let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            let Ok(number) = rest[..digits].parse() else { return rest };
            result.push_str(&self.number(number).to_string());
            rest = &rest[digits..];
            match rest.strip_prefix(", ").filter(|next| next.starts_with(|letter: char| letter.is_ascii_digit())) {
                Some(next) => rest = next,
                None => return rest,
            }
            result.push_str(", ");
        }
    }
}

/// Returns the length of the quoted text at the beginning of a text: 1 for the quote alone if the quoted text does
/// not end, 0 if there is none.
fn quoted_length(text: &str) -> usize {
    if !text.starts_with('"') {
        return 0;
    }
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return at + 1,
            '\\' => {
                letters.next();
            }
            _ => {}
        }
    }
    1
}

/// Returns the row whose correction solves all problems of the row of `error`, or `None` if the problems have no
/// common cause.
fn common_cause(error: &Value) -> Option<u32> {
    let mut causes = error["problems"].as_array()?.iter().map(|problem| number_of(&problem["caused_by_row"]));
    let first = causes.next()??;
    causes.all(|cause| cause == Some(first)).then_some(first)
}

fn number_of(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part() -> Part {
        Part { bytes: vec![], numbers: vec![12, 9, 40], managers: vec![None, Some(7), Some(12)], is_whole: false }
    }

    #[test]
    fn numbers_of_rows_in_messages_are_those_of_the_file() {
        for (text, wanted) in [
            ("rows 2, 3, 4 are about one person", "rows 12, 9, 40 are about one person"),
            ("becomes a text in row 3 and 2 more rows, where", "becomes a text in row 9 and 2 more rows, where"),
            (r#""row 2" is in row 3, which"#, r#""row 2" is in row 9, which"#),
            (r#""a \" row 2" in row 2"#, r#""a \" row 2" in row 12"#),
            ("arrow 2; row 77; rows of 2; row 4", "arrow 2; row 77; rows of 2; row 40"),
            ("\" row 2", "\" row 12"),
            ("row", "row"),
        ] {
            assert_eq!(part().renumber_rows(text), wanted);
        }
        let whole = Part { is_whole: true, ..part() };
        assert_eq!(whole.renumber_rows("row 2"), "row 2");
    }

    #[test]
    fn row_whose_manager_failed_before_names_the_row_to_correct() {
        let unknown = "\"boss@x\" does not exist in the organization";
        let error = |row: u32| {
            json!({"row_number": row, "email": "a@x", "code": "not_found_in_organization",
                   "message": format!("manager_email {unknown}; role must be one of: employee"),
                   "problems": [{"field": "manager_email", "code": "not_found_in_organization", "message": unknown},
                                {"field": "role", "code": "invalid_enum", "message": "must be one of: employee"}]})
        };
        let mut failed_rows = FailedRows(HashMap::from([(7, 5)]));
        let mut errors = [error(2), error(3), error(4)];
        failed_rows.convert(&part(), &mut errors);
        let expected_message =
            "\"boss@x\" is in row 7, which was not imported because of row 5: correct that row first";
        assert_eq!(errors[1]["problems"][0]["message"], expected_message);
        assert_eq!(
            errors[1]["message"],
            format!("manager_email {expected_message}; role must be one of: employee")
        );
        let causes = errors.each_ref().map(|error| error["problems"][0]["caused_by_row"].as_u64());
        assert_eq!(
            causes,
            [None, Some(5), Some(12)],
            "the first has no manager, that of the last is in this part"
        );
        assert!(errors.iter().all(|error| error.get("caused_by_row").is_none()), "each has a problem of its own");
    }
}
