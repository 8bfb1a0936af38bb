//! Rows that the bench loads. The values of a row follow from its number, in SQL as in Rust, so that requests can name stored
//! rows.

mod sql;
pub(crate) mod words;

pub(crate) use sql::{hex, numbers};

use crate::Result;
use crate::database::Database;
use candor_domain::id::{AttributeId, EmployeeId, ObservationId};
use candor_domain::time::Date;

/// 2022-01-01 in days since 1970-01-01. All loaded rows are in the past.
pub(crate) const FIRST_DAY: u32 = 18_993;
/// Days over which the observations are spread.
pub(crate) const DAYS: u32 = 1_000;
const MILLIS_PER_DAY: u64 = 86_400_000;
/// Number of direct reports of a manager.
const BRANCHES: u32 = 10;

/// Numbers of loaded rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) people: u32,
    pub(crate) observations: u32,
}

/// Hexadecimal digits of an id before and after its number. Ids of later rows are greater, as with ULIDs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series {
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
}

pub(crate) const PEOPLE: Series = Series { before: "017", after: "00a3c15e0b7d4429f86e1b" };
pub(crate) const OBSERVATIONS: Series = Series { before: "018", after: "00c9074d21e86fb35a90d2" };
pub(crate) const EVENTS: Series = Series { before: "019", after: "00e7203d11a84fc66b29d8" };

/// Number of the first row. Numbers have seven decimal digits, a text that pgbench can generate.
pub(crate) const FIRST_NUMBER: u32 = 1_000_000;
/// Distance between the numbers of two rows.
pub(crate) const NUMBER_STEP: u32 = 8;

impl Series {
    /// Returns the id of the row with this index.
    pub(crate) fn id(self, index: u32) -> [u8; 16] {
        let digits = format!("{}{}{}", self.before, FIRST_NUMBER + NUMBER_STEP * index, self.after);
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
    /// Returns the day of an observation in days since 1970-01-01. Later rows mostly have later days.
    pub(crate) fn day(self, index: u32) -> u32 {
        FIRST_DAY + index / self.per_day() - index % 7
    }

    pub(crate) fn date(self, index: u32) -> Date {
        Date::from_epoch_days(i32::try_from(self.day(index)).unwrap_or(i32::MAX))
    }

    pub(crate) fn per_day(self) -> u32 {
        (self.observations / DAYS).max(1)
    }
}

/// Returns `count` successive attributes of the list, from the index `first`. The first one follows the last one.
pub(crate) fn attributes_from(all: &[AttributeId], first: usize, count: usize) -> Vec<AttributeId> {
    (0..count.min(all.len())).map(|offset| all[(first + offset) % all.len()]).collect()
}

/// Loads the rows of a tenant into a migrated database. Returns the attributes of the tenant.
pub(crate) fn load(database: &Database, tenant: [u8; 16], size: Size) -> Result<Vec<AttributeId>> {
    let store = database.store();
    let digits = store.pick("replace(id::text, '-', '')", "hex(id)");
    let tenant_literal = store.bytes(tenant);
    let query = format!("SELECT {digits} AS value FROM attributes WHERE tenant_id = {tenant_literal} ORDER BY id");
    let ids = database.texts(&query)?.into_iter().map(|digits| u128::from_str_radix(&digits, 16));
    let attributes = ids.map(|id| Ok(AttributeId::from_bytes(id?.to_be_bytes()))).collect::<Result<Vec<_>>>()?;
    database.begin_load()?;
    let rows = sql::Rows { store, size, tenant, attributes: &attributes };
    rows.statements().iter().try_for_each(|statement| database.run(statement))?;
    database.end_load()?;
    Ok(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_valid_and_grow_with_their_numbers() {
        let ids: Vec<_> = [0, 1, 9, 10, 99_999, 999_999].into_iter().map(observation).collect();
        assert!(ids.is_sorted());
        for id in ids {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        assert_ne!(person(1).to_bytes(), observation(1).to_bytes());
    }
}
