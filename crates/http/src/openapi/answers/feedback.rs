//! Observations, their attributes, objectives and summaries, as they are answered.

use candor_domain::fields::Word;
use candor_domain::id::{AttributeKind, EmployeeKind, ObjectiveKind, ObservationKind, SummaryKind};
use candor_domain::library::{Tone, attribute};
use candor_domain::objective::{self, DESCRIPTION_CHARS, TITLE_CHARS};
use candor_domain::observation::{MAX_ATTRIBUTES, NOTE_CHARS, TEXT_CHARS, Type};
use candor_domain::summary::{self, BODY_CHARS, MAX_OBJECTIVES, MAX_OBSERVATIONS};
use serde_json::Value;

use super::super::shapes::{answer, array, date, datetime, field, flag, id, named, nullable, plain};
use super::super::vocabulary::open;
use super::{archived_at, times};

pub(super) fn observation() -> Value {
    let note = |what: &str| format!("{what} At most {NOTE_CHARS} characters; null where nothing was said.");
    let tags = format!("The ids of its attributes, at most {MAX_ATTRIBUTES}, none of them twice.");
    let mut members = vec![
        field("id", id::<ObservationKind>(), "The observation's id."),
        field("employee_id", id::<EmployeeKind>(), "The person it is about."),
        field("author_id", nullable(id::<EmployeeKind>()), "The person who wrote it; null where that was not said."),
        field("type", open(Type::NAME), "Whether it is about a strength or an opportunity."),
        field("observation", plain(), &format!("What was observed, in plain text of 1 to {TEXT_CHARS} characters.")),
        field("impact", nullable(plain()), &note("What came of it, in plain text.")),
        field("recommended_action", nullable(plain()), &note("What should be done, in plain text.")),
        field("attribute_ids", array(&id::<AttributeKind>()), &tags),
        field("observation_date", date(), "The day that it is about; never in the future."),
    ];
    members.extend(times());
    members.push(archived_at());
    let expanded = vec![
        field("employee", nullable(named("Employee")), "The person it is about. Only with `expand=employee`."),
        field("attributes", array(&named("Attribute")), "Its attributes. Only with `expand=attributes`."),
    ];
    answer(members, expanded)
}

pub(super) fn objective() -> Value {
    let description = format!(
        "What the title means, in plain text of at most {DESCRIPTION_CHARS} characters; null where nothing is."
    );
    let mut members = vec![
        field("id", id::<ObjectiveKind>(), "The objective's id."),
        field("scope", open(objective::Scope::NAME), "Whose goal it is."),
        field("owner_id", id::<EmployeeKind>(), "The person responsible; for scope `org` an org admin."),
        field("title", plain(), &format!("What is to be reached, in 1 to {TITLE_CHARS} characters.")),
        field("description", nullable(plain()), &description),
        field("status", open(objective::Status::NAME), "Where it stands."),
        field("period_start", date(), "The first day of its period. An approved objective starts on this day, in UTC."),
        field("period_end", date(), "The last day of its period; not before `period_start`."),
        field(
            "linked_summary_ids",
            array(&id::<SummaryKind>()),
            "The ids of the summaries that include it and are not archived, oldest first.",
        ),
    ];
    members.extend(times());
    members.extend([
        field(
            "submitted_at",
            nullable(datetime()),
            "When it was submitted for review; null where it was not, or was rejected since.",
        ),
        field("approved_at", nullable(datetime()), "When it was first approved or started; null before that."),
        field("completed_at", nullable(datetime()), "When it was reached; null unless it is `completed`."),
    ]);
    let expanded = vec![
        field("owner", named("Employee"), "The person responsible. Only with `expand=owner`."),
        field(
            "linked_summaries",
            array(&named("Summary")),
            "The newest 100 of these summaries, as far as the key sees them. Only with `expand=linked_summaries`.",
        ),
    ];
    answer(members, expanded)
}

pub(super) fn summary() -> Value {
    let observations = format!(
        "The ids of the observations that it rests on, at most {MAX_OBSERVATIONS}; until it is approved without those that \
         are archived."
    );
    let objectives = format!("The ids of the objectives that it rests on, at most {MAX_OBJECTIVES}.");
    let mut members = vec![
        field("id", id::<SummaryKind>(), "The summary's id."),
        field("employee_id", id::<EmployeeKind>(), "The person it is about."),
        field("author_id", nullable(id::<EmployeeKind>()), "The person who wrote it; null where that was not said."),
        field("title", plain(), &format!("What it is called, in 1 to {} characters.", summary::TITLE_CHARS)),
        field("body", plain(), &format!("What it says, in plain text of at most {BODY_CHARS} characters.")),
        field("period_start", nullable(date()), "The first day that it is about; null together with `period_end`."),
        field("period_end", nullable(date()), "The last day that it is about; not before `period_start`."),
        field("status", open(summary::Status::NAME), "Where it stands."),
        field("included_objective_ids", array(&id::<ObjectiveKind>()), &objectives),
        field("included_observation_ids", array(&id::<ObservationKind>()), &observations),
        field("employee_feedback", nullable(named("EmployeeFeedback")), "What the employee answered; null until then."),
        field(
            "submitted_at",
            nullable(datetime()),
            "When it was submitted; null where it was not, or was returned since.",
        ),
        field(
            "approved_at",
            nullable(datetime()),
            "When it was approved; null where it was not, or was returned since.",
        ),
        field("shared_at", nullable(datetime()), "When it was shared with the employee; null before that."),
    ];
    members.extend(times());
    members.push(archived_at());
    let expanded = vec![
        field("employee", named("Employee"), "The person it is about. Only with `expand=employee`."),
        field("author", nullable(named("Employee")), "The person who wrote it. Only with `expand=author`."),
        field(
            "included_objectives",
            array(&named("Objective")),
            "The objectives that it rests on, as far as the key sees them. Only with `expand=included_objectives`.",
        ),
        field(
            "included_observations",
            array(&named("Observation")),
            "The observations that it rests on. Only with `expand=included_observations`.",
        ),
    ];
    answer(members, expanded)
}

pub(super) fn employee_feedback() -> Value {
    let members = vec![
        field("comment", nullable(plain()), "What the employee says to it; null for nothing."),
        field("acknowledged", flag(), "Whether the employee has taken note of it."),
        field("submitted_at", datetime(), "When the feedback was given."),
    ];
    answer(members, vec![])
}

pub(super) fn attribute() -> Value {
    let chars = attribute::NAME_CHARS;
    let mut members = vec![
        field("id", id::<AttributeKind>(), "The attribute's id."),
        field("name", plain(), &format!("Its name, 1 to {chars} characters, unique in the organization without case.")),
        field("category", plain(), &format!("What it is listed under: 1 to {chars} characters, freely chosen.")),
        field("tone", open(Tone::NAME), "The sound of feedback that has this attribute."),
    ];
    members.extend(times());
    members.push(archived_at());
    answer(members, vec![])
}
