//! What is loaded: every row follows from its number, in SQL as in Rust, so that requests can name what is stored.

mod load;
mod sql;
pub(crate) mod words;

pub(crate) use load::{into_postgres, into_sqlite, number_in_sqlite, run_in_sqlite};
pub(crate) use sql::{Dialect, hex, numbers};

use candor_domain::id::{AttributeId, EmployeeId, ObservationId};
use candor_domain::time::Date;

/// 2022-01-01: everything loaded is in the past.
pub(crate) const FIRST_DAY: u32 = 18_993;
/// Days over which the observations spread.
pub(crate) const DAYS: u32 = 1_000;
/// Direct reports of a manager.
const BRANCHES: u32 = 10;
/// The last people report to one another in a line, so that there are managers at every depth.
pub(crate) const LINE: u32 = 60;

/// Every so many objectives one is approved and begins on a day that is far away.
pub(crate) const APPROVED: u32 = 10;

/// How much is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) people: u32,
    pub(crate) observations: u32,
}

/// The hexadecimal digits of an id around its number: like a ULID's, the first digits grow with the number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series {
    pub(crate) before: &'static str,
    pub(crate) behind: &'static str,
}

pub(crate) const PEOPLE: Series = Series { before: "017", behind: "00a3c15e0b7d4429f86e1b" };
pub(crate) const OBJECTIVES: Series = Series { before: "019", behind: "005e21f7b80c4d93a6711f" };
pub(crate) const OBSERVATIONS: Series = Series { before: "018", behind: "00c9074d21e86fb35a90d2" };

pub(crate) const EVENTS: Series = Series { before: "019", behind: "00e7203d11a84fc66b29d8" };

/// Numbers become seven decimal digits, which are hexadecimal ones too: a text that pgbench can make.
pub(crate) const FIRST_NUMBER: u32 = 1_000_000;
pub(crate) const NUMBER_STEP: u32 = 8;

impl Series {
    /// The id of the row with this index.
    pub(crate) fn id(self, index: u32) -> [u8; 16] {
        let digits = format!("{}{}{}", self.before, FIRST_NUMBER + NUMBER_STEP * index, self.behind);
        u128::from_str_radix(&digits, 16).unwrap_or_default().to_be_bytes()
    }
}

pub(crate) fn person(index: u32) -> EmployeeId {
    EmployeeId::from_bytes(PEOPLE.id(index))
}

pub(crate) fn observation(index: u32) -> ObservationId {
    ObservationId::from_bytes(OBSERVATIONS.id(index))
}

impl Size {
    /// How many objectives there are.
    pub(crate) const fn objectives(self) -> u32 {
        self.observations / 10
    }

    /// The day that an observation is about, in days since 1970-01-01: later ones are mostly about later days.
    pub(crate) fn day(self, index: u32) -> u32 {
        FIRST_DAY + index / self.per_day() - index % 7
    }

    pub(crate) fn date(self, index: u32) -> Date {
        Date::from_epoch_days(i32::try_from(self.day(index)).unwrap_or(i32::MAX))
    }

    pub(crate) fn per_day(self) -> u32 {
        (self.observations / DAYS).max(1)
    }

    /// The manager of a person; the first one has none.
    pub(crate) fn manager(self, index: u32) -> Option<u32> {
        if index > self.line_begins() {
            return Some(index - 1);
        }
        Some(index.checked_sub(1)? / BRANCHES)
    }

    /// The first person of the line at the end; the others report to the one before.
    pub(crate) fn line_begins(self) -> u32 {
        self.people - LINE
    }

    /// How many people are above each person, and below.
    pub(crate) fn depths_and_sizes(self) -> Vec<(u32, u32)> {
        let mut found = vec![(0, 0); self.people as usize];
        for index in 1..self.people {
            let mut above = self.manager(index);
            while let Some(manager) = above {
                found[index as usize].0 += 1;
                found[manager as usize].1 += 1;
                above = self.manager(manager);
            }
        }
        found
    }

    /// The observation with this rank in the default order of the list, the newest first.
    pub(crate) fn ranked(self, rank: u32) -> u32 {
        let mut all: Vec<(u32, u32)> = (0..self.observations).map(|index| (self.day(index), index)).collect();
        let (_, found, _) = all.select_nth_unstable_by(rank as usize, |one, other| other.cmp(one));
        found.1
    }
}

/// The attributes of an observation: none for every second one, else one to three.
pub(crate) const fn attribute_count(index: u32) -> usize {
    if index.is_multiple_of(2) { 0 } else { (1 + index / 2 % 3) as usize }
}

/// Attributes that differ, beginning with the one whose turn it is.
pub(crate) fn attributes_from(all: &[AttributeId], first: usize, count: usize) -> Vec<AttributeId> {
    (0..count.min(all.len())).map(|it| all[(first + it) % all.len()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { people: 1_000, observations: 5_000 };

    #[test]
    fn ids_grow_with_their_numbers_and_are_valid() {
        let ids: Vec<_> = [0, 1, 9, 10, 99_999, 999_999].into_iter().map(observation).collect();
        assert!(ids.is_sorted());
        for id in ids {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        assert_ne!(person(1).to_bytes(), observation(1).to_bytes());
    }

    #[test]
    fn everybody_but_the_first_is_below_the_first() {
        let found = SIZE.depths_and_sizes();
        assert_eq!(found[0], (0, 999));
        assert_eq!(found[1].0, 1);
        let line = SIZE.line_begins() as usize;
        assert_eq!(found[line].1, LINE - 1);
        assert_eq!(found[999], (found[line].0 + LINE - 1, 0));
    }

    #[test]
    fn the_newest_day_comes_first() {
        let first = SIZE.ranked(0);
        assert!((0..SIZE.observations).all(|it| (SIZE.day(it), it) <= (SIZE.day(first), first)));
        let ranked = SIZE.ranked(700);
        let newer = (0..SIZE.observations).filter(|it| (SIZE.day(*it), *it) > (SIZE.day(ranked), ranked));
        assert_eq!(newer.count(), 700);
    }
}
