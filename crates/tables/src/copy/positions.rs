//! Unique positions of copied events.

/// Assigns unique positions in the order of the events. On PostgreSQL the events of one transaction share a
/// position, on SQLite each has its own. An event keeps its position if the position is free, and otherwise takes
/// the next free one. So if all positions are unique, none changes. Feed cursors of clients stay valid: the store finds
/// the place of a cursor by its event, or by its position if the event was deleted.
#[derive(Debug, Default)]
pub struct DistinctPositions(Option<i64>);

impl DistinctPositions {
    /// Creates an assigner that continues after a position.
    #[must_use]
    pub const fn starting_after(last: Option<i64>) -> Self {
        Self(last)
    }

    /// Returns the position of the next event. Events must come in the order of position, tenant and id.
    pub fn next(&mut self, position: i64) -> i64 {
        let free = self.0.map_or(i64::MIN, |rank| rank.saturating_add(1));
        *self.0.insert(position.max(free))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct_positions(positions: &[i64]) -> Vec<i64> {
        let mut all = DistinctPositions::default();
        positions.iter().map(|position| all.next(*position)).collect()
    }

    #[test]
    fn distinct_positions_stay_unchanged() {
        assert_eq!(distinct_positions(&[1, 2, 5, 9]), [1, 2, 5, 9]);
    }

    #[test]
    fn equal_positions_move_up_with_the_least_displacement() {
        let positions = distinct_positions(&[7, 7, 7, 8, 20, 20]);
        assert_eq!(positions, [7, 8, 9, 10, 20, 21]);
        assert_eq!(distinct_positions(&positions), positions, "a second time changes nothing");
    }

    #[test]
    fn positions_continue_behind_the_last_written_one() {
        assert_eq!(DistinctPositions::starting_after(Some(12)).next(11), 13);
        assert_eq!(DistinctPositions::starting_after(None).next(11), 11);
    }
}
