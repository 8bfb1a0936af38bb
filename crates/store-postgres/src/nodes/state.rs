//! What is known of the nodes, and which of them is asked.

/// The number by which a cluster's catalogue knows a node, and the parts of tables that are on it.
pub(super) type NodeNumber = i64;

/// What is known of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub(super) health: Health,
    /// The number that it told last.
    pub(super) number: Option<NodeNumber>,
}

/// How a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// It takes connections.
    Up,
    /// The last connection to it could not be made, and that was soon clear.
    Down,
    /// It does not answer.
    Silent,
}

impl State {
    /// Before anything is known.
    pub(super) const NEW: Self = Self { health: Health::Up, number: None };

    pub(super) fn is_up(self) -> bool {
        self.health == Health::Up
    }
}

/// The node that has the rows does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unanswered;

/// The place of the node to ask for what is on the node of this number: of that one, if it is up; else of the first that is,
/// for each of them answers everything. Where none is, the first is tried.
///
/// Not so for what is on a node that is silent, or may be: another one waits for it as well, and so would whoever is behind on
/// the same connection.
pub(super) fn asked(states: &[State], wanted: Option<NodeNumber>) -> Result<usize, Unanswered> {
    if wanted.is_some() {
        if let Some(own) = states.iter().position(|it| it.is_up() && it.number == wanted) {
            return Ok(own);
        }
        let may_have_it = |it: &State| it.number.is_none() || it.number == wanted;
        if states.iter().any(|it| it.health == Health::Silent && may_have_it(it)) {
            return Err(Unanswered);
        }
    }
    Ok(states.iter().position(|it| it.is_up()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn up(number: Option<NodeNumber>) -> State {
        State { health: Health::Up, number }
    }

    const fn down(number: Option<NodeNumber>) -> State {
        State { health: Health::Down, number }
    }

    const fn silent(number: Option<NodeNumber>) -> State {
        State { health: Health::Silent, number }
    }

    #[test]
    fn the_node_of_a_tenant_is_asked_while_it_is_up_and_else_the_first_that_is() {
        let table: [(&[State], Option<NodeNumber>, usize); 12] = [
            (&[up(Some(0)), up(Some(1)), up(Some(2))], Some(2), 2),
            (&[up(Some(0)), up(Some(1)), up(Some(2))], Some(0), 0),
            (&[up(Some(0)), up(Some(1)), down(Some(2))], Some(2), 0),
            (&[down(None), up(Some(1)), down(None)], Some(2), 1),
            (&[up(Some(0)), up(Some(1))], Some(7), 0),
            (&[down(Some(0)), up(Some(1)), up(Some(2))], None, 1),
            (&[up(None), up(None), up(Some(2))], Some(2), 2),
            // Two servers for one node, of which one takes writes.
            (&[down(Some(1)), up(Some(1)), up(Some(1))], Some(1), 1),
            (&[silent(Some(1)), up(Some(0)), up(Some(1))], Some(1), 2),
            (&[down(Some(0)), down(Some(1))], Some(1), 0),
            // Those of others, and what is on no node alone.
            (&[up(Some(0)), silent(Some(1)), up(Some(2))], Some(2), 2),
            (&[silent(Some(0)), silent(None), up(Some(2))], None, 2),
        ];
        for (states, wanted, place) in table {
            assert_eq!(asked(states, wanted), Ok(place), "{wanted:?} of {states:?}");
        }
    }

    #[test]
    fn what_is_on_a_silent_node_is_asked_of_nobody() {
        let of_it = [up(Some(0)), silent(Some(1)), up(Some(2))];
        assert_eq!(asked(&of_it, Some(1)), Err(Unanswered));
        assert_eq!(asked(&of_it, Some(7)), Ok(0), "of a node that is not named");
        let never_told = [up(Some(0)), silent(None)];
        assert_eq!(asked(&never_told, Some(1)), Err(Unanswered), "which one it is nobody knows");
        assert_eq!(asked(&never_told, Some(0)), Ok(0));
    }
}
