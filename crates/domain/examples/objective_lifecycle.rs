//! Runs the lifecycle of an objective without a service: `cargo run --package candor-domain --example
//! objective_lifecycle`.
//!
//! Every step is a function of values. It returns a `Decision` with the new state, the events and the notices,
//! or a `DomainError` for a step that the lifecycle does not have.

#![expect(clippy::print_stdout, reason = "people read what an example prints")]

use std::error::Error;

use candor_domain::decision::Decision;
use candor_domain::fields::StringEnum;
use candor_domain::id::Id;
use candor_domain::json::{Object, Value};
use candor_domain::objective::{Action, Draft, Family, Objective, References, StoredOwner};
use candor_domain::organization::Review;
use candor_domain::people::Role;
use candor_domain::time::Timestamp;
use candor_domain::ulid::Ulid;

fn main() -> Result<(), Box<dyn Error>> {
    let owner = Id::<candor_domain::id::EmployeeKind>::from_ulid(Ulid(1));
    let body: Object = [
        ("owner_id", owner.to_string()),
        ("title", "Answer customers within a day".to_owned()),
        ("period_start", "2026-01-01".to_owned()),
        ("period_end", "2026-03-31".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), Value::Text(value)))
    .into();

    let draft = Draft::parse(Family::Employees, body)?;
    let owner = Some(StoredOwner { role: Role::Employee, in_reach: true });
    let references = References { owner, ..References::default() };
    let mut now: Timestamp = "2026-01-02T09:00:00Z".parse()?;
    let creation = Objective::create(Id::from_ulid(Ulid(2)), draft, &references, now);
    let mut objective = print_effects(creation?);

    let actions = [
        Action::Submit,
        Action::Reject { reason: "Say which customers".to_owned() },
        Action::Submit,
        Action::Approve { comment: None },
        Action::Complete { outcome: Some("0.8 days in the median".to_owned()) },
        // A completed objective cannot be approved again.
        Action::Approve { comment: None },
    ];
    for action in actions {
        now = now.strictly_after(now);
        match objective.apply(action, Review::Required, now) {
            Ok(decision) => objective = print_effects(decision),
            Err(refusal) => println!("refused: {refusal}"),
        }
    }
    Ok(())
}

/// Prints the effects of a decision and returns the new state.
fn print_effects(decision: Decision<Objective>) -> Objective {
    let events: Vec<_> = decision.events.iter().map(|event| event.word()).collect();
    println!(
        "{:<18} is {:<12} events: {}",
        decision.audit.action,
        decision.state.status.word(),
        events.join(", ")
    );
    for notice in &decision.notices {
        println!("{:<18} {}", "", notice.title);
    }
    decision.state
}
