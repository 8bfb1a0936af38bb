//! Plans an upload without a database: `cargo run --package candor-people-csv --example plan_csv`.
//!
//! A file is decided as a whole (§4.3). Managers come before their reports, and rows that would close a cycle are
//! refused. A file that is applied twice changes nothing the second time.

#![expect(clippy::print_stdout, reason = "people read what an example prints")]

use std::collections::HashSet;
use std::error::Error;

use candor_domain::time::Timestamp;
use candor_domain::ulid::Ulid;
use candor_people_csv::{File, Plan, PlanOptions, RowOutcome, StoredRows, plan};

const FILE: &str = "email,first_name,last_name,manager_email\n\
                    ada@example.com,Ada,Moreau,grace@example.com\n\
                    grace@example.com,Grace,Okafor,\n\
                    alan@example.com,Alan,Lindqvist,edsger@example.com\n\
                    edsger@example.com,Edsger,Haas,alan@example.com\n\
                    ,No,Address,\n";

fn main() -> Result<(), Box<dyn Error>> {
    let file = File::read(FILE.as_bytes())?;
    let now: Timestamp = "2026-03-01T08:15:30Z".parse()?;
    let options = PlanOptions { clear_empty: false, is_admin: true, connector: None, at: now };
    let mut number = 0;
    let mut ids = || {
        number += 1;
        Ulid(number)
    };

    let mut stored_rows = StoredRows::default();
    let first = plan(&file, &stored_rows, &HashSet::new(), &options, &mut ids);
    for (row, outcome) in file.rows.iter().zip(&first.outcomes) {
        if let RowOutcome::Reject(rejection) = outcome {
            println!("row {}: {:?}, {}", row.number, rejection.code(), rejection.message());
        } else {
            println!("row {}: {outcome:?} {}", row.number, row.email);
        }
    }
    let mut people = Vec::new();
    for step in &first.steps {
        for decision in Plan::decisions(&file, &stored_rows, &options, step)? {
            println!("{}: {} {}", decision.audit.action, decision.state.first_name, decision.state.last_name);
            people.push(decision.state);
        }
    }

    stored_rows.people = people;

    let second_plan = plan(&file, &stored_rows, &HashSet::new(), &options, &mut ids);
    println!("the same file again: {} steps", second_plan.steps.len());
    Ok(())
}
