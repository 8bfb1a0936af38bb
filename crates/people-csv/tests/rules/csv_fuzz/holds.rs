//! Invariants of the CSV upload for any uploaded bytes.

use std::collections::{HashMap, HashSet};

use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_domain::ulid::Ulid;
use candor_people_csv::{
    self as csv, Counts, CsvFileError, File, MAX_BYTES, Plan, PlanOptions, Report, RowOutcome, StoredRows,
};

/// Checks that the reader refuses a file with a reason or returns its rows in order, and that a readable file can
/// be split.
pub(crate) fn check_reading(bytes: &[u8]) {
    match File::read(bytes) {
        Ok(file) => {
            assert!(file.rows.windows(2).all(|pair| pair[0].number < pair[1].number), "rows are in order");
            let _keys = file.lookup_keys(&mut |_| {});
            let split = csv::split(bytes, 3, MAX_BYTES).expect("what can be read can be split");
            let row_count: usize = split.parts.iter().map(|part| part.numbers.len()).sum();
            assert_eq!(row_count + split.duplicates, file.rows.len(), "every row is in one part");
            assert!(split.parts.iter().all(|part| File::read(&part.bytes).is_ok()), "every part can be read");
        }
        Err(CsvFileError::Invalid(problems)) => assert!(!problems.is_empty()),
        Err(CsvFileError::Malformed(message)) => assert!(message.contains(" at line "), "{message}"),
    }
}

/// Checks a plan for an empty organization: it accounts for every row, has managers before their reports, and
/// leaves nothing for a second upload.
pub(crate) fn check_planning(bytes: &[u8]) {
    let Ok(file) = File::read(bytes) else { return };
    let mut number = 0;
    let mut ids = || {
        number += 1;
        Ulid(number)
    };
    for clear_empty in [false, true] {
        let options =
            PlanOptions { clear_empty, is_admin: true, connector: None, at: Timestamp::from_millis(1_000) };
        let plan = csv::plan(&file, &StoredRows::default(), &HashSet::new(), &options, &mut ids);
        let Counts { created, updated, deactivated, skipped, errors } =
            Report::from_outcomes(&file, plan.outcomes.iter()).data;
        assert_eq!(
            created + updated + deactivated + skipped + errors.len(),
            file.rows.len(),
            "counters sum to the rows"
        );
        assert_eq!((created, updated, deactivated), (plan.steps.len(), 0, 0), "the organization is empty");
        let rows_after = apply_plan(&file, &plan, &options);
        let second_plan = csv::plan(&file, &rows_after, &HashSet::new(), &options, &mut ids);
        assert_eq!(second_plan.steps, [], "the second time changes nothing");
        let rejections = |plan: &Plan| {
            plan.outcomes.iter().map(|outcome| matches!(outcome, RowOutcome::Reject(_))).collect::<Vec<_>>()
        };
        assert_eq!(rejections(&plan), rejections(&second_plan), "the same rows fail");
    }
}

/// Returns the stored people after a plan.
fn apply_plan(file: &File, plan: &Plan, options: &PlanOptions<'_>) -> StoredRows {
    let (mut people, mut lines): (Vec<Employee>, _) = (vec![], HashMap::new());
    for step in &plan.steps {
        let decisions = Plan::decisions(file, &StoredRows::default(), options, step).expect("what was planned");
        let state = decisions.into_iter().next_back().expect("a step decides something").state;
        if let Some(manager) = state.manager_id {
            assert!(people.iter().any(|person| person.id == manager), "a manager is there before the reports");
            lines.insert(state.id, manager);
        }
        people.push(state);
    }
    let departments = plan.departments.values().map(|department| department.state.clone()).collect();
    StoredRows { people, departments, lines, ..StoredRows::default() }
}
