//! Model test of summaries: any sequence of changes, actions and archived observations has the result of a simple
//! model.

use std::collections::BTreeSet;

use candor_domain::id::{Id, Kind, ObservationId};
use candor_domain::json::{Object, Value};
use candor_domain::organization::Review;
use candor_domain::summary::{Action, Draft, Patch, References, Status, StoredObservation, Summary};
use candor_domain::time::Timestamp;
use candor_test_explore as explore;
use ulid::Ulid;

const AT: Timestamp = Timestamp::from_millis(1_772_366_400_000);
const OBSERVATIONS: u64 = 6;

fn id<K: Kind>(number: u64) -> Id<K> {
    Id::from_ulid(Ulid(number.into()))
}

/// A generator whose numbers depend on the seed alone.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The rules of summaries, expressed with sets.
struct Model {
    status: Status,
    given: BTreeSet<ObservationId>,
    archived: BTreeSet<ObservationId>,
    has_feedback: bool,
}

impl Model {
    fn is_open(&self) -> bool {
        matches!(self.status, Status::Draft | Status::PendingReview)
    }

    fn shown(&self) -> BTreeSet<ObservationId> {
        if self.is_open() { self.given.difference(&self.archived).copied().collect() } else { self.given.clone() }
    }

    /// Applies the action if the transition table permits it.
    fn act(&mut self, action: &Action) -> bool {
        let to = match (action, self.status) {
            (Action::Submit, Status::Draft) => Status::PendingReview,
            (Action::Approve, Status::Draft | Status::PendingReview) => Status::Approved,
            (Action::Return { .. }, Status::PendingReview | Status::Approved) => Status::Draft,
            (Action::Share, Status::Approved) => Status::Shared,
            (Action::Feedback { .. }, Status::Shared) if !self.has_feedback => Status::Shared,
            (Action::Archive, from) if from != Status::Archived => Status::Archived,
            _ => return false,
        };
        if !matches!(to, Status::Draft | Status::PendingReview) {
            self.given = self.shown();
        }
        self.has_feedback |= matches!(action, Action::Feedback { .. });
        self.status = to;
        true
    }
}

/// Returns the summary as it is read after it was saved.
fn read_again(summary: &Summary, archived: &BTreeSet<ObservationId>) -> Summary {
    let observation_ids = summary.given_observation_ids();
    let archived_ids = observation_ids.iter().copied().filter(|id| archived.contains(id)).collect();
    Summary { included_observation_ids: observation_ids, ..summary.clone() }
        .with_archived_observations(archived_ids)
}

fn create_summary(found: &References) -> Summary {
    let employee = id::<candor_domain::id::EmployeeKind>(1).to_string();
    let text = |name: &str, value: &str| (name.to_owned(), Value::Text(value.to_owned()));
    let body: Object = [text("employee_id", &employee), text("title", "Half"), text("body", "Calm.")].into();
    Summary::create(id(2), Draft::parse(body).unwrap(), found, AT).unwrap().state
}

fn actions() -> [Action; 6] {
    [
        Action::Submit,
        Action::Approve,
        Action::Return { reason: "Short".to_owned() },
        Action::Share,
        Action::Feedback { comment: None, acknowledged: true },
        Action::Archive,
    ]
}

fn step(summary: &mut Summary, model: &mut Model, random: &mut Random) {
    let one: ObservationId = id(10 + random.below(OBSERVATIONS));
    match random.below(4) {
        0 => {
            if !model.archived.remove(&one) {
                model.archived.insert(one);
            }
        }
        1 | 2 => {
            let chosen_ids: Vec<ObservationId> =
                (0..OBSERVATIONS).filter(|_| random.below(2) == 0).map(|number| id(10 + number)).collect();
            let set: BTreeSet<_> = chosen_ids.iter().copied().collect();
            let visible_ids = model.shown();
            let is_allowed =
                model.is_open() && set.difference(&visible_ids).all(|id| !model.archived.contains(id));
            let observation_of =
                |one| StoredObservation { employee_id: id(1), is_archived: model.archived.contains(one) };
            let observations = set.iter().map(|id| (*id, observation_of(id))).collect();
            let id_list = Value::List(chosen_ids.iter().map(|id| Value::Text(id.to_string())).collect());
            let patch = Patch::parse([("included_observation_ids".to_owned(), id_list)].into())
                .resolve_with(summary)
                .unwrap();
            let result = summary.update(
                summary,
                patch,
                &References { observations, ..References::default() },
                None,
                false,
                AT,
            );
            assert_eq!(result.is_ok(), is_allowed, "{:?} {set:?}", model.status);
            if let Ok(Some(decision)) = result {
                *summary = decision.state;
                model.given = set;
            }
        }
        _ => {
            let action = actions()[usize::try_from(random.below(6)).unwrap()].clone();
            let result = summary.apply(action.clone(), None, Review::Optional, AT);
            assert_eq!(result.is_ok(), model.act(&action), "{:?} × {action:?}", summary.status);
            if let Ok(decision) = result {
                *summary = decision.state;
            }
        }
    }
}

#[test]
fn any_sequence_agrees_with_the_model() {
    let references = References { people: [id(1)].into(), ..References::default() };
    for number in 0..explore::size(400, 40_000) as u64 {
        let seed = explore::seed(number);
        let mut random = Random(seed);
        let mut summary = create_summary(&references);
        let (given, archived) = (BTreeSet::new(), BTreeSet::new());
        let mut model = Model { status: Status::Draft, given, archived, has_feedback: false };
        for step_number in 0..60 {
            step(&mut summary, &mut model, &mut random);
            summary = read_again(&summary, &model.archived);
            let included_ids: BTreeSet<_> = summary.included_observation_ids.iter().copied().collect();
            let visible_ids: BTreeSet<_> = summary.given_observation_ids().into_iter().collect();
            assert_eq!(
                (summary.status, included_ids),
                (model.status, model.shown()),
                "seed {seed}, step {step_number}"
            );
            assert_eq!(visible_ids, model.given, "seed {seed}, step {step_number}");
        }
    }
}
