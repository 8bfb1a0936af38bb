//! Properties of a resource beside its members: marks for the `ETag`, linked ids, custom fields, external ids, searched texts,
//! and the people whose legal hold keeps it.

use super::round_trip::keys::plain_key;
use super::round_trip::{
    AT, LATER, id, plain_conversation, plain_employee, plain_objective, plain_observation, plain_summary,
};
use candor_domain::assignment::{self, Assignment, Submission};
use candor_domain::catalog::Department;
use candor_domain::conversation::{About, Conversation, Joins};
use candor_domain::decision::{Resource, mark_of, mark_of_names};
use candor_domain::erasure::{Erasure, ErasurePlan, Requester};
use candor_domain::external_id::ExternallyIdentified;
use candor_domain::id::{ObjectiveKind, SummaryKind};
use candor_domain::keyed::Metadata;
use candor_domain::objective::{self, Objective};
use candor_domain::observation::Observation;
use candor_domain::people::{Custom, CustomFields, Employee, Status};
use candor_domain::retention::Retained;
use candor_domain::search::Searchable;
use candor_domain::summary::Summary;
use candor_domain::visibility::LinkedId;

/// An open assignment with two reviewers and a submission.
pub(crate) fn plain_assignment() -> Assignment {
    Assignment {
        id: id(1),
        employee_id: id(2),
        requester_id: Some(id(9)),
        title: "Before the review".to_owned(),
        instructions: None,
        due_date: None,
        submissions: vec![Submission { observation_ids: vec![id(5), id(6)], ..Submission::pending(id(3)) }],
        reviewer_ids: vec![id(3), id(4)],
        required_submissions: 1,
        status: assignment::Status::Open,
        submitted_count: 0,
        created_at: AT,
        updated_at: AT,
        metadata: Metadata::default(),
        external_id: None,
    }
}

/// An erasure that has begun.
pub(crate) fn plain_erasure() -> Erasure {
    let plan = ErasurePlan {
        employee_id: id(2),
        requested_by: Requester::key(id(5)),
        counts: [("message".to_owned(), 3)].into(),
        tables_to_rewrite: vec![],
        sealed_email: vec![1],
    };
    Erasure::begin(id(1), plan, AT)
}

fn employee_with_fields() -> Employee {
    let fields = ["shirt", "team"].map(|key| (key.to_owned(), Custom::Flag(true)));
    Employee { custom_fields: CustomFields(fields.into()), ..plain_employee() }
}

#[test]
fn mark_is_the_hash_of_shown_ids_and_names() {
    assert_eq!((mark_of::<SummaryKind>(&[]), mark_of_names(&[])), (0, 0));
    // FNV-1a of the 16 bytes of the id, and of the bytes of the name with a zero byte.
    assert_eq!(mark_of::<ObjectiveKind>(&[id(1)]), FNV_OF_ID_1);
    assert_eq!(mark_of_names(&["a"]), FNV_OF_A);
    assert_ne!(mark_of_names(&["ab"]), mark_of_names(&["a", "b"]));

    let linked_summaries = vec![id(3), id(4)];
    let objective = Objective { linked_summary_ids: linked_summaries.clone(), ..plain_objective() };
    assert_eq!((objective.mark(), plain_objective().mark()), (mark_of(&linked_summaries), 0));
    let archived_ids = vec![id(5)];
    let summary = Summary { archived_observation_ids: archived_ids.clone(), ..plain_summary() };
    assert_eq!((summary.mark(), plain_summary().mark()), (mark_of(&archived_ids), 0));
    let conversation = Conversation { last_message_at: Some(LATER), ..plain_conversation() };
    assert_eq!((conversation.mark(), plain_conversation().mark()), (1_700_000_999_000, 0));
    let key = candor_domain::access::api_key::ApiKey { last_used_at: Some(LATER), ..plain_key() };
    assert_eq!((key.mark(), plain_key().mark()), (1_700_000_999_000, 0));
    assert_eq!((plain_erasure().mark(), plain_erasure().wait_for_holds(7, AT).mark()), (0, 7));
    assert_eq!((plain_observation().mark(), plain_observation().unseen_changes()), (0, 0));
    let held_employee = Employee { hold_changes: 3, ..plain_employee() };
    assert_eq!((held_employee.mark(), held_employee.unseen_changes()), (0, 3));

    // Of one shown part it is the sum with 31 times the mark.
    assert_eq!(plain_objective().shown_mark(), 0);
    let child = Objective { parent_id: Some(id(1)), ..plain_objective() };
    assert_eq!((child.shown_mark(), key.shown_mark()), (FNV_OF_ID_1, key.mark()));
    let named_employee = employee_with_fields();
    assert_eq!(named_employee.shown_mark(), mark_of_names(&["shirt", "team"]));
    let conversation = Conversation { about: Some(About::Objective(id(1))), ..conversation };
    assert_eq!(conversation.shown_mark(), conversation.mark().wrapping_mul(31).wrapping_add(FNV_OF_ID_1));
}

const FNV_OF_ID_1: u64 = 0x8820_1eb9_60ff_62b2;
const FNV_OF_A: u64 = 0x089b_e207_b544_f1e4;

#[test]
fn linked_ids_are_named_and_removed_where_hidden() {
    let observation = |number| LinkedId::Observation(id(number));
    let mut assignment = plain_assignment();
    assert_eq!(assignment.linked_ids(), [observation(5), observation(6)]);
    assignment.retain_linked(&|linked| linked != observation(5));
    assert_eq!(assignment.linked_ids(), [observation(6)]);

    let mut objective =
        Objective { linked_summary_ids: vec![id(3), id(4)], parent_id: Some(id(9)), ..plain_objective() };
    let summary = |number| LinkedId::Summary(id(number));
    assert_eq!(
        (objective.linked_ids(), objective.named_ids()),
        (vec![summary(3), summary(4)], vec![LinkedId::Objective(id(9))])
    );
    assert_eq!(objective.without_linked_ids(), Objective { linked_summary_ids: vec![], ..objective.clone() });
    objective.retain_linked(&|linked| linked == summary(3));
    assert_eq!((objective.linked_ids(), objective.named_ids()), (vec![summary(3)], vec![]));

    let mut summary = Summary {
        included_objective_ids: vec![id(3)],
        included_observation_ids: vec![id(5), id(6)],
        ..plain_summary()
    };
    let all_links = vec![LinkedId::Objective(id(3)), observation(5), observation(6)];
    assert_eq!((summary.linked_ids(), summary.named_ids()), (all_links, vec![]));
    summary.retain_linked(&|linked| linked == observation(6));
    assert_eq!(summary.linked_ids(), [observation(6)]);

    let mut conversation = Conversation { about: Some(About::Objective(id(9))), ..plain_conversation() };
    assert_eq!(
        (conversation.linked_ids(), plain_conversation().linked_ids()),
        (vec![LinkedId::Objective(id(9))], vec![])
    );
    conversation.retain_linked(&|_| true);
    assert_eq!(conversation.about, Some(About::Objective(id(9))));
    conversation.retain_linked(&|_| false);
    assert_eq!(conversation.about, None);
    let mut about_person = Conversation { about: Some(About::Employee(id(2))), ..plain_conversation() };
    about_person.retain_linked(&|_| false);
    assert_eq!(about_person.about, Some(About::Employee(id(2))), "a person is shown to every participant");
}

#[test]
fn custom_fields_are_named_and_removed_where_hidden() {
    let mut employee = employee_with_fields();
    assert_eq!((employee.fields_of(), employee.field_names()), (Some(employee.id), vec!["shirt", "team"]));
    assert_eq!((plain_employee().fields_of(), plain_employee().field_names()), (None, vec![]));
    assert_eq!(plain_employee().full_name(), " Ada  Lovelace", "for display, as stored");
    employee.retain_fields(&|key| key == "team");
    assert_eq!(employee.field_names(), ["team"]);
    let mut objective = plain_objective();
    objective.retain_fields(&|_| false);
    assert_eq!((objective.fields_of(), objective.field_names()), (None, vec![]));
}

#[test]
fn external_id_is_that_of_the_member() {
    let external_id = Some("crm-1".to_owned());
    let assignment = Assignment { external_id: external_id.clone(), ..plain_assignment() };
    let objective = Objective { external_id: external_id.clone(), ..plain_objective() };
    let observation = Observation { external_id: external_id.clone(), ..plain_observation() };
    let summary = Summary { external_id, ..plain_summary() };
    let all_ids =
        [assignment.external_id(), objective.external_id(), observation.external_id(), summary.external_id()];
    assert_eq!(all_ids, [Some("crm-1"); 4]);
    let no_ids = [
        plain_assignment().external_id().is_none(),
        plain_objective().external_id().is_none(),
        plain_observation().external_id().is_none(),
        plain_summary().external_id().is_none(),
    ];
    assert_eq!(no_ids, [true; 4]);
}

fn words_of(resource: &impl Searchable) -> Vec<String> {
    resource.found_by().into_iter().collect()
}

#[test]
fn excluded_resource_is_found_by_no_word() {
    let observation = Observation {
        observation: "Listens well".to_owned(),
        impact: Some("Calm".to_owned()),
        recommended_action: Some("Go on".to_owned()),
        ..plain_observation()
    };
    let texts = [("observation", "Listens well"), ("impact", "Calm"), ("recommended_action", "Go on")];
    assert_eq!(observation.texts(), texts);
    assert_eq!(words_of(&observation), ["calm", "go", "listens", "on", "well"]);
    assert!(words_of(&Observation { archived_at: Some(AT), ..observation }).is_empty());

    let objective = Objective { description: Some("to all".to_owned()), ..plain_objective() };
    assert_eq!(objective.texts(), [("title", "Listen"), ("description", "to all")]);
    assert_eq!(words_of(&objective), ["all", "listen", "to"]);
    assert_eq!(plain_objective().texts(), [("title", "Listen")]);
    assert!(words_of(&Objective { status: objective::Status::Archived, ..objective }).is_empty());

    let employee = Employee { job_title: Some("Engineer".to_owned()), ..plain_employee() };
    let names = [("first_name", " Ada "), ("last_name", "Lovelace"), ("email", "Ada@Example.com")];
    assert_eq!(employee.texts(), [&names[..], &[("job_title", "Engineer")]].concat());
    assert!(words_of(&employee).contains(&"engineer".to_owned()));
    let former_employee = Employee { erased_at: Some(AT), ..employee };
    assert!(words_of(&former_employee).is_empty());
}

#[test]
fn resource_is_retained_for_each_of_its_people() {
    let observation = Observation { author_id: Some(id(3)), requester_id: Some(id(4)), ..plain_observation() };
    assert_eq!((observation.people(), plain_observation().people()), (vec![id(2), id(3), id(4)], vec![id(2)]));
    assert_eq!(plain_assignment().people(), [id(2), id(9), id(3), id(4)]);
    assert_eq!(plain_objective().people(), [id(2)]);
    let former_people = Joins::parse("emp_00000000000000000000000007=5").unwrap();
    assert!(Joins::default().is_empty() && !former_people.is_empty());
    let conversation =
        Conversation { about: Some(About::Employee(id(8))), joins: former_people, ..plain_conversation() };
    assert_eq!(conversation.people(), [id(2), id(3), id(7), id(8)]);
}

#[test]
fn completed_erasure_continues_no_more() {
    let running_erasure = plain_erasure();
    assert_eq!((running_erasure.continues_at(), running_erasure.names_end_at()), (Some(AT), None));
    let waiting_erasure = running_erasure.wait_for_holds(2, LATER);
    let in_a_day = LATER.plus_seconds(24 * 3600);
    assert_eq!((waiting_erasure.continues_at(), waiting_erasure.names_end_at()), (Some(in_a_day), Some(AT)));
    assert_eq!((waiting_erasure.has_removed_kept(1), waiting_erasure.has_removed_kept(2)), (true, false));
    let resealed_erasure = waiting_erasure.with_resealed_names(Some(vec![2]));
    assert_eq!(resealed_erasure.state, Erasure { sealed_email: Some(vec![2]), ..waiting_erasure.clone() });
    let completed_erasure = resealed_erasure.state.complete([("message".to_owned(), 4)].into(), LATER).state;
    assert_eq!(
        (completed_erasure.continues_at(), completed_erasure.completed_at, completed_erasure.updated_at()),
        (None, Some(LATER), LATER)
    );
    assert_eq!(
        (completed_erasure.counts["message"], completed_erasure.kept_by_hold, completed_erasure.sealed_email),
        (4, 0, None)
    );
}

/// A department with a name in decomposed form.
pub(crate) fn plain_department() -> Department {
    Department {
        id: id(1),
        name: "CAFE\u{301}".to_owned(),
        created_at: AT,
        updated_at: AT,
        archived_at: None,
        is_twin: false,
    }
}

#[test]
fn name_key_of_a_twin_keeps_its_spelling() {
    let department = plain_department();
    assert_eq!(department.name_key(), candor_domain::text::name_key("Café"));
    assert_eq!(Department { is_twin: true, ..department }.name_key(), "cafe\u{301}");
}

#[test]
fn person_has_left_from_the_deactivation_to_the_erasure() {
    let leaver = Employee { status: Status::Deactivated, deactivated_at: Some(AT), ..plain_employee() };
    assert_eq!(leaver.left_at(), Some(AT));
    assert_eq!(Employee { erased_at: Some(LATER), ..leaver.clone() }.left_at(), None);
    assert_eq!(Employee { status: Status::Active, ..leaver }.left_at(), None);
}
