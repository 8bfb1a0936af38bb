use super::*;
use candor_domain::access::{AccessLevel, BoundPerson, Environment, Permissions};
use candor_domain::assignment::{Assignment, Status, Submission, SubmissionStatus};
use candor_domain::fields::StringEnum;
use candor_domain::id::AssignmentId;
use candor_domain::keyed::Metadata;
use candor_domain::ulid::Ulid;
use candor_test_fixtures::unbound;

const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);
const DAY_SECONDS: i64 = 86_400;

/// Creates a caller with every scope and a standard key that acts for this person.
fn bound_caller(id: EmployeeId, is_org_admin: bool) -> Caller {
    Caller { person: Some(BoundPerson { id, is_org_admin }), ..unbound(AccessLevel::Standard) }
}

/// Returns an open assignment with three reviewers.
fn assignment() -> Assignment {
    let reviewer_ids: Vec<_> = [3, 4, 5].map(person).to_vec();
    Assignment {
        id: AssignmentId::from_ulid(Ulid(1)),
        employee_id: person(2),
        requester_id: Some(person(9)),
        title: "Before the review".to_owned(),
        instructions: None,
        due_date: None,
        submissions: reviewer_ids.iter().map(|reviewer| Submission::pending(*reviewer)).collect(),
        reviewer_ids,
        required_submissions: 2,
        status: Status::Open,
        submitted_count: 0,
        created_at: NOON,
        updated_at: NOON,
        metadata: Metadata::default(),
        external_id: None,
    }
}

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
fn assignment_waits_for_its_reviewer_or_when_overdue() {
    let today = NOON.date();
    let yesterday = NOON.plus_seconds(-DAY_SECONDS).date();
    let kind = |assignment: &Assignment, reviewer: Option<u128>| {
        of_assignment(assignment, reviewer.map(person), today).map(|matter| matter.kind)
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
    let mut partly_answered = due_on(Some(yesterday));
    partly_answered.submissions[0].status = SubmissionStatus::Submitted;
    assert_eq!(kind(&partly_answered, Some(3)), Some(AttentionKind::AssignmentOverdue));
    let canceled_assignment = Assignment { status: Status::Canceled, ..due_on(Some(yesterday)) };
    assert_eq!(kind(&canceled_assignment, Some(3)), None);
}
