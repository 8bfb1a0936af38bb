//! Tests of the rules of retention: starts, times of runs, receipts.

use super::schedule::first_run_from;
use super::*;
use crate::event::EventType;
use crate::id::OrganizationId;
use crate::organization::Organization;
use crate::time::Timestamp;
use crate::ulid::Ulid;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn period(text: &str) -> Option<Period> {
    Some(text.parse().unwrap())
}

fn organization() -> Organization {
    Organization::new(OrganizationId::from_ulid(Ulid(7)), "Acme".to_owned(), at("2026-01-01T00:00:00Z"))
}

fn observations(text: &str) -> RetentionPatch {
    RetentionPatch { archived_observations: Some(period(text)), ..RetentionPatch::default() }
}

fn start(organization: &Organization) -> Option<Timestamp> {
    organization.retention_starts.start_of(RetentionRule::ArchivedObservations)
}

#[test]
fn rule_applies_seven_days_after_a_shorter_period() {
    let first = at("2026-03-01T10:00:00Z");
    let set = organization().with_retention(&observations("P3Y"), first);
    assert_eq!((start(&set), set.retention_due_at), (Some(at("2026-03-08T10:00:00Z")), start(&set)));

    let longer = set.with_retention(&observations("P5Y"), at("2026-03-02T00:00:00Z"));
    assert_eq!(start(&longer), start(&set), "a longer period has no grace");
    let shorter = longer.with_retention(&observations("P1Y"), at("2026-03-20T00:00:00Z"));
    assert_eq!(start(&shorter), Some(at("2026-03-27T00:00:00Z")));
    assert_eq!(shorter.retention_due_at, set.retention_due_at, "the runs keep their time");

    let rule = RetentionRule::ArchivedObservations;
    let application = |now| shorter.retention.effective_period(rule, &shorter.retention_starts, at(now));
    assert_eq!(application("2026-03-26T23:59:59.999Z"), None);
    assert_eq!(application("2026-03-27T00:00:00Z"), period("P1Y"));
}

#[test]
fn rule_that_was_off_has_grace_again() {
    let set = organization().with_retention(&observations("P3Y"), at("2026-03-01T10:00:00Z"));
    let switch_off = RetentionPatch { archived_observations: Some(None), ..RetentionPatch::default() };
    let settings_off = set.with_retention(&switch_off, at("2026-04-01T00:00:00Z"));
    assert_eq!(
        (start(&settings_off), settings_off.retention_due_at, settings_off.retention.is_off()),
        (None, None, true)
    );
    let settings_again = settings_off.with_retention(&observations("P3Y"), at("2026-05-01T00:00:00Z"));
    assert_eq!(settings_again.retention_due_at, Some(at("2026-05-08T00:00:00Z")));
}

#[test]
fn update_keeps_periods_of_omitted_rules() {
    let now = at("2026-03-01T10:00:00Z");
    let both = RetentionPatch { deactivated_people: Some(period("P2Y")), ..observations("P3Y") };
    let set = organization().with_retention(&both, now);
    let later_settings = set.with_retention(&observations("P4Y"), now.plus_seconds(60));
    assert_eq!(later_settings.retention.deactivated_people, period("P2Y"));
    assert_eq!(later_settings.retention.archived_observations, period("P4Y"));
    assert_eq!(set.with_retention(&RetentionPatch::default(), now.plus_seconds(60)), set);
}

#[test]
fn runs_are_a_day_apart_also_after_missed_ones() {
    let due = at("2026-03-08T10:00:00Z");
    let next = |now, has_more| next_run(due, at(now), has_more).to_string();
    assert_eq!(next("2026-03-08T10:00:05Z", false), "2026-03-09T10:00:00.000Z");
    assert_eq!(next("2026-03-12T09:00:00Z", false), "2026-03-12T10:00:00.000Z");
    assert_eq!(next("2026-03-08T10:00:05Z", true), "2026-03-08T11:00:05.000Z");
    assert_eq!(next("2026-03-08T09:59:00Z", false), "2026-03-09T10:00:00.000Z", "a clock that was set back");
}

#[test]
fn first_daily_run_after_the_start_applies_a_rule() {
    let next = at("2026-03-08T10:00:00Z");
    for (start, run) in [
        ("2026-03-01T00:00:00Z", "2026-03-08T10:00:00Z"),
        ("2026-03-08T10:00:00Z", "2026-03-08T10:00:00Z"),
        ("2026-03-08T10:00:01Z", "2026-03-09T10:00:00Z"),
        ("2026-03-15T09:00:00Z", "2026-03-15T10:00:00Z"),
    ] {
        assert_eq!(first_run_from(at(start), next), at(run), "{start}");
    }
}

#[test]
fn preview_dates_other_periods_as_if_set_now() {
    let set = organization().with_retention(&observations("P3Y"), at("2026-03-01T10:00:00Z"));
    let now = at("2026-03-20T09:00:00Z");
    let set = Organization { retention_due_at: Some(at("2026-03-20T10:00:00Z")), ..set };
    let request = Params::new(vec![("archived_summaries".to_owned(), "P1Y".to_owned())])
        .parse(PreviewRequest::read)
        .unwrap();
    let rules = request.rules(&set, now);
    assert_eq!(rules.next_run_at, set.retention_due_at);
    let rule_dates: Vec<_> =
        rules.scheduled_rules().map(|(rule, run, before)| (rule, run.to_string(), before.to_string())).collect();
    assert_eq!(
        rule_dates,
        [
            (
                RetentionRule::ArchivedSummaries,
                "2026-03-27T10:00:00.000Z".to_owned(),
                "2025-03-27T10:00:00.000Z".to_owned()
            ),
            (
                RetentionRule::ArchivedObservations,
                "2026-03-20T10:00:00.000Z".to_owned(),
                "2023-03-20T10:00:00.000Z".to_owned()
            ),
        ]
    );
    assert_eq!(PreviewRequest::default().rules(&organization(), now).scheduled_rules().count(), 0);
}

#[test]
fn run_applies_only_rules_that_have_started() {
    let set = organization().with_retention(&observations("P3Y"), at("2026-03-01T10:00:00Z"));
    let summaries = RetentionPatch { archived_summaries: Some(period("P1Y")), ..RetentionPatch::default() };
    let due = set.retention_due_at.unwrap();
    let set = set.with_retention(&summaries, at("2026-03-05T00:00:00Z"));
    let id = RetentionRun::id_of(set.id, due);
    assert_eq!(id, RetentionRun::id_of(set.id, due));
    assert_ne!(id, RetentionRun::id_of(set.id, due.plus_seconds(60)));

    let first_run = RetentionRun::begin(id, &set.retention, &set.retention_starts, vec![], due).state;
    assert_eq!(
        (first_run.applied.archived_observations, first_run.applied.archived_summaries),
        (period("P3Y"), None)
    );
    assert_eq!(first_run.complete(due).events, [], "a run without effect has no event");

    let first = first_run.remove(RetentionRule::ArchivedObservations, 100);
    assert_eq!(first.events, [EventType::RetentionRemoved]);
    let second = first.state.remove(RetentionRule::ArchivedObservations, 20).state;
    assert_eq!(second.removed_count(RetentionRule::ArchivedObservations), 120);
    let run_with_erasure = second.erase().state;
    let completed_run = run_with_erasure.complete(due.plus_seconds(30));
    assert_eq!(completed_run.events, [EventType::RetentionCompleted]);
    assert_eq!(completed_run.state.counts.values().copied().collect::<Vec<_>>(), [120, 1]);
    assert_eq!(
        (completed_run.state.status, completed_run.state.completed_at),
        (RunStatus::Completed, Some(due.plus_seconds(30)))
    );
}

#[test]
fn run_is_full_at_the_maximum_of_a_rule() {
    let now = at("2026-03-08T10:00:00Z");
    let id = RetentionRun::id_of(organization().id, now);
    let run = RetentionRun::begin(id, &Retention::default(), &RuleStarts::default(), vec![], now).state;
    for (rule, most) in [(RetentionRule::ArchivedSummaries, 10_000), (RetentionRule::DeactivatedPeople, 100)] {
        let nearly = run.remove(rule, most - 1).state;
        assert!(!nearly.is_full(rule) && !nearly.has_more(), "{rule:?}");
        let full = nearly.remove(rule, 1).state;
        assert!(full.is_full(rule) && full.has_more() && !full.is_full(RetentionRule::ArchivedObservations));
    }
}

#[test]
fn run_completes_after_searches_of_replaced_segments() {
    let now = at("2026-03-08T10:00:00Z");
    let id = RetentionRun::id_of(organization().id, now);
    let run = RetentionRun::begin(id, &Retention::default(), &RuleStarts::default(), vec![], now).state;
    let clean = RetentionRun { index_clean_at: Some(now), ..run.clone() };
    assert!(!run.may_complete(now.plus_seconds(60)) && !clean.may_complete(now.plus_seconds(9)));
    assert!(clean.may_complete(now.plus_seconds(10)));
    assert_eq!(
        clean.remove(RetentionRule::ArchivedSummaries, 1).state.index_clean_at,
        None,
        "later removals count too"
    );
}
