use super::*;
use crate::decimal::Decimal;
use crate::objective::tests::{NOON, objective};
use crate::objective::{KeyResult, Metric};
use Status::{Approved, Archived, Completed, InProgress, Missed, Proposed};

fn actions() -> [Action; 6] {
    [
        Action::Submit,
        Action::Approve { comment: None },
        Action::Reject { reason: "Too vague".to_owned() },
        Action::Complete { outcome: None },
        Action::Miss { reason: None },
        Action::Archive,
    ]
}

#[test]
fn each_status_accepts_only_its_actions() {
    let (p, a, c, m, x) = (Some(Proposed), Some(Approved), Some(Completed), Some(Missed), Some(Archived));
    let table = [
        //                      submit approve reject complete miss archive
        (Proposed, false, [p, a, p, None, None, x]),
        (Proposed, true, [None, a, p, None, None, x]),
        (Approved, false, [None, None, None, c, None, x]),
        (InProgress, false, [None, None, None, c, m, x]),
        (Completed, false, [None, None, None, None, None, x]),
        (Missed, false, [None, None, None, None, None, x]),
        (Archived, false, [None, None, None, None, None, None]),
    ];
    for (from, in_review, row) in table {
        for (action, to) in actions().into_iter().zip(row) {
            let objective_before = objective(from, in_review);
            let next_status = objective_before
                .apply(action.clone(), Review::Optional, NOON)
                .ok()
                .map(|decision| decision.state.status);
            assert_eq!(next_status, to, "{from:?} (in review: {in_review}) × {action:?}");
        }
    }
}

#[test]
fn review_setting_narrows_the_transitions() {
    let statuses_of = |review, in_review| {
        let objective_before = objective(Proposed, in_review);
        actions().map(|action| objective_before.apply(action, review, NOON).is_ok())
    };
    //                                                  submit approve reject complete miss archive
    assert_eq!(statuses_of(Review::Required, false), [true, false, true, false, false, true]);
    assert_eq!(statuses_of(Review::Required, true), [false, true, true, false, false, true]);
    assert_eq!(statuses_of(Review::Disabled, false), [false, true, false, false, false, true]);
    assert_eq!(statuses_of(Review::Disabled, true), [false, true, false, false, false, true]);
}

#[test]
fn approved_at_is_set_once() {
    let approval_time = NOON.plus_seconds(60);
    let approved_objective = objective(Proposed, false)
        .apply(Action::Approve { comment: None }, Review::Optional, approval_time)
        .unwrap()
        .state;
    assert_eq!(approved_objective.approved_at, Some(approval_time));
    let start_move = approved_objective.apply_move(StatusChange::Start, approval_time.plus_seconds(60)).unwrap();
    let return_move = start_move.apply_move(StatusChange::HoldBack, approval_time.plus_seconds(90)).unwrap();
    assert_eq!((start_move.approved_at, return_move.approved_at), (Some(approval_time), Some(approval_time)));
}

#[test]
fn approved_objective_starts_on_its_first_day_unless_held_back() {
    let today = NOON.date();
    let due = objective(Approved, false);
    assert_eq!(due.start_if_due(today, NOON).unwrap().state.status, InProgress);
    let early = Objective { period_start: today.next(), ..due.clone() };
    assert!(early.start_if_due(today, NOON).is_none());
    let objective_not_started = objective(InProgress, false).apply_move(StatusChange::HoldBack, NOON).unwrap();
    assert!(objective_not_started.start_if_due(today, NOON).is_none());
    let second_start = objective_not_started.apply_move(StatusChange::Start, NOON).unwrap();
    assert!(!second_start.held_back);
    for status in [Proposed, InProgress, Completed, Missed, Archived] {
        assert!(objective(status, false).start_if_due(today, NOON).is_none(), "{status:?}");
    }
}

#[test]
fn submission_records_differences_from_the_last_review() {
    let first = objective(Proposed, false).apply(Action::Submit, Review::Optional, NOON).unwrap();
    assert_eq!(first.audit.changes["title"].from, crate::json::Value::Null);
    let rejection =
        first.state.apply(Action::Reject { reason: "Too vague".to_owned() }, Review::Optional, NOON).unwrap();
    assert_eq!((rejection.state.submitted_at, rejection.audit.comment.as_deref()), (None, Some("Too vague")));
    let edited_objective = Objective { title: "Answer within four hours".to_owned(), ..rejection.state };
    let second = edited_objective.apply(Action::Submit, Review::Optional, NOON).unwrap();
    assert!(second.audit.changes.contains_key("title"));
    assert!(!second.audit.changes.contains_key("period_end"));
    assert!(!second.audit.changes.contains_key("key_results"));
}

#[test]
fn submission_lists_changed_key_results_and_no_check_in() {
    let submit = |objective: &Objective| objective.apply(Action::Submit, Review::Optional, NOON).unwrap();
    let submission = submit(&Objective { key_results: vec![key_result(60)], ..objective(Proposed, false) }).state;
    let first = Objective { submitted_at: None, ..submission };
    let advanced_result = KeyResult { checked: Some(decimal(100)), ..key_result(60) }.with_figures();
    let after_check_in = Objective { key_results: vec![advanced_result], ..first.clone() };
    assert!(!submit(&after_check_in).audit.changes.contains_key("key_results"));

    let changes = submit(&Objective { key_results: vec![key_result(90)], ..first.clone() }).audit.changes;
    let target = |side: &crate::json::Value| serde_json::to_value(side).unwrap()[0]["target"].clone();
    assert_eq!((target(&changes["key_results"].from), target(&changes["key_results"].to)), (60.into(), 90.into()));

    let old_content = ReviewedContent { key_results: None, ..first.content() };
    let reviewed_before = Objective { reviewed: Some(old_content), key_results: vec![key_result(90)], ..first };
    assert!(!submit(&reviewed_before).audit.changes.contains_key("key_results"), "unknown is no change");
}

fn decimal(number: i64) -> Decimal {
    Decimal::parse(&number.to_string()).unwrap()
}

fn key_result(target: i64) -> KeyResult {
    let id = crate::id::KeyResultId::from_ulid(crate::ulid::Ulid(7));
    let (start, target) = (decimal(180), decimal(target));
    let (title, unit) = ("Median time to the first answer".to_owned(), Some("minutes".to_owned()));
    let (metric, current) = (Metric::Number, start);
    KeyResult { id, title, metric, unit, start, target, current, weight: 1, progress: 0, checked: None }
}

#[test]
fn archiving_emits_two_events_and_other_actions_one() {
    for (action, count) in actions().into_iter().zip([1, 1, 1, 1, 1, 2]) {
        let is_end = matches!(action, Action::Complete { .. } | Action::Miss { .. });
        let from = if is_end { InProgress } else { Proposed };
        let decision = objective(from, false).apply(action, Review::Optional, NOON).unwrap();
        assert_eq!(decision.events.len(), count);
        assert_eq!(decision.events[0], EventType::ObjectiveStatusChanged);
    }
}
