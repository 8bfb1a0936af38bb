//! Histories of one resource under concurrent calls. Each history must equal an order of single calls that agrees
//! with the times of the calls: a resource is strictly serializable.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use candor_domain::id::EmployeeId;
use candor_domain::people::Employee;
use candor_port_storage::{CommitError, Row, Version, Versioned, Write};

use crate::Case;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new(concurrent_calls_of_a_resource_have_one_order)]
}

const ROUNDS: usize = 3;
const WRITERS: usize = 6;
/// Number of acknowledged writes of each writer.
const WRITES: usize = 15;
const READERS: usize = 4;
/// Number of reads of each reader.
const READS: usize = 60;

/// The effect of a finished call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Effect {
    /// This version was read, with this name.
    Read(Version, String),
    /// This version was written, with this name.
    Written(Version, String),
    /// A write that was decided on this version was refused as stale.
    Stale(Version),
}

/// A finished call. Beginning and end are values of a counter that all callers share.
#[derive(Debug)]
struct Call {
    began: u64,
    ended: u64,
    effect: Effect,
}

impl Call {
    /// Returns the newest version that existed before the end of the call, according to its effect.
    const fn version(&self) -> Version {
        match &self.effect {
            Effect::Read(version, _) | Effect::Written(version, _) => *version,
            Effect::Stale(version) => version.next(),
        }
    }
}

/// A client that records its calls on one person.
struct Recorder {
    world: CaseContext,
    id: EmployeeId,
    /// Counts the beginnings and ends of the calls of all clients.
    count: Arc<AtomicU64>,
    calls: Vec<Call>,
}

impl Recorder {
    fn tick(&self) -> u64 {
        self.count.fetch_add(1, Ordering::SeqCst)
    }

    fn note(&mut self, began: u64, effect: Effect) {
        let end_tick = self.tick();
        self.calls.push(Call { began, ended: end_tick, effect });
    }

    async fn read(&mut self) -> Versioned<Employee> {
        let began = self.tick();
        let employee_row = self.world.employee(self.id).await;
        self.note(began, Effect::Read(employee_row.version, employee_row.value.first_name.clone()));
        employee_row
    }

    /// Reads the person and writes another name. Returns `true` if the write was acknowledged.
    async fn rename(&mut self, name: &str) -> bool {
        let Versioned { value, version } = self.read().await;
        let renamed_person = Employee { first_name: name.to_owned(), ..value };
        let began = self.tick();
        let result = self.world.try_save(Write::employee(&Row::at_version(renamed_person, version), None)).await;
        let is_written = result.is_ok();
        match result {
            Ok(()) => self.note(began, Effect::Written(version.next(), name.to_owned())),
            Err(CommitError::Stale) => self.note(began, Effect::Stale(version)),
            Err(other) => panic!("{other}"),
        }
        is_written
    }

    async fn write_all(&mut self, writer: usize) {
        let mut success_count = 0;
        while success_count < WRITES {
            if self.rename(&format!("W{writer}N{success_count}")).await {
                success_count += 1;
            }
        }
    }
}

/// Asserts that each version was written once, and that each read shows the name that was written. Returns the
/// beginning of the write of each version.
fn assert_contents(calls: &[Call], first: &str) -> BTreeMap<Version, u64> {
    let mut names = BTreeMap::from([(Version::FIRST, first)]);
    let mut names_by_start = BTreeMap::new();
    for call in calls {
        if let Effect::Written(version, name) = &call.effect {
            assert_eq!(names.insert(*version, name), None, "{version:?} was acknowledged twice");
            names_by_start.insert(*version, call.began);
        }
    }
    let versions: Vec<_> = names.keys().map(|version| version.0).collect();
    assert_eq!(versions, (1..=1 + (WRITERS * WRITES) as i64).collect::<Vec<_>>(), "no version is missing");
    for call in calls {
        if let Effect::Read(version, name) = &call.effect {
            assert_eq!(names.get(version), Some(&name.as_str()), "{call:?}");
        }
    }
    names_by_start
}

/// Asserts that the order of the versions agrees with the times of the calls. If a call began after the end of an
/// earlier call, a read shows no older version than that call, and a write shows a newer one. A stale write ended
/// after the write of a newer version began.
fn assert_times(calls: &[Call], begun: &BTreeMap<Version, u64>) {
    for later in calls {
        for earlier in calls.iter().filter(|earlier| earlier.ended < later.began) {
            let is_in_order = match later.effect {
                Effect::Read(..) => earlier.version() <= later.version(),
                Effect::Written(..) => earlier.version() < later.version(),
                Effect::Stale(_) => true,
            };
            assert!(is_in_order, "{later:?} is behind {earlier:?}");
        }
        if let Effect::Stale(version) = later.effect {
            let newer = begun.get(&version.next());
            assert!(newer.is_some_and(|began| *began < later.ended), "{later:?} was refused without a reason");
        }
    }
}

async fn concurrent_calls_of_a_resource_have_one_order(world: CaseContext) {
    for _ in 0..ROUNDS {
        let person = world.hire().await;
        let count = Arc::new(AtomicU64::new(0));
        let tasks = (0..WRITERS + READERS).map(|number| {
            let (world, count) = (world.clone(), Arc::clone(&count));
            let mut client = Recorder { world, id: person.id, count, calls: vec![] };
            async move {
                if number < WRITERS {
                    client.write_all(number).await;
                } else {
                    for _ in 0..READS {
                        client.read().await;
                    }
                }
                client.calls
            }
        });
        let calls: Vec<_> = at_once(tasks).await.into_iter().flatten().collect();
        let start_ticks = assert_contents(&calls, &person.first_name);
        assert_times(&calls, &start_ticks);
    }
}
