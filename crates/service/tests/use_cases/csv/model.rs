//! Property tests of the upsert with random organizations and files.

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::fields::StringEnum;
use candor_domain::keyed::KeyedValue;
use candor_domain::people::Employee;
use candor_test_explore as explore;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use super::{assert_tree, counts, department_of, everybody, upload_with};
use crate::support::TestServices;

/// A row of a file. Each field is an index of a value; 0 is an empty cell.
#[derive(Debug, Clone)]
struct Line {
    email: usize,
    first_name: usize,
    manager: usize,
    department: usize,
    status: usize,
    external_id: usize,
    desk: usize,
}

const PEOPLE: usize = 9;
const STATUSES: [&str; 5] = ["", "active", "deactivated", "", "gone"];

impl Line {
    fn any() -> impl Strategy<Value = Self> {
        let ids = prop_oneof![4 => Just(0), 1 => 1..5_usize];
        (0..PEOPLE, 0..4_usize, 0..PEOPLE + 2, 0..4_usize, 0..STATUSES.len(), ids, 0..3_usize).prop_map(
            |(email, first_name, manager, department, status, external_id, desk)| Self {
                email,
                first_name,
                manager,
                department,
                status,
                external_id,
                desk,
            },
        )
    }

    fn cells(&self) -> [String; 8] {
        let some =
            |prefix: &str, number: usize| if number == 0 { String::new() } else { format!("{prefix}{number}") };
        let address = |number| if number == 0 { String::new() } else { format!("p{number}@example.com") };
        [
            address(self.email),
            some("Name ", self.first_name),
            "Example".to_owned(),
            address(self.manager),
            some("Department ", self.department),
            STATUSES[self.status].to_owned(),
            some("hr-", self.external_id),
            some("", self.desk),
        ]
    }
}

fn file(lines: &[Line]) -> String {
    let mut file =
        "email,first_name,last_name,manager_email,department_name,status,external_id,custom.desk\n".to_owned();
    for line in lines {
        file.push_str(&line.cells().join(","));
        file.push('\n');
    }
    file
}

/// Checks that every cell of a row has taken effect.
async fn is_applied(world: &TestServices, all: &BTreeMap<String, Employee>, line: &Line) -> Result<(), String> {
    let [email, first_name, _, manager, department, status, external_id, desk] = line.cells();
    let Some(it) = all.get(&email) else { return Err(format!("{email} is not there")) };
    let holds = |wanted: &str, found: Option<&str>| wanted.is_empty() || found == Some(wanted);
    let manager_of_row = it.manager_id.and_then(|id| all.values().find(|person| person.id == id));
    let own_desk = it.custom_fields.0.get("desk").map(KeyedValue::canonical);
    let own_department = department_of(world, it).await;
    let checks = [
        holds(&first_name, Some(&it.first_name)),
        holds(&manager, manager_of_row.map(|person| person.email.as_str())),
        holds(&department, own_department.as_deref()),
        holds(&status, Some(it.status.word())),
        holds(&external_id, it.external_id.as_deref()),
        holds(&desk, own_desk.as_deref()),
    ];
    if checks.iter().all(|check| *check) {
        Ok(())
    } else {
        Err(format!("{line:?} is not applied: {it:?} {checks:?}"))
    }
}

/// Returns the rows that were neither rejected nor overridden by a later row.
fn accepted<'a>(lines: &'a [Line], reply: &Value) -> Vec<&'a Line> {
    let failed_rows: BTreeSet<u64> = counts(reply).4.into_iter().map(|count| count.0).collect();
    let mut addresses = BTreeSet::new();
    let mut accepted_rows = vec![];
    for (row, line) in (2..).zip(lines).collect::<Vec<_>>().into_iter().rev() {
        if (line.email == 0 || addresses.insert(line.email)) && !failed_rows.contains(&row) {
            accepted_rows.push(line);
        }
    }
    accepted_rows
}

async fn check(before: &[Line], lines: &[Line], clear: bool) -> Result<(), TestCaseError> {
    let world = TestServices::new().await;
    let query: &[(&str, &str)] = if clear { &[("empty", "clear")] } else { &[] };
    upload_with(&world, &[], &file(before)).await;
    let text = file(lines);
    let dry = upload_with(&world, &[query, &[("dry_run", "true")]].concat(), &text).await;
    let reply = upload_with(&world, query, &text).await;
    prop_assert_eq!(&dry["data"], &reply["data"], "a dry run reports the real result");
    let (created, updated, deactivated, skipped, errors) = counts(&reply);
    let sum = created + updated + deactivated + skipped + errors.len() as u64;
    prop_assert_eq!(sum, lines.len() as u64, "the counters sum to the rows");
    let all = everybody(&world).await;
    for line in accepted(lines, &reply) {
        is_applied(&world, &all, line).await.map_err(TestCaseError::fail)?;
    }
    assert_tree(&world).await;
    let second_counts = counts(&upload_with(&world, query, &text).await);
    let rest = lines.len() as u64 - errors.len() as u64;
    prop_assert_eq!(second_counts, (0, 0, 0, rest, errors), "a second upload changes nothing");
    prop_assert_eq!(everybody(&world).await, all);
    Ok(())
}

#[test]
fn random_csv_file_is_applied_once_and_completely() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let cases = u32::try_from(explore::size(120, 3_000)).unwrap();
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let lines = || proptest::collection::vec(Line::any(), 0..14);
    runner
        .run(&(lines(), lines(), any::<bool>()), |(before, lines, clear)| {
            runtime.block_on(check(&before, &lines, clear))
        })
        .unwrap();
}
