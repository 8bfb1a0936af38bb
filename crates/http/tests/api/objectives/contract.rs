//! The state table of §3.1 with decision C10, independent of the code under test.

/// All states. `in review` is internal and reported as `proposed`.
pub(super) const STATES: [&str; 7] =
    ["proposed", "in review", "approved", "in_progress", "completed", "missed", "archived"];

/// All triggers: the actions, and `PATCH` of the status to each value.
pub(super) const TRIGGERS: [&str; 12] = [
    "submit",
    "approve",
    "reject",
    "complete",
    "miss",
    "archive",
    "PATCH proposed",
    "PATCH approved",
    "PATCH in_progress",
    "PATCH completed",
    "PATCH missed",
    "PATCH archived",
];

pub(super) const REVIEWS: [&str; 3] = ["optional", "required", "disabled"];

const TABLE: [(&str, &str, &str); 16] = [
    ("proposed", "submit", "in review"),
    ("proposed", "approve", "approved"),
    ("in review", "approve", "approved"),
    ("proposed", "reject", "proposed"),
    ("in review", "reject", "proposed"),
    ("approved", "PATCH in_progress", "in_progress"),
    ("in_progress", "PATCH approved", "approved"),
    ("in_progress", "complete", "completed"),
    ("approved", "complete", "completed"),
    ("in_progress", "miss", "missed"),
    ("proposed", "archive", "archived"),
    ("in review", "archive", "archived"),
    ("approved", "archive", "archived"),
    ("in_progress", "archive", "archived"),
    ("completed", "archive", "archived"),
    ("missed", "archive", "archived"),
];

/// Returns the next state after a trigger, or `None` if the trigger is refused with 409.
pub(super) fn next_state(from: &str, trigger: &str, review: &str) -> Option<&'static str> {
    let forbidden = match review {
        "required" => (from, trigger) == ("proposed", "approve"),
        "disabled" => trigger == "submit" || trigger == "reject",
        _ => false,
    };
    let row = TABLE.into_iter().find(|(state, by, _)| (*state, *by) == (from, trigger));
    row.filter(|_| !forbidden).map(|(_, _, to)| to)
}

/// Returns the status that the API reports for a state.
pub(super) fn reported(state: &str) -> &str {
    if state == "in review" { "proposed" } else { state }
}

/// Returns `true` if no action except archiving can follow.
pub(super) fn is_finished(state: &str) -> bool {
    matches!(state, "completed" | "missed" | "archived")
}
