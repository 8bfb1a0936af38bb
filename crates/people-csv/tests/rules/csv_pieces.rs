//! Tests of the progress of work on a CSV file: each pass reports all cells, and no call reports more than the cells
//! of a row and one cell for each row.

use std::collections::HashSet;

use candor_domain::time::Timestamp;
use candor_domain::ulid::Ulid;
use candor_people_csv::{self as csv, File, PersonNames, PlanDisplay, PlanOptions, StoredRows};

const ROWS: usize = 100;
const COLUMNS: usize = 40;

/// Calls of a progress function.
#[derive(Default)]
struct Pieces(Vec<usize>);

impl Pieces {
    fn assert(&self, rows: usize, name: &str) {
        let (longest, total) = (self.0.iter().max().copied().unwrap_or(0), self.0.iter().sum::<usize>());
        assert!(longest <= COLUMNS + ROWS, "{name}: {longest} cells at once");
        assert!(total >= rows * COLUMNS, "{name}: {total} cells are counted");
    }
}

#[test]
fn work_on_a_file_counts_the_cells_of_each_row() {
    let custom: String = (3..COLUMNS).map(|column| format!(",custom.c{column}")).collect();
    let mut text = format!("email,first_name,last_name{custom}\n");
    for row in 0..ROWS {
        let name = if row % 10 == 0 { "" } else { "Ada" };
        text.push_str(&format!("a{row}@example.com,{name},Moreau{}\n", ",".repeat(COLUMNS - 3)));
    }
    let mut pieces = Pieces::default();
    let file = File::read_in_pieces(text.as_bytes(), &mut |cells| pieces.0.push(cells)).unwrap();
    pieces.assert(ROWS, "read");
    let options =
        PlanOptions { clear_empty: true, is_admin: true, connector: None, at: Timestamp::from_millis(1_000) };
    let (known, mut pieces, mut number) = (StoredRows::default(), Pieces::default(), 0);
    let mut ids = || {
        number += 1;
        Ulid(number)
    };
    let progress = &mut |cells| pieces.0.push(cells);
    let plan = csv::plan_in_pieces(&file, &known, &HashSet::new(), &options, &mut ids, progress);
    assert_eq!(plan.steps.len(), ROWS * 9 / 10);
    // All rows go through three passes: they are matched, read and completed. Rows with valid cells go through three
    // more: they get managers, are decided and finished.
    pieces.assert(3 * ROWS + 3 * plan.steps.len(), "plan");
    let mut pieces = Pieces::default();
    let progress = &mut |cells| pieces.0.push(cells);
    let display = |max_bytes| PlanDisplay { names: PersonNames::default(), shows_stored: true, max_bytes };
    let (rows, has_more) = plan.rows(&file, &known, &options, display(usize::MAX), progress).unwrap();
    assert_eq!((rows.len(), has_more), (ROWS, false));
    pieces.assert(ROWS, "rows");
    // The rows end at the size of the display: one byte less, and the last row is missing.
    let bytes: usize = rows.iter().map(|row| serde_json::to_vec(row).unwrap().len() + 1).sum();
    for (max_bytes, wanted) in [(bytes, (ROWS, false)), (bytes - 1, (ROWS - 1, true)), (0, (0, true))] {
        let (rows, has_more) = plan.rows(&file, &known, &options, display(max_bytes), &mut |_| {}).unwrap();
        assert_eq!((rows.len(), has_more), wanted, "{max_bytes}");
    }
}
