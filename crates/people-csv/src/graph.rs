//! Cycles and depths of the reporting lines as they are after an upload.

use std::collections::{HashMap, HashSet};

use candor_domain::id::EmployeeId;

/// The manager of each person with a manager.
pub(super) type Lines = HashMap<EmployeeId, EmployeeId>;

/// Returns the people on cycles: those who would be their own manager, directly or through other managers. Follows
/// the lines up from the people of `from`.
pub(super) fn find_cycles(lines: &Lines, from: impl Iterator<Item = EmployeeId>) -> HashSet<EmployeeId> {
    let mut cycles = HashSet::new();
    // The number of the last walk that met each person. A walk that meets a person twice has found a cycle.
    let mut walk_of_person: HashMap<EmployeeId, usize> = HashMap::with_capacity(lines.len());
    for (walk, start) in from.enumerate() {
        let mut person_on_walk = start;
        let cycle_entry = loop {
            match walk_of_person.insert(person_on_walk, walk) {
                Some(earlier) if earlier == walk => break Some(person_on_walk),
                Some(_) => break None,
                None => {}
            }
            match lines.get(&person_on_walk) {
                Some(manager) => person_on_walk = *manager,
                None => break None,
            }
        };
        let Some(entry) = cycle_entry else { continue };
        let mut current = entry;
        loop {
            cycles.insert(current);
            current = lines.get(&current).copied().unwrap_or(entry);
            if current == entry {
                break;
            }
        }
    }
    cycles
}

/// Returns the number of managers above each of these people. Requires lines without cycles.
pub(super) fn depths(lines: &Lines, people: impl Iterator<Item = EmployeeId>) -> HashMap<EmployeeId, usize> {
    let mut depths: HashMap<EmployeeId, usize> = HashMap::with_capacity(lines.len());
    let mut path = Vec::new();
    for start in people {
        let mut current = start;
        let mut depth = loop {
            if let Some(known_depth) = depths.get(&current) {
                break known_depth + 1;
            }
            path.push(current);
            match lines.get(&current) {
                Some(manager) if path.len() <= lines.len() => current = *manager,
                _ => break 0,
            }
        };
        while let Some(person) = path.pop() {
            depths.insert(person, depth);
            depth += 1;
        }
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::ulid::Ulid;

    fn id(number: u128) -> EmployeeId {
        EmployeeId::from_ulid(Ulid(number))
    }

    fn lines(pairs: &[(u128, u128)]) -> Lines {
        pairs.iter().map(|(a, b)| (id(*a), id(*b))).collect()
    }

    #[test]
    fn cycle_excludes_people_below_the_cycle() {
        let lines = lines(&[(1, 2), (2, 3), (3, 2), (4, 1), (5, 5), (6, 7)]);
        let cycles = find_cycles(&lines, (1..8).map(id));
        assert_eq!(cycles, [2, 3, 5].map(id).into());
    }

    #[test]
    fn manager_is_less_deep_than_a_report() {
        let lines = lines(&[(1, 2), (2, 3), (4, 2), (5, 3)]);
        let depths = depths(&lines, [1, 5, 4, 2].map(id).into_iter());
        assert_eq!([1, 2, 3, 4, 5].map(|number| depths[&id(number)]), [2, 1, 0, 2, 1]);
    }
}
