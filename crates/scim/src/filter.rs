//! Filters of SCIM (RFC 7644 §3.4.2.2): comparisons with `eq`, joined by `and`. All other operators are refused,
//! because a filter that is ignored would return people that the client did not ask for.

use super::error::{ScimError, ScimErrorType};
use super::path::{MAX_PATH_BYTES, ScimPath, ScimSchema};

/// Deepest nesting of parentheses.
const MAX_DEPTH: u8 = 8;
/// Maximum number of comparisons of one filter.
const MAX_COMPARISONS: usize = 32;

/// A value of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// A text in double quotes.
    Text(String),
    /// The literal `true` or `false`.
    Flag(bool),
}

impl Literal {
    /// Returns the boolean, also if it is sent as text. Returns `None` for any other text.
    #[must_use]
    pub fn as_flag(&self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(*flag),
            Self::Text(text) => super::document::flag(text),
        }
    }

    /// Returns the text; `None` for a boolean.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Flag(_) => None,
        }
    }
}

/// A comparison `path eq value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Path of the compared attribute.
    pub path: ScimPath,
    /// The value that the attribute must have.
    pub value: Literal,
}

/// Parses the conditions in the brackets of a path. Their attributes are sub-attributes without further parts.
pub(super) fn parse_conditions(text: &str) -> Result<Vec<Comparison>, ScimError> {
    let comparisons = parse(text)?;
    let is_simple = |comparison: &Comparison| {
        let path = &comparison.path;
        path.conditions.is_none() && path.sub.is_none() && path.attribute.is_some()
    };
    if comparisons.iter().all(is_simple) {
        Ok(comparisons)
    } else {
        Err(invalid("Conditions in brackets must compare sub-attributes alone, such as `type`."))
    }
}

/// Parses a filter into its comparisons, all of which must hold.
///
/// # Errors
/// `invalidFilter` for anything but comparisons with `eq`, joined by `and`.
pub fn parse(text: &str) -> Result<Vec<Comparison>, ScimError> {
    if text.len() > MAX_PATH_BYTES {
        return Err(invalid(&format!("The filter must have at most {MAX_PATH_BYTES} bytes.")));
    }
    let mut parser = Parser { rest: text.trim(), comparisons: vec![] };
    parser.expression(0)?;
    if parser.rest.is_empty() { Ok(parser.comparisons) } else { Err(unreadable_filter()) }
}

struct Parser<'a> {
    rest: &'a str,
    comparisons: Vec<Comparison>,
}

impl<'a> Parser<'a> {
    fn expression(&mut self, depth: u8) -> Result<(), ScimError> {
        loop {
            self.term(depth)?;
            let text_before = self.rest;
            let word = self.word();
            if !word.eq_ignore_ascii_case("and") {
                self.rest = text_before;
                return Ok(());
            }
        }
    }

    fn term(&mut self, depth: u8) -> Result<(), ScimError> {
        if let Some(rest) = self.rest.strip_prefix('(') {
            if depth == MAX_DEPTH {
                return Err(invalid(&format!("The filter must have at most {MAX_DEPTH} nested parentheses.")));
            }
            self.rest = rest.trim_start();
            self.expression(depth + 1)?;
            self.rest = self.rest.strip_prefix(')').ok_or_else(unreadable_filter)?.trim_start();
            return Ok(());
        }
        if self.comparisons.len() == MAX_COMPARISONS {
            return Err(invalid(&format!("The filter must have at most {MAX_COMPARISONS} comparisons.")));
        }
        let path = self.path()?;
        // `emails[type eq "work" and value eq "x"]` is a complete term.
        let is_complete = path.conditions.is_some() && path.sub.is_none();
        let text_before = self.rest;
        let operator = self.word();
        if operator.eq_ignore_ascii_case("eq") {
            let value = self.literal()?;
            self.comparisons.push(Comparison { path, value });
            return Ok(());
        }
        let value = path.conditions.iter().flatten().find(|condition| {
            condition.path.attribute.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("value"))
        });
        let Some(value) = value.filter(|_| is_complete).map(|condition| condition.value.clone()) else {
            return Err(unreadable_filter());
        };
        self.rest = text_before;
        let has_value = |condition: &Comparison| condition.path.attribute.as_deref() == Some("value");
        let conditions = path.conditions.map(|all| all.into_iter().filter(|one| !has_value(one)).collect());
        let path = ScimPath { conditions, sub: Some("value".to_owned()), ..path };
        self.comparisons.push(Comparison { path, value });
        Ok(())
    }

    /// Takes the next word, up to white space or a parenthesis.
    fn word(&mut self) -> &'a str {
        let is_end = |letter: char| letter.is_whitespace() || matches!(letter, '(' | ')');
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn path(&mut self) -> Result<ScimPath, ScimError> {
        let (mut is_quoted, mut is_escaped, mut depth) = (false, false, 0_u8);
        let mut end = self.rest.len();
        for (at, letter) in self.rest.char_indices() {
            match letter {
                _ if is_escaped => is_escaped = false,
                '\\' if is_quoted => is_escaped = true,
                '"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                // Nested brackets are refused here, before the parser would recurse into them.
                '[' if depth > 0 => return Err(unreadable_filter()),
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ if depth == 0 && (letter.is_whitespace() || matches!(letter, '(' | ')')) => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        ScimPath::parse(text).map_err(|error| ScimError { kind: Some(ScimErrorType::InvalidFilter), ..error })
    }

    fn literal(&mut self) -> Result<Literal, ScimError> {
        if !self.rest.starts_with('"') {
            return match self.word() {
                word if word.eq_ignore_ascii_case("true") => Ok(Literal::Flag(true)),
                word if word.eq_ignore_ascii_case("false") => Ok(Literal::Flag(false)),
                // Some clients leave the quotes out around an address.
                word if is_address(word) => Ok(Literal::Text(word.to_owned())),
                _ => Err(unreadable_filter()),
            };
        }
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
        let Some(Ok(text)) = values.next() else { return Err(unreadable_filter()) };
        let rest = self.rest.get(values.byte_offset()..).unwrap_or_default();
        if !rest.is_empty() && !rest.starts_with([' ', '\t', ')']) {
            return Err(unreadable_filter());
        }
        self.rest = rest.trim_start();
        Ok(Literal::Text(text))
    }
}

/// Returns `true` for a word of the characters of addresses, with one `@`.
fn is_address(word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || ".@_+-'".contains(letter);
    word.matches('@').count() == 1 && word.chars().all(is_letter)
}

/// A condition on a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserCondition {
    /// The id is this text.
    Id(String),
    /// The user name is this text, compared without case.
    UserName(String),
    /// The external id is this text.
    ExternalId(String),
    /// The person is active, or is not.
    Active(bool),
    /// The e-mail address is this text, compared without case.
    Email(String),
    /// The manager has this id or reference.
    Manager(String),
}

/// A filter of a list of users. All of its conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserFilter(pub Vec<UserCondition>);

impl UserFilter {
    /// Reads the parameter `filter` of a list of users.
    ///
    /// # Errors
    /// `invalidFilter` for other operators than `eq` and `and`, for other attributes, and for several conditions
    /// on `active` or on the manager.
    pub fn parse(text: &str) -> Result<Self, ScimError> {
        let conditions: Vec<_> = parse(text)?.iter().map(condition).collect::<Result<_, _>>()?;
        let count = |is_kind: fn(&UserCondition) -> bool| conditions.iter().filter(|one| is_kind(one)).count();
        let counts = [
            ("active", count(|one| matches!(one, UserCondition::Active(_)))),
            ("manager", count(|one| matches!(one, UserCondition::Manager(_)))),
        ];
        match counts.into_iter().find(|(_, count)| *count > 1) {
            Some((name, _)) => Err(invalid(&format!("The filter names `{name}` twice. Compare it once."))),
            None => Ok(Self(conditions)),
        }
    }
}

fn condition(comparison: &Comparison) -> Result<UserCondition, ScimError> {
    let Comparison { path, value } = comparison;
    let text = || value.as_text().map(str::to_owned).ok_or_else(unreadable_filter);
    let is_address = path.sub.as_deref().is_none_or(|sub| sub == "value");
    let name = path.attribute.as_deref().unwrap_or_default();
    let condition = match (&path.schema, name, path.conditions.is_some(), path.sub.as_deref()) {
        (ScimSchema::Core, "id", false, None) => UserCondition::Id(text()?),
        (ScimSchema::Core, "userName", false, None) => UserCondition::UserName(text()?),
        (ScimSchema::Core, "externalId", false, None) => UserCondition::ExternalId(text()?),
        (ScimSchema::Core, "active", false, None) => {
            UserCondition::Active(value.as_flag().ok_or_else(unreadable_filter)?)
        }
        (ScimSchema::Core, "emails", ..) if is_address && is_main_address(path) => UserCondition::Email(text()?),
        (ScimSchema::Enterprise, "manager", false, None | Some("value")) => UserCondition::Manager(text()?),
        _ => {
            return Err(invalid(
                "The filter names an attribute that cannot be filtered. Use id, userName, externalId, active, \
                 emails.value or manager.",
            ));
        }
    };
    Ok(condition)
}

/// Returns `true` if the conditions select the address of the employee: work or primary.
fn is_main_address(path: &ScimPath) -> bool {
    path.conditions.iter().flatten().all(|condition| {
        let name = condition.path.attribute.as_deref().unwrap_or_default();
        match name {
            "type" => condition.value.as_text().is_some_and(|text| text.eq_ignore_ascii_case("work")),
            "primary" => condition.value.as_flag() == Some(true),
            _ => false,
        }
    })
}

fn invalid(detail: &str) -> ScimError {
    ScimError::new(ScimErrorType::InvalidFilter, detail)
}

fn unreadable_filter() -> ScimError {
    invalid(
        r#"The filter cannot be read. Use comparisons with `eq`, joined by `and`: userName eq "ada@example.com"."#,
    )
}

#[cfg(test)]
mod tests {
    use super::UserCondition::{Active, Email, ExternalId, Id, Manager, UserName};
    use super::*;

    #[test]
    fn filter_of_each_provider_is_read() {
        let x = || "x".to_owned();
        let table = [
            (r#"userName eq "x""#, vec![UserName(x())]),
            (r#"USERNAME EQ "x""#, vec![UserName(x())]),
            (r#"urn:ietf:params:scim:schemas:core:2.0:User:userName eq "x""#, vec![UserName(x())]),
            (r#"externalId eq "x""#, vec![ExternalId(x())]),
            (r#"emails[type eq "work"].value eq "x""#, vec![Email(x())]),
            (r#"emails[type eq "work" and value eq "x"]"#, vec![Email(x())]),
            (r#"emails[value eq "x"]"#, vec![Email(x())]),
            (r#"emails[primary eq true].value eq "x""#, vec![Email(x())]),
            (r#"emails.value eq "x""#, vec![Email(x())]),
            (r#"emails eq "x""#, vec![Email(x())]),
            (r#"id eq "x" and manager eq "y""#, vec![Id(x()), Manager("y".to_owned())]),
            (
                r#"id eq "x" and urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager eq "y""#,
                vec![Id(x()), Manager("y".to_owned())],
            ),
            (
                "userName eq ada.m+x@example.com and active eq true",
                vec![UserName("ada.m+x@example.com".to_owned()), Active(true)],
            ),
            (r#"active eq true"#, vec![Active(true)]),
            (r#"active eq "False""#, vec![Active(false)]),
            (r#"(userName eq "x") and (active eq true)"#, vec![UserName(x()), Active(true)]),
            (r#"((userName eq "x" and active eq true))"#, vec![UserName(x()), Active(true)]),
            (r#"userName eq "a \"b\" \u0041 and c""#, vec![UserName("a \"b\" A and c".to_owned())]),
        ];
        for (text, wanted) in table {
            assert_eq!(UserFilter::parse(text), Ok(UserFilter(wanted)), "{text}");
        }
    }

    #[test]
    fn filter_with_unknown_operator_or_attribute_is_refused() {
        let deep = format!("{}userName eq \"x\"{}", "(".repeat(5_000), ")".repeat(5_000));
        let many = vec![r#"id eq "x""#; 40].join(" and ");
        let bad = [
            "",
            " ",
            "userName",
            "userName eq",
            r#"userName co "x""#,
            r#"userName sw "x""#,
            "userName pr",
            r#"userName eq "x" or userName eq "y""#,
            r#"not (userName eq "x")"#,
            r#"userName eq "x"#,
            r#"userName eq 'x'"#,
            r#"userName eq x"#,
            "userName eq ada@example@com",
            "userName eq a\"da@example.com",
            "userName eq 5",
            "userName eq null",
            "userName eq true",
            r#"active eq "perhaps""#,
            r#"displayName eq "x""#,
            r#"userName eq "x" and"#,
            r#"and userName eq "x""#,
            r#"(userName eq "x""#,
            r#"userName eq "x")"#,
            r#"emails[type eq "home"].value eq "x""#,
            r#"emails[type eq "work"]"#,
            r#"emails[type eq "work"].display eq "x""#,
            r#"title eq "x""#,
            r#"emails[emails[type eq "x"].value eq "y"].value eq "x""#,
            r#"userName eq "x" "y""#,
            r#"userName eq "x"and id eq "y""#,
            "active eq true and active eq false",
            "active eq true and active eq true",
            r#"userName eq "x" and (manager eq "y" and manager.value eq "z")"#,
            deep.as_str(),
            many.as_str(),
        ];
        for text in bad {
            let error = UserFilter::parse(text).unwrap_err();
            assert_eq!(error.kind, Some(ScimErrorType::InvalidFilter), "{text:.60}");
        }
    }
}
