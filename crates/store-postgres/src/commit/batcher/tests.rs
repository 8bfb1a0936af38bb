use super::*;
use crate::cluster::Cluster;
use crate::layout::OneServer;
use candor_domain::event::EventType;
use candor_port_storage::Row;
use candor_store_testkit::Fixtures;

fn queue_of(make: &Fixtures, tenant: Tenant, keys: &[&str]) -> CommitQueue {
    let mut queue = CommitQueue::default();
    push(&mut queue, make, tenant, keys);
    queue
}

fn push(queue: &mut CommitQueue, make: &Fixtures, tenant: Tenant, keys: &[&str]) {
    for key in keys {
        let change = ChangeSet {
            events: vec![make.event(EventType::ObservationCreated)],
            replay: (!key.is_empty()).then(|| make.replay(key)),
            ..make.change(vec![Write::put(&Row::new(make.observation(make.id())))])
        };
        assert!(may_share(&change));
        let pending = PendingCommit { tenant, change, since: Instant::now(), result_sender: oneshot::channel().0 };
        queue.waiting.push(Some(tenant), pending);
    }
}

fn keys<'a>(group: impl IntoIterator<Item = &'a PendingCommit>) -> Vec<&'a str> {
    group.into_iter().map(|group| group.change.replay.as_ref().map_or("", |task| task.key.as_str())).collect()
}

#[test]
fn change_sets_with_one_idempotency_key_are_apart_and_in_order() {
    let make = Fixtures::new(1);
    let (one, other) = (make.tenant(), make.tenant());
    let mut queue = queue_of(&make, one, &["a", "b", "a", "", "", "b", "c", "a"]);
    push(&mut queue, &make, other, &["a", "a"]);
    assert_eq!(
        keys(&queue.next_batch(&OneServer)),
        ["a", "a", "b", "", "", "c"],
        "without a key there are no twins, and the same key of another tenant is another key"
    );
    assert_eq!(keys(&queue.next_batch(&OneServer)), ["a", "a", "b"]);
    assert_eq!(keys(&queue.next_batch(&OneServer)), ["a"]);
    assert!(queue.next_batch(&OneServer).is_empty());
}

#[test]
fn organizations_take_turns_in_batches() {
    let make = Fixtures::new(5);
    let (one, other) = (make.tenant(), make.tenant());
    let mut queue = queue_of(&make, one, &[""; MOST + 1]);
    push(&mut queue, &make, other, &["b"]);
    let batch = queue.next_batch(&OneServer);
    assert_eq!((batch.len(), batch.iter().position(|pending| pending.tenant == other)), (MOST, Some(1)));
}

#[test]
fn change_sets_of_different_nodes_are_never_batched() {
    let make = Fixtures::new(4);
    let (one, other) = (make.tenant(), make.tenant());
    let mut queue = queue_of(&make, one, &["a"]);
    push(&mut queue, &make, other, &["b"]);
    push(&mut queue, &make, one, &["c"]);
    assert_eq!(keys(&queue.next_batch(&Cluster)), ["a", "c"]);
    assert_eq!(keys(&queue.next_batch(&Cluster)), ["b"]);
}

#[test]
fn batch_is_bounded_by_its_maximum_size() {
    let make = Fixtures::new(2);
    let mut queue = queue_of(&make, make.tenant(), &[""; MOST + 3]);
    assert_eq!((queue.next_batch(&OneServer).len(), queue.next_batch(&OneServer).len()), (MOST, 3));
}

#[test]
fn change_set_without_events_is_batched() {
    let make = Fixtures::new(3);
    let conversation = make.conversation(vec![make.id(), make.id()]);
    assert!(may_share(&make.change(vec![Write::put(&Row::new(conversation))])));
}

#[test]
fn change_set_that_updates_rows_is_not_batched() {
    let make = Fixtures::new(3);
    let (person, at) = (make.employee(), candor_port_storage::Version::FIRST);
    let observation = make.observation(person.id);
    let changes = [
        vec![Write::put(&Row::at_version(observation.clone(), at))],
        vec![candor_store_testkit::fixtures::joins(person.clone())],
        vec![Write::put(&Row::new(observation.clone())), Write::put(&Row::new(make.attribute()))],
        vec![],
    ];
    for writes in changes {
        let events = vec![make.event(EventType::ObservationCreated)];
        assert!(!may_share(&ChangeSet { events, ..make.change(writes) }));
    }
    let mut with_id = make.observation(person.id);
    assert!(may_share(&make.change(vec![Write::put(&Row::new(with_id.clone()))])));
    with_id.external_id = Some("crm-1".to_owned());
    assert!(!may_share(&make.change(vec![Write::put(&Row::new(with_id))])), "another may have the id");
    let relying = ChangeSet {
        requires: vec![Require::has_version::<candor_domain::people::Employee>(person.id, at)],
        events: vec![make.event(EventType::ObservationCreated)],
        ..make.change(vec![Write::put(&Row::new(observation))])
    };
    assert!(!may_share(&relying));
}
