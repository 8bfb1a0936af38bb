//! Orders of legal holds, releases and erasures of a person and a witness, before and after a backup.

/// The subject of the observation, or its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Who {
    Person,
    Witness,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Hold(Who),
    Release(Who),
    Erase(Who),
}

/// Steps before the earlier of backup and ledger, and steps between backup and ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) before: Vec<Step>,
    pub(super) after: Vec<Step>,
}

/// State of the person, of the witness, and of the observation that the witness wrote about the person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) is_person_held: bool,
    pub(super) is_witness_held: bool,
    pub(super) is_person_erased: bool,
    pub(super) is_witness_erased: bool,
    pub(super) is_observation_removed: bool,
}

impl State {
    pub(super) fn after(mut self, step: Step) -> Self {
        match step {
            Step::Hold(Who::Person) => self.is_person_held = true,
            Step::Hold(Who::Witness) => self.is_witness_held = true,
            Step::Release(Who::Person) => self.is_person_held = false,
            Step::Release(Who::Witness) => self.is_witness_held = false,
            Step::Erase(Who::Person) => self.is_person_erased = true,
            Step::Erase(Who::Witness) => self.is_witness_erased = true,
        }
        self
    }

    /// Returns the state once the worker has continued the erasures.
    pub(super) fn worked(self) -> Self {
        let is_removed_now = self.is_person_erased && !self.is_witness_held;
        Self { is_observation_removed: self.is_observation_removed || is_removed_now, ..self }
    }
}

/// Returns the sequences of steps that are tested for the person or for the witness.
fn courses(who: Who) -> [Vec<Step>; 6] {
    let (hold, release, erase) = (Step::Hold(who), Step::Release(who), Step::Erase(who));
    [vec![], vec![hold], vec![hold, release], vec![hold, release, hold], vec![hold, release, erase], vec![erase]]
}

/// Returns every interleaving of two sequences of steps.
fn merges(one: &[Step], other: &[Step]) -> Vec<Vec<Step>> {
    let (Some(first), Some(other_first)) = (one.first(), other.first()) else {
        return vec![[one, other].concat()];
    };
    let begin = |step: Step, rest: Vec<Vec<Step>>| {
        rest.into_iter().map(move |steps| [vec![step], steps].concat()).collect::<Vec<_>>()
    };
    [begin(*first, merges(&one[1..], other)), begin(*other_first, merges(one, &other[1..]))].concat()
}

/// Returns the orders to test: holds on the person alone, holds on the witness alone, and holds on the witness with an
/// erasure of the person. No order has holds on both people.
pub(super) fn orders() -> Vec<Order> {
    let (person, witness) = (courses(Who::Person), courses(Who::Witness));
    let person_orders = person.iter().flat_map(|steps| merges(steps, &[]));
    let pair_orders = witness[1..].iter().flat_map(|steps| merges(steps, &[Step::Erase(Who::Person)]));
    let witness_orders = witness[1..].iter().cloned();
    let all: Vec<_> = person_orders.chain(pair_orders).chain(witness_orders).collect();
    let parts = |steps: &Vec<Step>| {
        let cut = |at: usize| Order { before: steps[..at].to_vec(), after: steps[at..].to_vec() };
        (0..=steps.len()).map(cut).collect::<Vec<_>>()
    };
    all.iter().flat_map(parts).collect()
}
