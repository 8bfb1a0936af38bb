//! Content filters: which events are queued for a subscription, by their data and the departments of people.

use candor_domain::event::{Event, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::{DepartmentId, EmployeeId};
use candor_domain::objective::Scope;
use candor_domain::observation;
use candor_domain::people::Employee;
use candor_port_storage::{ChangeSet, Row, Versioned, Write};
use candor_subscriptions::{EventFacts, EventFilter, Job, Subscription};
use serde_json::{Value, json};

use crate::Case;
use crate::worker::{END, Worker, in_order};
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(event_that_meets_the_content_filter_is_queued),
        Case::new(concurrent_events_are_queued_by_their_own_content),
        Case::new(department_of_an_event_is_that_after_its_change),
        Case::new(filter_of_another_tenant_does_not_apply),
    ]
}

/// People with their departments; the last two have none.
struct Staff {
    departments: Vec<DepartmentId>,
    people: Vec<Employee>,
}

impl Staff {
    async fn new(world: &CaseContext) -> Self {
        let departments = [0; 3].map(|_| world.make.department());
        let rows = departments.iter().map(|department| Write::put(&Row::new(department.clone())));
        world.save(rows.collect()).await;
        let departments: Vec<_> = departments.iter().map(|department| department.id).collect();
        let mut people = vec![];
        for number in 0..5 {
            let person = Employee { department_id: departments.get(number).copied(), ..world.make.employee() };
            people.push(world.add_employee(person).await);
        }
        Self { departments, people }
    }

    /// Returns the department of a person. `None` for a person without a department.
    fn department(&self, id: EmployeeId) -> Option<DepartmentId> {
        self.people.iter().find(|person| person.id == id)?.department_id
    }

    /// Returns a filter with up to three values in each condition. `None` if the filter has no condition.
    fn filter(&self, world: &CaseContext) -> Option<EventFilter> {
        fn pick_some<T: Copy>(world: &CaseContext, from: &[T]) -> Option<Vec<T>> {
            let count = 1 + world.random.number_below(3);
            world.random.chance(35).then(|| (0..count).map(|_| *world.random.pick(from)).collect())
        }
        let people: Vec<_> = self.people.iter().map(|person| person.id).chain([world.make.id()]).collect();
        let filter = EventFilter {
            employee_ids: pick_some(world, &people),
            department_ids: pick_some(world, &[self.departments.as_slice(), &[world.make.id()]].concat()),
            kind: pick_some(world, observation::Type::ALL).map(|kinds| kinds[0]),
            scopes: pick_some(world, Scope::ALL),
        };
        filter.some()
    }

    /// Returns an event with varied content. Some people do not exist.
    fn event(&self, world: &CaseContext) -> Event {
        let kind = *world.random.pick(EventType::ALL);
        let person = if world.random.chance(90) { world.random.pick(&self.people).id } else { world.make.id() };
        let department = *world.random.pick(&self.departments);
        let text = |id: String| if world.random.chance(90) { json!(id) } else { Value::Null };
        let id = if kind.word().starts_with("department.") { department.to_string() } else { person.to_string() };
        let data = json!({
            "id": id, "employee_id": text(person.to_string()), "owner_id": person,
            "department_id": text(department.to_string()),
            "type": world.random.pick(observation::Type::ALL).word(), "scope": world.random.pick(Scope::ALL).word(),
        });
        Event { data: data.to_string(), ..world.make.event(kind) }
    }

    /// Returns the deliveries that the store must queue for the events of one change.
    fn deliveries(&self, world: &CaseContext, events: &[Event], subscribers: &[Subscription]) -> Vec<Job> {
        let facts = EventFacts::from_events(&events.iter().collect::<Vec<_>>());
        let mut deliveries = vec![];
        for (event, facts) in events.iter().zip(facts) {
            let facts = match facts.person_to_read() {
                Some(person) => facts.with_department(self.department(person)),
                None => facts,
            };
            let to = subscribers.iter().filter(|to| to.permits(&facts));
            deliveries.extend(to.map(|to| world.delivery_of(event, to)));
        }
        deliveries
    }
}

async fn subscribers(world: &CaseContext, staff: &Staff) -> Vec<Subscription> {
    let mut subscribers = vec![];
    for _ in 0..40 {
        let value = Subscription { filter: staff.filter(world), ..world.make.subscription() };
        subscribers.push(world.add_subscription(value).await);
    }
    subscribers
}

async fn event_that_meets_the_content_filter_is_queued(world: CaseContext) {
    let staff = Staff::new(&world).await;
    let (mut wanted, mut count_of_events) = (vec![], 0);
    let subscribers = subscribers(&world, &staff).await;
    for count in [1, 2, 30, 7].into_iter().chain([1; 40]) {
        let events: Vec<_> = (0..count).map(|_| staff.event(&world)).collect();
        wanted.extend(staff.deliveries(&world, &events, &subscribers));
        count_of_events += events.len();
        world.commit(ChangeSet { events, ..world.make.change(vec![]) }).await.unwrap();
    }
    let all = count_of_events * subscribers.len();
    assert!(wanted.len() > all / 10 && wanted.len() < all / 2, "{} of {all}", wanted.len());
    assert_eq!(Worker::new(&world).all(END).await, in_order(wanted));
}

async fn concurrent_events_are_queued_by_their_own_content(world: CaseContext) {
    let staff = Staff::new(&world).await;
    let subscribers = subscribers(&world, &staff).await;
    let mut expected_deliveries = vec![];
    let mut changes = vec![];
    for _ in 0..60 {
        let person = world.random.pick(&staff.people).id;
        let observation = world.make.observation(person);
        let data = serde_json::to_string(&observation).unwrap();
        let event = Event { data, ..world.make.event(EventType::ObservationCreated) };
        expected_deliveries.extend(staff.deliveries(&world, std::slice::from_ref(&event), &subscribers));
        let writes = vec![Write::put(&Row::new(observation))];
        changes.push(ChangeSet { events: vec![event], ..world.make.change(writes) });
    }
    let commit = |change| {
        let world = world.clone();
        async move { world.commit(change).await }
    };
    for result in at_once(changes.into_iter().map(commit)).await {
        result.unwrap();
    }
    assert!(!expected_deliveries.is_empty());
    assert_eq!(Worker::new(&world).all(END).await, in_order(expected_deliveries));
}

async fn department_of_an_event_is_that_after_its_change(world: CaseContext) {
    let staff = Staff::new(&world).await;
    let [old, new, ..] = staff.departments.as_slice() else { panic!("{:?}", staff.departments) };
    let mut to = vec![];
    for department in [old, new] {
        let filter = EventFilter { department_ids: Some(vec![*department]), ..EventFilter::default() };
        to.push(world.add_subscription(Subscription { filter: Some(filter), ..world.make.subscription() }).await);
    }
    let Versioned { value, version } = world.employee(staff.people[0].id).await;
    let person_in_new = Employee { department_id: Some(*new), ..value };
    let about =
        |kind| Event { data: json!({"employee_id": person_in_new.id}).to_string(), ..world.make.event(kind) };
    let event_before = about(EventType::SummaryShared);
    world.commit(ChangeSet { events: vec![event_before.clone()], ..world.make.change(vec![]) }).await.unwrap();
    let data = serde_json::to_string(&person_in_new).unwrap();
    let department_event = Event { data, ..world.make.event(EventType::EmployeeUpdated) };
    let events = vec![about(EventType::InvitationRevoked), department_event, about(EventType::InvitationCreated)];
    let writes = vec![Write::put(&Row::at_version(person_in_new.clone(), version))];
    world.commit(ChangeSet { events: events.clone(), ..world.make.change(writes) }).await.unwrap();
    let event_after = about(EventType::SummaryArchived);
    world.commit(ChangeSet { events: vec![event_after.clone()], ..world.make.change(vec![]) }).await.unwrap();
    let mut expected_deliveries =
        vec![world.delivery_of(&event_before, &to[0]), world.delivery_of(&event_after, &to[1])];
    expected_deliveries.extend(events.iter().map(|event| world.delivery_of(event, &to[1])));
    assert_eq!(Worker::new(&world).all(END).await, in_order(expected_deliveries));
}

async fn filter_of_another_tenant_does_not_apply(world: CaseContext) {
    let staff = Staff::new(&world).await;
    let other = world.in_other_tenant();
    let filter = EventFilter { department_ids: Some(staff.departments.clone()), ..EventFilter::default() };
    let filtered_subscription = Subscription { filter: Some(filter), ..world.make.subscription() };
    world.add_subscription(filtered_subscription.clone()).await;
    other.add_subscription(Subscription { id: world.make.id(), ..filtered_subscription }).await;
    let all = other.subscriber().await;
    let data = json!({"employee_id": staff.people[0].id, "type": "strength"}).to_string();
    let event = Event { data, ..world.make.event(EventType::ObservationCreated) };
    other.commit(ChangeSet { events: vec![event.clone()], ..world.make.change(vec![]) }).await.unwrap();
    // The person and the department belong to the first tenant, so the second one has no such department.
    assert_eq!(Worker::new(&world).all(END).await, [other.delivery_of(&event, &all)]);
}
