use super::*;
use crate::access::api_key::ApiKey;
use crate::access::tests::{bound_caller, unbound};
use crate::access::{AccessLevel, Environment, Permissions};
use crate::assignment::tests::{NOON, assignment};
use crate::assignment::{Assignment, Status};
use ulid::Ulid;

const DAY_SECONDS: i64 = 86_400;

fn person(number: u128) -> EmployeeId {
    EmployeeId::from_ulid(Ulid(number))
}

fn matter(kind: AttentionKind, number: usize) -> Matter {
    Matter::new(kind, number, "/things", "A thing")
}

#[test]
fn attention_has_the_first_matters_of_each_kind_in_order() {
    let of_kind = |kind, count| (0..count).map(move |number| matter(kind, number));
    let parts = vec![
        PartOfAttention {
            kinds: &[AttentionKind::ObjectiveInReview],
            matters: of_kind(AttentionKind::ObjectiveInReview, 20).collect(),
            has_more: true,
        },
        PartOfAttention {
            kinds: &[AttentionKind::WebhookInactive, AttentionKind::WebhookFailing],
            matters: of_kind(AttentionKind::WebhookFailing, 21)
                .chain(of_kind(AttentionKind::WebhookInactive, 2))
                .collect(),
            has_more: false,
        },
        PartOfAttention { kinds: &[AttentionKind::SummaryInReview], matters: vec![], has_more: false },
    ];
    let attention = Attention::from_parts(parts);
    let counts: Vec<_> = attention.kinds.iter().map(|one| (one.kind, one.count, one.has_more)).collect();
    let expected_counts = [
        (AttentionKind::WebhookInactive, 2, false),
        (AttentionKind::WebhookFailing, 20, true),
        (AttentionKind::ObjectiveInReview, 20, true),
        (AttentionKind::SummaryInReview, 0, false),
    ];
    assert_eq!(counts, expected_counts);
    let expected_matters: Vec<_> = [
        (AttentionKind::WebhookInactive, 2),
        (AttentionKind::WebhookFailing, 20),
        (AttentionKind::ObjectiveInReview, 20),
    ]
    .into_iter()
    .flat_map(|(kind, count)| of_kind(kind, count))
    .collect();
    assert_eq!(attention.data, expected_matters);
}

#[test]
fn only_people_are_named() {
    let parts = vec![PartOfAttention {
        kinds: &[AttentionKind::ObjectiveQuiet],
        matters: vec![
            Matter { employee_id: Some(person(1)), ..matter(AttentionKind::ObjectiveQuiet, 1) },
            Matter { employee_id: Some(person(2)), ..matter(AttentionKind::ObjectiveQuiet, 2) },
            matter(AttentionKind::ObjectiveQuiet, 3),
        ],
        has_more: false,
    }];
    let mut attention = Attention::from_parts(parts);
    attention.name_people(|id| (id == person(1)).then(|| "Ada Moreau".to_owned()));
    let names: Vec<_> = attention.data.iter().map(|matter| matter.employee_name.as_deref()).collect();
    assert_eq!(names, [Some("Ada Moreau"), None, None]);
}

#[test]
fn kinds_follow_the_access_to_their_resources() {
    let open_kinds = |caller: &Caller| -> Vec<AttentionKind> {
        AttentionKind::ALL.iter().copied().filter(|kind| kind.is_open_to(caller)).collect()
    };
    let admin = unbound(AccessLevel::Admin);
    let shared_kinds = [
        AttentionKind::ObjectiveInReview,
        AttentionKind::SummaryInReview,
        AttentionKind::AssignmentOverdue,
        AttentionKind::ObjectiveQuiet,
    ];
    let webhooks = [AttentionKind::WebhookInactive, AttentionKind::WebhookFailing];
    let settings =
        [AttentionKind::ConnectorPaused, AttentionKind::ConnectorFailing, AttentionKind::ApiKeyExpiring];
    let own = [
        AttentionKind::ObjectiveReturned,
        AttentionKind::SummaryReturned,
        AttentionKind::FeedbackRequested,
        AttentionKind::SummaryShared,
    ];
    assert_eq!(open_kinds(&admin), [&webhooks[..], &settings, &shared_kinds].concat());
    assert_eq!(open_kinds(&unbound(AccessLevel::Standard)), [&webhooks[..], &shared_kinds].concat());
    let mut test_admin = admin.clone();
    test_admin.tenant.environment = Environment::Test;
    assert_eq!(open_kinds(&test_admin), [&webhooks[..], &shared_kinds].concat());
    assert_eq!(open_kinds(&bound_caller(person(1), false)), [&own[..], &shared_kinds].concat());
    assert_eq!(open_kinds(&bound_caller(person(1), true)), [&webhooks[..], &own, &shared_kinds].concat());
    let scopes = Permissions::NONE.with(Permission::ObjectivesRead);
    assert_eq!(
        open_kinds(&Caller { scopes, ..bound_caller(person(1), false) }),
        [AttentionKind::ObjectiveInReview, AttentionKind::ObjectiveQuiet],
        "reasons need `notifications:read`"
    );
}

#[test]
fn key_waits_from_two_weeks_before_its_end() {
    let key = |expires_at: Option<i64>| ApiKey {
        expires_at: expires_at.map(|seconds| NOON.plus_seconds(seconds)),
        ..crate::access::api_key::tests::key()
    };
    for (expires_at, waits) in [
        (None, false),
        (Some(-1), false),
        (Some(1), true),
        (Some(14 * DAY_SECONDS - 1), true),
        (Some(14 * DAY_SECONDS), false),
    ] {
        assert_eq!(key(expires_at).attention(NOON).is_some(), waits, "{expires_at:?}");
    }
    let revoked_key = ApiKey { revoked_at: Some(NOON), ..key(Some(1)) };
    assert_eq!(revoked_key.attention(NOON), None);
}

#[test]
fn assignment_waits_for_its_reviewer_or_when_overdue() {
    let today = NOON.date();
    let yesterday = NOON.plus_seconds(-DAY_SECONDS).date();
    let kind = |assignment: &Assignment, reviewer: Option<u128>| {
        assignment.attention(reviewer.map(person), today).map(|matter| matter.kind)
    };
    let due_on = |due_date| Assignment { due_date, ..assignment() };
    for (due_date, reviewer, expected_kind) in [
        (None, None, None),
        (Some(today), None, None),
        (Some(yesterday), None, Some(AttentionKind::AssignmentOverdue)),
        (Some(yesterday), Some(9), Some(AttentionKind::AssignmentOverdue)),
        (Some(yesterday), Some(3), Some(AttentionKind::FeedbackRequested)),
        (None, Some(3), Some(AttentionKind::FeedbackRequested)),
    ] {
        assert_eq!(kind(&due_on(due_date), reviewer), expected_kind, "{due_date:?} {reviewer:?}");
    }
    let mut answered = due_on(Some(yesterday));
    answered.submissions[0].status = crate::assignment::SubmissionStatus::Submitted;
    assert_eq!(kind(&answered, Some(3)), Some(AttentionKind::AssignmentOverdue));
    let canceled = Assignment { status: Status::Canceled, ..due_on(Some(yesterday)) };
    assert_eq!(kind(&canceled, Some(3)), None);
}
