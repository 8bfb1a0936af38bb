//! Cursors of lists of users (RFC 9865).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_forms::id::EmployeeId;
use ring::digest::{SHA256, digest};

use super::error::{ScimError, ScimErrorType};
use super::filter::UserFilter;

/// The position of a page in a list of users, ordered by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserCursor {
    /// Last user of the page before.
    pub after: EmployeeId,
    /// Number of users of the list when its first page was read.
    pub total: u64,
}

/// Returns the part of a cursor that ties it to its list.
fn mark(position: &str, filter: &UserFilter) -> String {
    let digest = digest(&SHA256, format!("{position}\0{filter:?}").as_bytes());
    URL_SAFE_NO_PAD.encode(&digest.as_ref()[..8])
}

impl UserCursor {
    /// Returns the text of the cursor, which is valid only for a list with this filter.
    #[must_use]
    pub fn encode(&self, filter: &UserFilter) -> String {
        let position = format!("{}.{}", self.after, self.total);
        let mark = mark(&position, filter);
        URL_SAFE_NO_PAD.encode(format!("{position}.{mark}"))
    }

    /// Reads the text of a cursor.
    ///
    /// # Errors
    /// `invalidCursor` for a malformed text and for the cursor of a list with another filter.
    pub fn decode(text: &str, filter: &UserFilter) -> Result<Self, ScimError> {
        let invalid = || {
            let detail = "The cursor is invalid or belongs to another list. Start with an empty cursor.";
            ScimError::new(ScimErrorType::InvalidCursor, detail)
        };
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| invalid())?;
        let text = String::from_utf8(bytes).map_err(|_| invalid())?;
        let (position, given) = text.rsplit_once('.').ok_or_else(invalid)?;
        let (after, total) = position.split_once('.').ok_or_else(invalid)?;
        match (after.parse(), total.parse()) {
            (Ok(after), Ok(total)) if given == mark(position, filter) => Ok(Self { after, total }),
            _ => Err(invalid()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_forms::ulid::Ulid;

    #[test]
    fn cursor_is_valid_only_for_its_list() {
        let active = UserFilter::parse("active eq true").unwrap();
        let cursor = UserCursor { after: EmployeeId::from_ulid(Ulid(7)), total: 12 };
        let text = cursor.encode(&active);
        assert_eq!(UserCursor::decode(&text, &active), Ok(cursor));
        let invalid = [UserCursor::decode(&text, &UserFilter::default()), UserCursor::decode("", &active)];
        for result in invalid.into_iter().chain([UserCursor::decode("é", &active)]) {
            assert_eq!(result.unwrap_err().kind, Some(ScimErrorType::InvalidCursor));
        }
        for at in 0..text.len() {
            let mut altered_bytes = text.clone().into_bytes();
            altered_bytes[at] = if altered_bytes[at] == b'A' { b'B' } else { b'A' };
            let altered_text = String::from_utf8(altered_bytes).unwrap();
            assert!(UserCursor::decode(&altered_text, &active).is_err(), "{at}");
        }
    }
}
