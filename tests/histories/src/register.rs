//! A resource with two fields and an entity tag. The tag is opaque: of two contents, only the newer one has a new tag.

use crate::Model;

/// Number of fields that clients change.
const FIELDS: usize = 2;

/// Fields and entity tag of a resource, as a response shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Content {
    /// Entity tag.
    pub tag: u64,
    /// Values of the fields. Each write has a value of its own.
    pub fields: [u64; FIELDS],
}

/// A request for the resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterCall {
    /// GET, with `If-None-Match` if there is a tag.
    Read(Option<u64>),
    /// PATCH of one field, with `If-Match` if there is a tag.
    Write {
        /// Number of the field.
        field: usize,
        /// New value.
        value: u64,
        /// Tag of the content that is changed.
        tag: Option<u64>,
    },
}

/// A response of the resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterResponse {
    /// 200 with the content.
    Content(Content),
    /// 304: the resource has the tag of the request.
    Unchanged,
    /// 412: the resource has another tag than the request.
    Stale,
}

/// State of the resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegisterState {
    /// Any content.
    Unknown,
    /// The content that a response showed.
    Shown(Content),
    /// Fields after a write with an unknown result. The tag is that of the last content that a response showed, so that
    /// the resource has another one.
    Written(Content),
}

/// Model of a resource that is read, and changed on a version or on any.
#[derive(Debug, Clone, Copy)]
pub struct Register;

impl Model for Register {
    type Call = RegisterCall;
    type Response = RegisterResponse;
    type State = RegisterState;

    fn apply(
        state: &RegisterState,
        call: &RegisterCall,
        response: Option<&RegisterResponse>,
    ) -> Option<RegisterState> {
        match (call, response) {
            (RegisterCall::Read(tag), Some(RegisterResponse::Content(content))) => {
                let is_right = *tag != Some(content.tag) && shows(state, *content);
                is_right.then_some(RegisterState::Shown(*content))
            }
            (RegisterCall::Read(Some(tag)), Some(RegisterResponse::Unchanged)) => {
                (has_tag(state, *tag) != Some(false)).then_some(*state)
            }
            (RegisterCall::Write { tag: Some(tag), .. }, Some(RegisterResponse::Stale)) => {
                (has_tag(state, *tag) != Some(true)).then_some(*state)
            }
            (RegisterCall::Write { field, value, tag }, Some(RegisterResponse::Content(content))) => {
                let is_right = content.fields[*field] == *value
                    && Some(content.tag) != *tag
                    && write(state, *field, *value, *tag).is_some_and(|next| shows(&next, *content));
                is_right.then_some(RegisterState::Shown(*content))
            }
            (RegisterCall::Write { field, value, tag }, None) => write(state, *field, *value, *tag),
            (RegisterCall::Read(_), Some(RegisterResponse::Unchanged | RegisterResponse::Stale) | None)
            | (RegisterCall::Write { .. }, Some(RegisterResponse::Unchanged | RegisterResponse::Stale)) => None,
        }
    }

    fn has_effect(call: &RegisterCall, response: Option<&RegisterResponse>) -> bool {
        matches!(call, RegisterCall::Write { .. }) && !matches!(response, Some(RegisterResponse::Stale))
    }

    fn unknown_state(_: &RegisterState) -> RegisterState {
        RegisterState::Unknown
    }
}

/// Returns `true` if a response may show this content.
fn shows(state: &RegisterState, content: Content) -> bool {
    match state {
        RegisterState::Unknown => true,
        RegisterState::Shown(current) => *current == content,
        RegisterState::Written(current) => current.fields == content.fields && current.tag != content.tag,
    }
}

/// Returns `true` if the resource has a tag that a client sent. `None` if it is not known. A client knows tags from
/// responses only, so the tag after a write with an unknown result is none of these.
fn has_tag(state: &RegisterState, tag: u64) -> Option<bool> {
    match state {
        RegisterState::Unknown => None,
        RegisterState::Shown(current) => Some(current.tag == tag),
        RegisterState::Written(_) => Some(false),
    }
}

/// Returns the state after a write, or `None` if the precondition does not hold.
fn write(state: &RegisterState, field: usize, value: u64, tag: Option<u64>) -> Option<RegisterState> {
    if tag.and_then(|tag| has_tag(state, tag)) == Some(false) {
        return None;
    }
    match state {
        RegisterState::Unknown => Some(RegisterState::Unknown),
        RegisterState::Shown(current) | RegisterState::Written(current) => {
            let mut new_content = *current;
            new_content.fields[field] = value;
            Some(RegisterState::Written(new_content))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{ended, unknown};
    use crate::{OperationOf, Verdict, find_order, find_smallest_part};

    const START: RegisterState = RegisterState::Shown(Content { tag: 1, fields: [0, 0] });

    const fn writes(field: usize, value: u64, tag: Option<u64>) -> RegisterCall {
        RegisterCall::Write { field, value, tag }
    }

    const fn shown(tag: u64, fields: [u64; 2]) -> RegisterResponse {
        RegisterResponse::Content(Content { tag, fields })
    }

    fn is_explained(history: &[OperationOf<Register>]) -> bool {
        match find_order::<Register>(history, &START) {
            Verdict::Explained(_) => true,
            Verdict::Inexplicable => false,
            Verdict::Undecided => panic!("undecided"),
        }
    }

    #[test]
    fn concurrent_history_with_unknown_results_is_explained() {
        let history = [
            ended(0, [1, 6], writes(0, 7, Some(1)), shown(2, [7, 0])),
            ended(1, [2, 5], writes(0, 8, Some(1)), RegisterResponse::Stale),
            unknown(2, 3, writes(1, 9, None)),
            unknown(3, 4, writes(0, 5, Some(1))),
            ended(0, [7, 8], RegisterCall::Read(Some(2)), RegisterResponse::Unchanged),
            ended(1, [9, 12], writes(0, 6, None), shown(4, [6, 9])),
            ended(0, [10, 11], RegisterCall::Read(None), shown(3, [7, 9])),
            unknown(0, 13, RegisterCall::Read(None)),
        ];
        assert!(is_explained(&history));
    }

    #[test]
    fn lost_update_is_found() {
        let on_one_version = [
            ended(0, [1, 3], writes(0, 7, Some(1)), shown(2, [7, 0])),
            ended(1, [2, 4], writes(0, 8, Some(1)), shown(3, [8, 0])),
        ];
        assert!(!is_explained(&on_one_version));
        let of_another_field = [
            ended(0, [1, 3], writes(0, 7, None), shown(2, [7, 0])),
            ended(1, [2, 4], writes(1, 8, None), shown(3, [0, 8])),
            ended(0, [5, 6], RegisterCall::Read(None), shown(3, [0, 8])),
        ];
        assert!(!is_explained(&of_another_field));
    }

    #[test]
    fn stale_read_is_found() {
        let write_of_7 = ended(0, [1, 2], writes(0, 7, Some(1)), shown(2, [7, 0]));
        let read = |ticks| ended(1, ticks, RegisterCall::Read(None), shown(1, [0, 0]));
        assert!(!is_explained(&[write_of_7.clone(), read([3, 4])]));
        assert!(is_explained(&[ended(0, [1, 4], writes(0, 7, Some(1)), shown(2, [7, 0])), read([2, 3])]));
        let not_modified = ended(1, [3, 4], RegisterCall::Read(Some(1)), RegisterResponse::Unchanged);
        assert!(!is_explained(&[write_of_7, not_modified]));
    }

    #[test]
    fn reappearing_value_is_found() {
        let history = [
            ended(0, [1, 2], writes(0, 7, None), shown(2, [7, 0])),
            ended(0, [3, 4], writes(0, 8, None), shown(3, [8, 0])),
            ended(1, [5, 6], RegisterCall::Read(None), shown(4, [7, 0])),
        ];
        assert!(!is_explained(&history));
        let of_an_unknown_write = [
            unknown(0, 1, writes(0, 7, Some(1))),
            ended(1, [2, 3], RegisterCall::Read(None), shown(2, [7, 0])),
            ended(1, [4, 5], writes(0, 8, None), shown(3, [8, 0])),
            ended(1, [6, 7], RegisterCall::Read(None), shown(2, [7, 0])),
        ];
        assert!(!is_explained(&of_an_unknown_write));
        assert!(is_explained(&of_an_unknown_write[..3]));
    }

    #[test]
    fn change_without_a_new_tag_is_found() {
        let of_a_write = ended(0, [1, 2], writes(0, 7, None), shown(1, [7, 0]));
        assert!(!is_explained(&[of_a_write]));
        let behind_an_unknown_write =
            [unknown(0, 1, writes(0, 7, None)), ended(1, [2, 3], RegisterCall::Read(None), shown(1, [7, 0]))];
        assert!(!is_explained(&behind_an_unknown_write));
        let not_modified_after_it = [
            unknown(0, 1, writes(0, 7, Some(1))),
            ended(1, [2, 3], RegisterCall::Read(Some(1)), RegisterResponse::Unchanged),
            ended(1, [4, 5], writes(0, 8, Some(1)), RegisterResponse::Stale),
            ended(1, [6, 7], RegisterCall::Read(Some(1)), RegisterResponse::Unchanged),
        ];
        assert!(!is_explained(&not_modified_after_it));
        assert!(is_explained(&not_modified_after_it[..3]));
        let refused_write = ended(0, [1, 2], writes(0, 7, Some(1)), RegisterResponse::Stale);
        assert!(!is_explained(&[refused_write]));
    }

    #[test]
    fn smallest_part_has_the_contradicting_operations() {
        let mut history: Vec<OperationOf<Register>> = vec![];
        for number in 1..200_u64 {
            let ticks = [10 * number, 10 * number + 1];
            history.push(ended(0, ticks, writes(0, number, None), shown(number + 1, [number, 0])));
            let read_ticks = [10 * number + 2, 10 * number + 3];
            history.push(ended(1, read_ticks, RegisterCall::Read(None), shown(number + 1, [number, 0])));
        }
        assert!(is_explained(&history));
        let stale_read = ended(2, [1004, 1005], RegisterCall::Read(None), shown(98, [97, 0]));
        history.push(stale_read.clone());
        assert!(!is_explained(&history));
        let part = find_smallest_part::<Register>(&history, &START);
        assert_eq!(part.start, RegisterState::Unknown);
        assert_eq!(part.operations, [history[199].clone(), stale_read]);
    }
}
