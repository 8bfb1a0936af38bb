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
pub enum RegisterAnswer {
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
    /// This content. The tag is `None` after a write with an unknown result, until a response shows it.
    Known(Option<u64>, [u64; FIELDS]),
}

/// Model of a resource that is read, and changed on a version or on any.
#[derive(Debug, Clone, Copy)]
pub struct Register;

impl Model for Register {
    type Call = RegisterCall;
    type Answer = RegisterAnswer;
    type State = RegisterState;

    fn apply(
        state: &RegisterState,
        call: &RegisterCall,
        answer: Option<&RegisterAnswer>,
    ) -> Option<RegisterState> {
        match (call, answer) {
            (RegisterCall::Read(tag), Some(RegisterAnswer::Content(content))) => {
                let is_right = *tag != Some(content.tag) && shows(state, *content);
                is_right.then_some(known(*content))
            }
            (RegisterCall::Read(Some(tag)), Some(RegisterAnswer::Unchanged)) => match state {
                RegisterState::Unknown => Some(*state),
                RegisterState::Known(current, fields) => current
                    .is_none_or(|current| current == *tag)
                    .then_some(RegisterState::Known(Some(*tag), *fields)),
            },
            (RegisterCall::Write { tag: Some(tag), .. }, Some(RegisterAnswer::Stale)) => match state {
                RegisterState::Known(Some(current), _) if current == tag => None,
                RegisterState::Known(..) | RegisterState::Unknown => Some(*state),
            },
            (RegisterCall::Write { field, value, tag }, Some(RegisterAnswer::Content(content))) => {
                let is_right = content.fields[*field] == *value
                    && Some(content.tag) != *tag
                    && written(state, *field, *value, *tag).is_some_and(|next| shows(&next, *content))
                    && !matches!(state, RegisterState::Known(Some(current), _) if *current == content.tag);
                is_right.then_some(known(*content))
            }
            (RegisterCall::Write { field, value, tag }, None) => written(state, *field, *value, *tag),
            (RegisterCall::Read(_), Some(RegisterAnswer::Unchanged | RegisterAnswer::Stale) | None)
            | (RegisterCall::Write { .. }, Some(RegisterAnswer::Unchanged | RegisterAnswer::Stale)) => None,
        }
    }

    fn has_effect(call: &RegisterCall, answer: Option<&RegisterAnswer>) -> bool {
        matches!(call, RegisterCall::Write { .. }) && !matches!(answer, Some(RegisterAnswer::Stale))
    }

    fn unknown_state(_: &RegisterState) -> RegisterState {
        RegisterState::Unknown
    }
}

const fn known(content: Content) -> RegisterState {
    RegisterState::Known(Some(content.tag), content.fields)
}

fn shows(state: &RegisterState, content: Content) -> bool {
    match state {
        RegisterState::Unknown => true,
        RegisterState::Known(tag, fields) => {
            *fields == content.fields && tag.is_none_or(|current| current == content.tag)
        }
    }
}

/// Returns the state after a write, or `None` if the precondition does not hold. A client knows a tag from a response,
/// so the unknown tag after a write without a response is no client's.
fn written(state: &RegisterState, field: usize, value: u64, tag: Option<u64>) -> Option<RegisterState> {
    match state {
        RegisterState::Unknown => Some(RegisterState::Unknown),
        RegisterState::Known(current, _) if tag.is_some() && *current != tag => None,
        RegisterState::Known(_, fields) => {
            let mut new_fields = *fields;
            new_fields[field] = value;
            Some(RegisterState::Known(None, new_fields))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{ended, unknown};
    use crate::{OperationOf, Verdict, find_order, find_smallest_part};

    const START: RegisterState = RegisterState::Known(Some(1), [0, 0]);

    const fn write(field: usize, value: u64, tag: Option<u64>) -> RegisterCall {
        RegisterCall::Write { field, value, tag }
    }

    const fn shown(tag: u64, fields: [u64; 2]) -> RegisterAnswer {
        RegisterAnswer::Content(Content { tag, fields })
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
            ended(0, [1, 6], write(0, 7, Some(1)), shown(2, [7, 0])),
            ended(1, [2, 5], write(0, 8, Some(1)), RegisterAnswer::Stale),
            unknown(2, 3, write(1, 9, None)),
            unknown(3, 4, write(0, 5, Some(1))),
            ended(0, [7, 8], RegisterCall::Read(Some(2)), RegisterAnswer::Unchanged),
            ended(1, [9, 12], write(0, 6, None), shown(4, [6, 9])),
            ended(0, [10, 11], RegisterCall::Read(None), shown(3, [7, 9])),
            unknown(0, 13, RegisterCall::Read(None)),
        ];
        assert!(is_explained(&history));
    }

    #[test]
    fn lost_update_is_found() {
        let on_one_version = [
            ended(0, [1, 3], write(0, 7, Some(1)), shown(2, [7, 0])),
            ended(1, [2, 4], write(0, 8, Some(1)), shown(3, [8, 0])),
        ];
        assert!(!is_explained(&on_one_version));
        let of_another_field = [
            ended(0, [1, 3], write(0, 7, None), shown(2, [7, 0])),
            ended(1, [2, 4], write(1, 8, None), shown(3, [0, 8])),
            ended(0, [5, 6], RegisterCall::Read(None), shown(3, [0, 8])),
        ];
        assert!(!is_explained(&of_another_field));
    }

    #[test]
    fn stale_read_is_found() {
        let write_of_7 = ended(0, [1, 2], write(0, 7, Some(1)), shown(2, [7, 0]));
        let read = |ticks| ended(1, ticks, RegisterCall::Read(None), shown(1, [0, 0]));
        assert!(!is_explained(&[write_of_7.clone(), read([3, 4])]));
        assert!(is_explained(&[ended(0, [1, 4], write(0, 7, Some(1)), shown(2, [7, 0])), read([2, 3])]));
        let not_modified = ended(1, [3, 4], RegisterCall::Read(Some(1)), RegisterAnswer::Unchanged);
        assert!(!is_explained(&[write_of_7, not_modified]));
    }

    #[test]
    fn reappearing_value_is_found() {
        let history = [
            ended(0, [1, 2], write(0, 7, None), shown(2, [7, 0])),
            ended(0, [3, 4], write(0, 8, None), shown(3, [8, 0])),
            ended(1, [5, 6], RegisterCall::Read(None), shown(4, [7, 0])),
        ];
        assert!(!is_explained(&history));
        let of_an_unknown_write = [
            unknown(0, 1, write(0, 7, Some(1))),
            ended(1, [2, 3], RegisterCall::Read(None), shown(2, [7, 0])),
            ended(1, [4, 5], write(0, 8, None), shown(3, [8, 0])),
            ended(1, [6, 7], RegisterCall::Read(None), shown(2, [7, 0])),
        ];
        assert!(!is_explained(&of_an_unknown_write));
        assert!(is_explained(&of_an_unknown_write[..3]));
    }

    #[test]
    fn change_without_a_new_tag_is_found() {
        let of_a_write = ended(0, [1, 2], write(0, 7, None), shown(1, [7, 0]));
        assert!(!is_explained(&[of_a_write]));
        let refused_write = ended(0, [1, 2], write(0, 7, Some(1)), RegisterAnswer::Stale);
        assert!(!is_explained(&[refused_write]));
    }

    #[test]
    fn smallest_part_has_the_contradicting_operations() {
        let mut history: Vec<OperationOf<Register>> = vec![];
        for number in 1..200_u64 {
            let ticks = [10 * number, 10 * number + 1];
            history.push(ended(0, ticks, write(0, number, None), shown(number + 1, [number, 0])));
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
