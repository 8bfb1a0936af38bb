use candor_domain::assignment::{self, Assignment};
use candor_domain::audit::{self, AuditEntry};
use candor_domain::catalog::{Attribute, Department, attribute, department};
use candor_domain::conversation::{self, About, Conversation, Message, message};
use candor_domain::id::{AttributeId, EmployeeId, EventId, Id, WebhookId};
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{CheckIn, Family, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::page::{PageRequest, Sort, SortBy, Sortable};
use candor_domain::params::{Archived, Bounds, Params};
use candor_domain::people::{self, Employee};
use candor_domain::summary::{self, Summary};
use candor_domain::time::Timestamp;
use candor_domain::visibility::Viewer;
use candor_provisioning::connector::{IssueFilter, IssueKind, Resolved, ScimRequest, SyncIssue};
use candor_sign_in::{IdentityLink, IdentityProvider};
use candor_subscriptions::{AllDeliveriesFilter, Delivery, DeliveryFilter, Filter as WebhookFilter, Subscription};

use super::*;
use crate::flat::Stored;
use crate::listing::TypedListing;
use crate::rows;

const PAGE: PageRequest = PageRequest { limit: 50, after: None };
const CHANGED: Bounds<Timestamp> = Bounds { gte: Some(Timestamp::from_millis(1)), lte: None };

fn someone() -> EmployeeId {
    EmployeeId::from_bytes([1; 16])
}

fn webhook() -> WebhookId {
    WebhookId::from_bytes([2; 16])
}

/// Returns the lists of a query in every order of the resource.
fn in_every_order<T: Sortable>(list: impl Fn(Sort) -> Vec<Listing>) -> Vec<(&'static str, Vec<Listing>)> {
    T::sorts().map(|(word, sort)| (word, list(sort))).collect()
}

/// Returns the orders in which no index answers a list, with the unanswered filters.
fn slow<T: Sortable + Stored>(list: impl Fn(Sort) -> TypedListing<T>) -> Vec<(&'static str, Vec<String>)> {
    let lists = in_every_order::<T>(|sort| list(sort).parts().to_vec());
    let slow =
        lists.into_iter().filter(|(_, list)| !list.iter().all(|listing| AccessPath::new(listing).is_answered()));
    slow.map(|(word, value)| (word, unanswered_parameters(&value))).collect()
}

fn is_answered<T: Stored>(list: &TypedListing<T>) -> bool {
    list.parts().iter().all(|part| AccessPath::new(part).is_answered())
}

fn objectives(query: &[(&str, &str)], viewer: Viewer, sort: Sort) -> Vec<Listing> {
    let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let filter = objective_filter(pairs);
    rows::objectives::list(&filter, viewer, sort, &PAGE).parts().to_vec()
}

fn objective_filter(pairs: Vec<(String, String)>) -> candor_domain::objective::Filter {
    Params::new(pairs)
        .parse(|params| candor_domain::objective::Filter::read(Family::Managers, params))
        .unwrap()
        .filter
}

#[test]
fn unfiltered_list_has_an_index_for_every_order() {
    let none: [(&str, Vec<String>); 0] = [];
    assert_eq!(
        slow::<Observation>(|sort| rows::observations::list(
            &observation::Filter::default(),
            Viewer::Everything,
            sort,
            &PAGE
        )),
        none
    );
    assert_eq!(slow::<Employee>(|sort| rows::employees::list(&people::Filter::default(), sort, &PAGE)), none);
    assert_eq!(
        slow::<Department>(|sort| rows::departments::list(&department::Filter::default(), sort, &PAGE)),
        none
    );
    assert_eq!(slow::<Attribute>(|sort| rows::attributes::list(&attribute::Filter::default(), sort, &PAGE)), none);
    assert_eq!(
        slow::<Notification>(|sort| rows::notifications::list(&notification::Filter::default(), sort, &PAGE)),
        none
    );
    let all = assignment::Filter::default();
    assert_eq!(slow::<Assignment>(|sort| rows::assignments::list(&all, Viewer::Everything, sort, &PAGE)), none);
    assert_eq!(
        slow::<Assignment>(|sort| rows::assignments::list(&all, Viewer::Person(someone()), sort, &PAGE)),
        none
    );
    let all = conversation::Filter::default();
    assert_eq!(
        slow::<Conversation>(|sort| rows::conversations::list(&all, Viewer::Everything, sort, &PAGE)),
        none
    );
    assert_eq!(
        slow::<Conversation>(|sort| rows::conversations::list(&all, Viewer::Person(someone()), sort, &PAGE)),
        none
    );
    let (here, all) = (Id::from_bytes([7; 16]), message::Filter::default());
    assert_eq!(slow::<Message>(|sort| rows::conversations::messages(here, &all, sort, &PAGE)), none);
    assert_eq!(slow::<AuditEntry>(|sort| rows::audit::list(&audit::Filter::default(), sort, &PAGE)), none);
    assert_eq!(slow::<Subscription>(|sort| rows::webhooks::list(&WebhookFilter::default(), sort, &PAGE)), none);
    assert_eq!(
        slow::<Delivery>(|sort| rows::deliveries::list(webhook(), &DeliveryFilter::default(), sort, &PAGE)),
        none
    );
    for (word, lists) in in_every_order::<Objective>(|sort| objectives(&[], Viewer::Everything, sort)) {
        assert!(lists.iter().all(|list| AccessPath::new(list).is_answered()), "{word}");
    }
    assert!(is_answered(&rows::employees::org_admins(100)));
    assert!(is_answered(&rows::employees::members_of(Id::from_bytes([4; 16]), 1)));
    assert!(is_answered(&rows::invitations::newest(someone())));
    assert!(is_answered(&rows::employees::managed_by(Id::from_bytes([3; 16]), None, 100)));
}

#[test]
fn provider_lists_have_an_index() {
    let none: [(&str, Vec<String>); 0] = [];
    let connector = Id::from_bytes([3; 16]);
    assert!(is_answered(&rows::sync_issues::open_refusals(connector)));
    assert!(is_answered(&rows::scim_users::waiting_for(vec!["con_1:ada".to_owned()], 100)));
    assert_eq!(slow::<ScimRequest>(|sort| rows::scim_requests::list(connector, sort, &PAGE)), none);
    assert_eq!(
        slow::<IdentityProvider>(|sort| rows::identity_providers::list(Bounds::default(), sort, &PAGE)),
        none
    );
    let provider = Id::from_bytes([4; 16]);
    assert_eq!(slow::<IdentityLink>(|sort| rows::identity_links::list(provider, sort, &PAGE)), none);
    assert!(is_answered(&rows::identity_links::list_removed(provider, &PAGE)));
    assert!(is_answered(&rows::identity_links::of_person(someone(), &PAGE)));
    for kind in [None, Some(IssueKind::ManagerPending)] {
        let filter = IssueFilter { resolved: Resolved::All, kind };
        assert_eq!(slow::<SyncIssue>(|sort| rows::sync_issues::list(connector, &filter, sort, &PAGE)), none);
    }
}

#[test]
fn filtered_list_has_an_index_for_some_orders() {
    let filter =
        observation::Filter { employee_id: Some(someone()), archived: Archived::All, ..Default::default() };
    let only = |name: &str| vec![name.to_owned()];
    assert_eq!(
        slow::<Observation>(|sort| rows::observations::list(&filter, Viewer::Everything, sort, &PAGE)),
        ["-created_at", "created_at", "-updated_at", "updated_at"].map(|name| (name, only("filter[employee_id]")))
    );
    let filter = observation::Filter { updated_at: CHANGED, ..Default::default() };
    assert_eq!(
        slow::<Observation>(|sort| rows::observations::list(&filter, Viewer::Everything, sort, &PAGE)),
        ["-observation_date", "observation_date", "-created_at", "created_at"]
            .map(|sort| (sort, only("filter[updated_at]")))
    );
    let filter = people::Filter { department_id: Some(Id::from_bytes([4; 16])), ..Default::default() };
    assert_eq!(
        slow::<Employee>(|sort| rows::employees::list(&filter, sort, &PAGE)),
        ["first_name", "created_at", "-created_at", "updated_at", "-updated_at"]
            .map(|sort| (sort, only("filter[department_id]")))
    );
}

#[test]
fn default_assignment_list_is_one_run_and_any_other_many() {
    let runs = |filter: assignment::Filter, sort| {
        let list = rows::assignments::list(&filter, Viewer::Everything, sort, &PAGE);
        list.parts()[0].runs.as_ref().map_or(1, |(_, statuses)| statuses.len())
    };
    let newest = Sort::descending_by(SortBy::CreatedAt);
    assert_eq!(runs(assignment::Filter::default(), newest), 1);
    assert_eq!(runs(assignment::Filter::default(), Sort::descending_by(SortBy::DueBy)), 3);
    assert_eq!(runs(assignment::Filter { employee_id: Some(someone()), ..Default::default() }, newest), 3);
    let statuses = vec![assignment::Status::Open];
    assert_eq!(runs(assignment::Filter { statuses, ..Default::default() }, newest), 1);
}

#[test]
fn assignment_list_by_person_or_due_day_has_an_index() {
    let slow_with = |filter: assignment::Filter| {
        slow::<Assignment>(|sort| rows::assignments::list(&filter, Viewer::Everything, sort, &PAGE))
    };
    let reviewer = assignment::Filter { reviewer_id: Some(someone()), ..Default::default() };
    assert_eq!(slow_with(reviewer), []);
    let about = assignment::Filter { employee_id: Some(someone()), ..Default::default() };
    let others = ["due_date", "-due_date", "-updated_at", "updated_at"];
    assert_eq!(slow_with(about), others.map(|sort| (sort, vec!["filter[employee_id]".to_owned()])));
    let day = Timestamp::from_millis(0).date();
    let due = assignment::Filter { due_date: Bounds { gte: Some(day), lte: None }, ..Default::default() };
    let others = ["-created_at", "created_at", "-updated_at", "updated_at"];
    assert_eq!(slow_with(due), others.map(|sort| (sort, vec!["filter[due_date]".to_owned()])));
}

#[test]
fn message_and_conversation_filters_have_an_index() {
    let of_one = message::Filter { author_id: Some(someone()), created_at: CHANGED };
    let conversation_id = Id::from_bytes([7; 16]);
    assert_eq!(slow::<Message>(|sort| rows::conversations::messages(conversation_id, &of_one, sort, &PAGE)), []);
    let about = conversation::Filter { about: Some(About::Employee(someone())), ..Default::default() };
    let slow = slow::<Conversation>(|sort| rows::conversations::list(&about, Viewer::Everything, sort, &PAGE));
    let others = ["-created_at", "created_at", "-updated_at", "updated_at"];
    assert_eq!(slow, others.map(|sort| (sort, vec!["filter[about_id]".to_owned()])));
}

#[test]
fn objective_lists_by_check_in_and_parent_have_an_index() {
    let (by_end, by_check_in) = (Sort::descending_by(SortBy::PeriodEnd), Sort::ascending_by(SortBy::CheckedInAt));
    let (at_risk, none) = (("filter[confidence]", "at_risk"), ("filter[confidence]", "none"));
    let check_in_filter = ("filter[last_check_in_at][lte]", "2026-03-01T00:00:00Z");
    let parent = ("filter[parent_id]", "obj_00000000000000000000000001");
    let status_filter = ("filter[status]", "approved");
    let none_left: &[&str] = &[];
    for (query, sort, unanswered) in [
        (&[at_risk][..], by_end, none_left),
        (&[at_risk, none], by_end, none_left),
        (&[at_risk, status_filter], by_end, none_left),
        (&[at_risk], by_check_in, &["filter[confidence]"]),
        (&[], by_check_in, none_left),
        (&[check_in_filter, status_filter], by_check_in, none_left),
        (&[check_in_filter], by_end, &["filter[last_check_in_at]"]),
        (&[parent], by_end, none_left),
    ] {
        let lists = objectives(query, Viewer::Everything, sort);
        assert_eq!(unanswered_parameters(&lists), unanswered, "{query:?}");
        assert!(lists.iter().all(|list| AccessPath::new(list).is_answered() == unanswered.is_empty()));
    }
    assert_eq!(slow::<CheckIn>(|sort| rows::check_ins::list(Id::from_bytes([7; 16]), sort, &PAGE)), []);
    assert!(is_answered(&rows::check_ins::of_person(someone(), &PAGE)));
    assert!(is_answered(&rows::objectives::list_supporting(Id::from_bytes([7; 16]), 100)));
}

#[test]
fn filter_without_an_index_is_named() {
    let filter = observation::Filter { kind: Some(observation::Type::Strength), ..Default::default() };
    let orders = slow::<Observation>(|sort| rows::observations::list(&filter, Viewer::Everything, sort, &PAGE));
    let by_time = ["-created_at", "created_at", "-updated_at", "updated_at"];
    assert_eq!(orders.iter().map(|(word, _)| *word).collect::<Vec<_>>(), by_time);
    assert!(orders.iter().all(|(_, names)| *names == ["filter[type]"]), "{orders:?}");
    let filter = people::Filter { roles: vec![people::Role::OrgAdmin], ..Default::default() };
    assert_eq!(
        slow::<Employee>(|sort| rows::employees::list(&filter, sort, &PAGE)).len(),
        Employee::sorts().count()
    );
    let query = [("filter[period_start][gte]", "2026-01-01"), ("filter[updated_at][lte]", "2026-01-01T00:00:00Z")];
    let lists = objectives(&query, Viewer::Everything, Sort::ascending_by(SortBy::PeriodEnd));
    assert_eq!(unanswered_parameters(&lists), ["filter[period_start]", "filter[updated_at]"]);
}

#[test]
fn audit_log_by_target_actor_or_action_has_an_index() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let some = |text: &str| Some(text.to_owned());
    let slow_by = |filter: audit::Filter| {
        let slow = slow::<AuditEntry>(|sort| rows::audit::list(&filter, sort, &PAGE));
        slow.into_iter().map(|(_, names)| names).next().unwrap_or_default()
    };
    let none = audit::Filter::default();
    assert_eq!(slow_by(audit::Filter { target_id: some("a"), occurred_at: CHANGED, ..none.clone() }), [""; 0]);
    assert_eq!(slow_by(audit::Filter { actor_id: some("a"), ..none.clone() }), [""; 0]);
    assert_eq!(slow_by(audit::Filter { actions: words(&["a", "b", "a"]), ..none.clone() }), [""; 0]);
    let both = audit::Filter { actor_id: some("a"), actions: words(&["a", "b"]), ..none.clone() };
    assert_eq!(slow_by(both), ["filter[action]"]);
    let many: Vec<_> = (0..9).map(|number| number.to_string()).collect();
    assert_eq!(slow_by(audit::Filter { actions: many, ..none }), ["filter[action]"]);
}

#[test]
fn summary_filters_have_an_index_in_every_order() {
    let none: [(&str, Vec<String>); 0] = [];
    let (all, person) = (summary::Filter::default(), Some(someone()));
    let filters = [
        all.clone(),
        summary::Filter { employee_id: person, ..all.clone() },
        summary::Filter { author_id: person, ..all.clone() },
        summary::Filter { manager_id: person, ..all.clone() },
        summary::Filter { statuses: vec![summary::Status::Shared, summary::Status::Archived], ..all.clone() },
        summary::Filter { employee_id: person, statuses: vec![summary::Status::Shared], ..all.clone() },
        summary::Filter { included_objective_id: Some(Id::from_bytes([7; 16])), ..all.clone() },
        summary::Filter { included_observation_id: Some(Id::from_bytes([8; 16])), ..all.clone() },
    ];
    for filter in filters {
        for viewer in [Viewer::Everything, Viewer::Person(someone())] {
            let slow = slow::<Summary>(|sort| rows::summaries::list(&filter, viewer, sort, &PAGE));
            // A part of a viewer's list may fix both the subject and the author. An index leads to the few rows of
            // one of them, and each row is checked.
            let is_looked_at =
                viewer != Viewer::Everything && (filter.employee_id.is_some() || filter.author_id.is_some());
            assert!(is_looked_at || slow == none, "{filter:?} {viewer:?}: {slow:?}");
        }
    }
    let both = summary::Filter { employee_id: person, author_id: person, ..all };
    assert_eq!(
        slow::<Summary>(|sort| rows::summaries::list(&both, Viewer::Everything, sort, &PAGE)).len(),
        Summary::sorts().count()
    );
}

#[test]
fn summary_list_of_a_person_leaves_out_empty_parts() {
    let [me, other] = [1, 2].map(|byte| EmployeeId::from_bytes([byte; 16]));
    let all = summary::Filter::default();
    let parts = |filter: summary::Filter| {
        rows::summaries::list(&filter, Viewer::Person(me), Sort::descending_by(SortBy::CreatedAt), &PAGE)
            .parts()
            .len()
    };
    assert_eq!(parts(all.clone()), 3);
    assert_eq!(parts(summary::Filter { statuses: vec![summary::Status::Draft], ..all.clone() }), 2);
    assert_eq!(parts(summary::Filter { employee_id: Some(other), ..all.clone() }), 2);
    assert_eq!(parts(summary::Filter { author_id: Some(other), ..all }), 2);
}

#[test]
fn observation_list_of_a_viewer_has_an_index_by_day() {
    let all = observation::Filter::default();
    let list = |sort| rows::observations::list(&all, Viewer::Person(someone()), sort, &PAGE);
    let slow: Vec<_> = slow::<Observation>(list).into_iter().map(|(word, _)| word).collect();
    assert_eq!(slow, ["-created_at", "created_at", "-updated_at", "updated_at"]);
    // In these orders the rows of one person are gathered and sorted; no part scans the rows of the whole
    // tenant.
    for part in list(Sort::descending_by(SortBy::CreatedAt)).parts() {
        let is_team = part.conditions.iter().any(|condition| matches!(condition, Condition::Within(..)));
        assert!(is_team || crate::plan::is_of_few(part), "{part:?}");
    }
}

#[test]
fn observation_list_of_a_viewer_leaves_out_empty_parts() {
    let [me, other] = [1, 2].map(|byte| EmployeeId::from_bytes([byte; 16]));
    let parts = |employee_id| {
        let filter = observation::Filter { employee_id, ..observation::Filter::default() };
        rows::observations::list(&filter, Viewer::Person(me), Sort::descending_by(SortBy::ObservationDate), &PAGE)
            .parts()
            .len()
    };
    assert_eq!([parts(None), parts(Some(me)), parts(Some(other))], [4, 3, 3]);
}

#[test]
fn filter_value_given_twice_is_one_run() {
    let filter = audit::Filter { actions: vec!["a".to_owned(), "a".to_owned()], ..Default::default() };
    let listing = rows::audit::list(&filter, Sort::ascending_by(SortBy::OccurredAt), &PAGE);
    assert_eq!(listing.parts()[0].runs.as_ref().map(|(_, values)| values.len()), Some(1));
}

#[test]
fn delivery_log_by_type_or_event_has_an_index_but_not_by_both() {
    let (kind, event) = (candor_domain::event::EventType::TestPing, EventId::from_bytes([5; 16]));
    let slow = |event_type, event_id| {
        let filter = DeliveryFilter { event_type, event_id, status: None };
        slow::<Delivery>(|sort| rows::deliveries::list(webhook(), &filter, sort, &PAGE)).len()
    };
    assert_eq!(
        (slow(Some(kind), None), slow(None, Some(event)), slow(Some(kind), Some(event))),
        (2, 2, 4),
        "no index by type or event has the order of the attempts"
    );
}

#[test]
fn log_of_all_has_an_index_by_status_and_subscription() {
    let slow = |filter: AllDeliveriesFilter| {
        let existing = [webhook(), WebhookId::from_bytes([3; 16])];
        let sort = Sort::descending_by(SortBy::AttemptedAt);
        unanswered_parameters(rows::deliveries::list_all(&filter, &existing, sort, &PAGE).parts())
    };
    let none = AllDeliveriesFilter::default();
    assert_eq!(slow(none), [""; 0]);
    assert_eq!(slow(AllDeliveriesFilter { attempted_at: CHANGED, ..none }), [""; 0]);
    assert_eq!(slow(AllDeliveriesFilter { webhook_id: Some(webhook()), ..none }), [""; 0]);
    let log = DeliveryFilter { event_id: Some(EventId::from_bytes([5; 16])), ..DeliveryFilter::default() };
    assert_eq!(slow(AllDeliveriesFilter { log, ..none }), ["filter[event_id]"]);
}

#[test]
fn filter_on_another_table_is_named_only_if_alone() {
    let manager = observation::Filter { manager_id: Some(someone()), ..Default::default() };
    let list = |filter: &observation::Filter| {
        rows::observations::list(filter, Viewer::Everything, Sort::ascending_by(SortBy::CreatedAt), &PAGE)
    };
    assert!(is_answered(&list(&manager)));
    assert_eq!(unanswered_parameters(list(&manager).parts()), ["filter[manager_id]"]);
    let attribute_filter =
        observation::Filter { attribute_ids: vec![AttributeId::from_bytes([6; 16])], ..Default::default() };
    assert_eq!(unanswered_parameters(list(&attribute_filter).parts()), ["filter[attribute_id]"]);
    let both = observation::Filter { updated_at: CHANGED, ..manager };
    assert_eq!(unanswered_parameters(list(&both).parts()), ["filter[updated_at]"]);
    let by_end = Sort::ascending_by(SortBy::PeriodEnd);
    let listings = objectives(&[("filter[scope]", "manager")], Viewer::Person(someone()), by_end);
    assert_eq!(unanswered_parameters(&listings), [""; 0], "visibility is no filter of the client");
}

#[test]
fn rows_behind_an_id_are_answered_by_the_primary_key() {
    assert!(is_answered(&TypedListing::<Observation>::after_id([0; 16], 2_000)));
    assert!(is_answered(&TypedListing::<Message>::after_id([0; 16], 2_000)));
}

mod unique;
