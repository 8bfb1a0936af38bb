//! Parameters of a list of users: filter, index paging (RFC 7644 §3.4.2.4) and cursors (RFC 9865).

use super::error::{ScimError, ScimErrorType};
use super::filter::UserFilter;
use super::projection::Projection;
use super::schemas::{DEFAULT_PAGE, MAX_PAGE};

/// The first resource of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserListStart {
    /// Position in the list, from 1.
    Index(u64),
    /// The position that an earlier page returned; `None` for the first page.
    Cursor(Option<String>),
}

/// A request of a list of users.
#[derive(Debug, Clone, PartialEq)]
pub struct UserListRequest {
    /// Conditions that all users of the list meet.
    pub filter: UserFilter,
    /// The first user of the page.
    pub start: UserListStart,
    /// Maximum number of users of the page, from 0 to [`MAX_PAGE`].
    pub count: u32,
    /// Attributes of each user.
    pub projection: Projection,
}

fn number(name: &str, text: &str) -> Result<i64, ScimError> {
    text.trim().parse().map_err(|_| ScimError::value(format!("`{name}` must be a whole number.")))
}

impl UserListRequest {
    /// Reads the parameters of a request. Unknown parameters are ignored.
    ///
    /// # Errors
    /// `invalidFilter`, `invalidValue` for `startIndex` and `count`.
    pub fn parse<'a>(parameter: impl Fn(&str) -> Option<&'a str>) -> Result<Self, ScimError> {
        let filter = match parameter("filter") {
            None => UserFilter::default(),
            Some(text) if text.trim().is_empty() => {
                return Err(ScimError::new(
                    ScimErrorType::InvalidFilter,
                    "The filter is empty. Omit the parameter.",
                ));
            }
            Some(text) => UserFilter::parse(text)?,
        };
        let count = parameter("count").map_or(Ok(i64::from(DEFAULT_PAGE)), |text| number("count", text))?;
        let count = u32::try_from(count.clamp(0, i64::from(MAX_PAGE))).unwrap_or(DEFAULT_PAGE);
        let start = match (parameter("cursor"), parameter("startIndex")) {
            (Some(cursor), _) => {
                UserListStart::Cursor(Some(cursor.to_owned()).filter(|cursor| !cursor.is_empty()))
            }
            (None, Some(text)) => {
                UserListStart::Index(u64::try_from(number("startIndex", text)?.max(1)).unwrap_or(1))
            }
            (None, None) => UserListStart::Index(1),
        };
        let projection = Projection::parse(parameter("attributes"), parameter("excludedAttributes"))?;
        Ok(Self { filter, start, count, projection })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(parameters: &[(&str, &str)]) -> Result<(UserListStart, u32), Option<ScimErrorType>> {
        let find = |name: &str| parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        UserListRequest::parse(find).map(|list| (list.start, list.count)).map_err(|error| error.kind)
    }

    #[test]
    fn page_is_bounded_and_starts_at_one() {
        use UserListStart::{Cursor, Index};
        let invalid = |kind| Err(Some(kind));
        let table: [(&[(&str, &str)], _); 14] = [
            (&[], Ok((Index(1), 100))),
            (&[("startIndex", "1"), ("count", "2")], Ok((Index(1), 2))),
            (&[("startIndex", "0")], Ok((Index(1), 100))),
            (&[("startIndex", "-7"), ("count", "-1")], Ok((Index(1), 0))),
            (&[("startIndex", "101"), ("count", "0")], Ok((Index(101), 0))),
            (&[("count", "201"), ("unknown", "x")], Ok((Index(1), 200))),
            (&[("cursor", "")], Ok((Cursor(None), 100))),
            (&[("cursor", "abc"), ("startIndex", "1")], Ok((Cursor(Some("abc".to_owned())), 100))),
            (&[("count", "1.5")], invalid(ScimErrorType::InvalidValue)),
            (&[("count", "")], invalid(ScimErrorType::InvalidValue)),
            (&[("startIndex", "x")], invalid(ScimErrorType::InvalidValue)),
            (&[("filter", "")], invalid(ScimErrorType::InvalidFilter)),
            (&[("filter", " ")], invalid(ScimErrorType::InvalidFilter)),
            (&[("filter", "userName pr")], invalid(ScimErrorType::InvalidFilter)),
        ];
        for (parameters, wanted) in table {
            assert_eq!(parse(parameters), wanted, "{parameters:?}");
        }
    }
}
