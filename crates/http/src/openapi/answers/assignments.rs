//! Assignments and their submissions, as they are answered.

use candor_domain::assignment::{self, INSTRUCTIONS_CHARS, MAX_REVIEWERS, SubmissionStatus, TITLE_CHARS};
use candor_domain::fields::Word;
use candor_domain::id::{AssignmentKind, EmployeeKind, ObservationKind};
use serde_json::Value;

use super::super::shapes::{answer, array, count, date, datetime, field, id, named, nullable, plain};
use super::super::vocabulary::open;
use super::times;

pub(super) fn assignment() -> Value {
    let instructions = format!(
        "What reviewers are to look at, in plain text of at most {INSTRUCTIONS_CHARS} characters; null for nothing."
    );
    let reviewers = format!("The ids of those who are asked, 1 to {MAX_REVIEWERS}, nobody twice.");
    let person = || id::<EmployeeKind>();
    let mut members = vec![
        field("id", id::<AssignmentKind>(), "The assignment's id."),
        field("employee_id", person(), "The person whom the feedback is about."),
        field("requester_id", nullable(person()), "The person who asks for it; null where that was not said."),
        field("title", plain(), &format!("What people call it, 1 to {TITLE_CHARS} characters.")),
        field("instructions", nullable(plain()), &instructions),
        field("due_date", nullable(date()), "The day by which it is wanted; null for none."),
        field("reviewer_ids", array(&person()), &reviewers),
        field("required_submissions", count(1), "So many submissions complete it."),
        field("status", open(assignment::Status::NAME), "Where it stands."),
        field(
            "submissions",
            array(&named("Submission")),
            "What came of each reviewer, in the order of `reviewer_ids`.",
        ),
        field("submitted_count", count(0), "How many reviewers have submitted."),
    ];
    members.extend(times());
    answer(members, vec![])
}

pub(super) fn submission() -> Value {
    let members = vec![
        field("reviewer_id", id::<EmployeeKind>(), "The reviewer."),
        field("status", open(SubmissionStatus::NAME), "Whether the reviewer has submitted."),
        field("observation_ids", array(&id::<ObservationKind>()), "The ids of the observations that were submitted."),
        field("submitted_at", nullable(datetime()), "When they were; null until then."),
    ];
    answer(members, vec![])
}
