//! States of the nodes, and the choice of the node for a statement.

/// Group id of a node in the catalog of Citus, which also locates shards.
pub(super) type NodeNumber = i64;

/// Last known state of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub(super) health: Health,
    /// Last reported group id; `None` if the node has not answered yet.
    pub(super) number: Option<NodeNumber>,
}

/// Health of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// The node accepts connections, or has not been checked yet.
    Up,
    /// The last attempt to connect failed, or the connection broke.
    Down,
    /// The node does not answer.
    Silent,
}

impl State {
    /// State before the first health check.
    pub(super) const NEW: Self = Self { health: Health::Up, number: None };

    pub(super) fn is_up(self) -> bool {
        self.health == Health::Up
    }
}

/// Error for rows on a node that does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeUnavailable;

/// Returns the index of the node to ask for rows of a given group. This is the group's own node if it is up, else
/// the first node that is up, because every node can answer every statement. If none is up, the first is tried.
///
/// Rows on a node that is or may be silent are refused. Another node would wait for the silent one as well, and
/// block later statements on the same connection.
pub(super) fn node_to_ask(states: &[State], wanted: Option<NodeNumber>) -> Result<usize, NodeUnavailable> {
    if wanted.is_some() {
        if let Some(own) = states.iter().position(|state| state.is_up() && state.number == wanted) {
            return Ok(own);
        }
        let may_have_it = |state: &State| state.number.is_none() || state.number == wanted;
        if states.iter().any(|state| state.health == Health::Silent && may_have_it(state)) {
            return Err(NodeUnavailable);
        }
    }
    Ok(states.iter().position(|state| state.is_up()).unwrap_or_default())
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
    fn query_goes_to_the_tenants_node_or_the_first_available() {
        let table: [(&[State], Option<NodeNumber>, usize); 12] = [
            (&[up(Some(0)), up(Some(1)), up(Some(2))], Some(2), 2),
            (&[up(Some(0)), up(Some(1)), up(Some(2))], Some(0), 0),
            (&[up(Some(0)), up(Some(1)), down(Some(2))], Some(2), 0),
            (&[down(None), up(Some(1)), down(None)], Some(2), 1),
            (&[up(Some(0)), up(Some(1))], Some(7), 0),
            (&[down(Some(0)), up(Some(1)), up(Some(2))], None, 1),
            (&[up(None), up(None), up(Some(2))], Some(2), 2),
            // Two servers with one group id, of which only one accepts writes.
            (&[down(Some(1)), up(Some(1)), up(Some(1))], Some(1), 1),
            (&[silent(Some(1)), up(Some(0)), up(Some(1))], Some(1), 2),
            (&[down(Some(0)), down(Some(1))], Some(1), 0),
            // A silent node affects neither rows of other nodes nor statements without a tenant.
            (&[up(Some(0)), silent(Some(1)), up(Some(2))], Some(2), 2),
            (&[silent(Some(0)), silent(None), up(Some(2))], None, 2),
        ];
        for (states, wanted, place) in table {
            assert_eq!(node_to_ask(states, wanted), Ok(place), "{wanted:?} of {states:?}");
        }
    }

    #[test]
    fn query_for_an_unresponsive_node_is_refused() {
        let one_silent = [up(Some(0)), silent(Some(1)), up(Some(2))];
        assert_eq!(node_to_ask(&one_silent, Some(1)), Err(NodeUnavailable));
        assert_eq!(node_to_ask(&one_silent, Some(7)), Ok(0), "rows of a node that the URL does not name");
        let never_told = [up(Some(0)), silent(None)];
        assert_eq!(node_to_ask(&never_told, Some(1)), Err(NodeUnavailable), "the silent node may have the rows");
        assert_eq!(node_to_ask(&never_told, Some(0)), Ok(0));
    }
}
