//! What is known of the nodes, and which of them is asked.

/// The number by which a cluster's catalogue knows a node, and the parts of tables that are on it.
pub(super) type NodeNumber = i64;

/// What is known of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It takes connections; this is its number, if it has told it.
    Up(Option<NodeNumber>),
    /// The last connection to it could not be made.
    Down,
}

/// The place of the node to ask for what is on the node of this number: of that one, if it is up; else of the first that is,
/// for each of them answers everything. Where none is, the first is tried.
pub(super) fn asked(states: &[State], wanted: Option<NodeNumber>) -> usize {
    let is_wanted = |it: &State| matches!(it, State::Up(Some(number)) if Some(*number) == wanted);
    let own = states.iter().position(is_wanted);
    own.or_else(|| states.iter().position(|it| matches!(it, State::Up(_)))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::State::{Down, Up};
    use super::*;

    #[test]
    fn the_node_of_a_tenant_is_asked_while_it_is_up_and_else_the_first_that_is() {
        let table: [(&[State], Option<NodeNumber>, usize); 9] = [
            (&[Up(Some(0)), Up(Some(1)), Up(Some(2))], Some(2), 2),
            (&[Up(Some(0)), Up(Some(1)), Up(Some(2))], Some(0), 0),
            (&[Up(Some(0)), Up(Some(1)), Down], Some(2), 0),
            (&[Down, Up(Some(1)), Down], Some(2), 1),
            (&[Up(Some(0)), Up(Some(1))], Some(7), 0),
            (&[Down, Up(Some(1)), Up(Some(2))], None, 1),
            (&[Up(None), Up(None), Up(Some(2))], Some(2), 2),
            // Two servers for one node, of which one takes writes.
            (&[Down, Up(Some(1)), Up(Some(1))], Some(1), 1),
            (&[Down, Down], Some(1), 0),
        ];
        for (states, wanted, place) in table {
            assert_eq!(asked(states, wanted), place, "{wanted:?} of {states:?}");
        }
    }
}
