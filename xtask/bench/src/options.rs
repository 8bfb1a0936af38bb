//! What the caller asked for.

use crate::Outcome;
use crate::data::Size;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What can be measured, in the order in which it is: what writes comes last.
/// Those whose names begin alike can be asked for together.
pub(crate) const MEASURES: [&str; 35] = [
    "footprint",
    "get",
    "list",
    "depth",
    "expand",
    "limits",
    "copy",
    "create",
    "create-tagged",
    "create-fifty",
    "create-retry",
    "create-organizations",
    "mixed",
    "move",
    "objectives",
    "sweep",
    "webhooks-memory",
    "webhooks-rate",
    "webhooks-latency",
    "webhooks-hanging",
    "webhooks-creates",
    "slow-questions",
    "resources",
    "large-summary",
    "long-conversation",
    "before",
    "manager",
    "before-manager",
    "csv",
    "subscribed-csv",
    "mails",
    "tenants",
    "unread",
    "search",
    "cluster",
];

/// A store that the service runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Postgres,
    Sqlite,
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Postgres => "PostgreSQL",
            Self::Sqlite => "SQLite",
        })
    }
}

/// The command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// The built service.
    pub(crate) binary: PathBuf,
    /// Where the results are written, when everything was measured in full.
    pub(crate) document: PathBuf,
    pub(crate) quick: bool,
    /// Whether a missed limit is a failure.
    pub(crate) check: bool,
    /// Whether the loaded services are only kept up, to be looked into.
    pub(crate) hold: bool,
    /// What is measured; everything, when it is empty.
    pub(crate) only: Vec<String>,
    /// Another build of the service, which takes turns with this one on the same data.
    pub(crate) before: Option<PathBuf>,
    store: Option<Store>,
    texts: Option<u32>,
    rounds: Option<usize>,
    turn: Option<u64>,
}

impl Options {
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Outcome<Self> {
        let mut arguments = arguments.into_iter();
        let mut it = Self {
            binary: PathBuf::new(),
            document: PathBuf::new(),
            quick: false,
            check: false,
            hold: false,
            only: vec![],
            before: None,
            store: None,
            texts: None,
            rounds: None,
            turn: None,
        };
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
            match name.as_str() {
                "--binary" => it.binary = value()?.into(),
                "--document" => it.document = value()?.into(),
                "--quick" => it.quick = true,
                "--check" => it.check = true,
                "--hold" => it.hold = true,
                "--only" => it.only.push(measure(value()?)?),
                "--before" => it.before = Some(value()?.into()),
                "--store" => it.store = Some(store(&value()?)?),
                "--texts" => it.texts = Some(value()?.parse().map_err(|_| "--texts needs a number")?),
                "--rounds" => it.rounds = Some(count(&value()?, "--rounds")?),
                "--turn" => it.turn = Some(u64::try_from(count(&value()?, "--turn")?)?),
                other => {
                    let known = "--quick, --check, --hold, --only, --store, --before, --texts, --rounds, --turn";
                    return Err(format!("{other} is not known; use {known}").into());
                }
            }
        }
        if it.binary.as_os_str().is_empty() || it.document.as_os_str().is_empty() {
            return Err("--binary and --document are needed; `cargo xtask bench` gives them".into());
        }
        Ok(it)
    }

    pub(crate) fn wants(&self, measure: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|it| is_called(measure, it))
    }

    pub(crate) fn measures(&self, store: Store) -> bool {
        self.store.is_none_or(|it| it == store)
    }

    /// Whether the results are those of the document.
    pub(crate) fn in_full(&self) -> bool {
        !self.quick && self.only.is_empty() && self.store.is_none() && self.texts.is_none()
    }

    pub(crate) fn size(&self) -> Size {
        Size { people: 10_000, observations: if self.quick { 100_000 } else { 1_000_000 } }
    }

    /// For the reporting tree, which is deeper.
    pub(crate) fn size_of_tree(&self) -> Size {
        Size { people: 100_000, ..self.size() }
    }

    /// For files of people, which bring as many again.
    pub(crate) const fn size_of_the_small(&self) -> Size {
        Size { people: 10_000, observations: 10_000 }
    }

    /// Texts that are searched, in all tenants together.
    pub(crate) fn texts(&self) -> u32 {
        self.texts.unwrap_or(if self.quick { 100_000 } else { 1_000_000 })
    }

    /// How often the contenders take turns.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 2 } else { 5 })
    }

    /// How often everything is copied, which takes minutes.
    pub(crate) fn copies(&self) -> usize {
        if self.quick { 1 } else { self.rounds().div_ceil(2) }
    }

    /// How long each turn is.
    pub(crate) fn turn(&self) -> Duration {
        Duration::from_secs(self.turn.unwrap_or(if self.quick { 1 } else { 3 }))
    }
}

/// Whether a measure is meant by this name: its own, or what it begins with.
fn is_called(measure: &str, name: &str) -> bool {
    measure.strip_prefix(name).is_some_and(|it| it.is_empty() || it.starts_with('-'))
}

fn measure(name: String) -> Outcome<String> {
    if MEASURES.iter().any(|it| is_called(it, &name)) {
        return Ok(name);
    }
    Err(format!("{name} is not measured; one of {} is", MEASURES.join(", ")).into())
}

/// A number of at least one.
fn count(text: &str, name: &str) -> Outcome<usize> {
    text.parse().ok().filter(|it| *it > 0).ok_or_else(|| format!("{name} needs a number from 1 on, not {text}").into())
}

fn store(name: &str) -> Outcome<Store> {
    match name {
        "postgres" => Ok(Store::Postgres),
        "sqlite" => Ok(Store::Sqlite),
        _ => Err(format!("{name} is no store; postgres and sqlite are").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Outcome<Options> {
        Options::parse(format!("--binary b --document d {text}").split_whitespace().map(str::to_owned))
    }

    #[test]
    fn only_a_full_run_is_for_the_document() {
        for (text, in_full) in [
            ("", true),
            ("--check", true),
            ("--rounds 3 --turn 1", true),
            ("--quick", false),
            ("--only get", false),
            ("--store sqlite", false),
            ("--texts 1000", false),
        ] {
            assert_eq!(parse(text).unwrap().in_full(), in_full, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for text in ["--fast", "--only", "--only everything", "--store oracle", "--rounds 0", "--turn long"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(Options::parse(["--quick".to_owned()]).is_err());
    }

    #[test]
    fn one_measure_and_one_store_can_be_chosen() {
        let options = parse("--only get --store postgres").unwrap();
        assert_eq!((options.wants("get"), options.wants("list")), (true, false));
        assert_eq!((options.measures(Store::Postgres), options.measures(Store::Sqlite)), (true, false));
    }

    #[test]
    fn measures_that_begin_alike_can_be_chosen_together() {
        let options = parse("--only webhooks").unwrap();
        assert_eq!((options.wants("webhooks-rate"), options.wants("create")), (true, false));
        let options = parse("--only webhooks-rate").unwrap();
        assert_eq!((options.wants("webhooks-rate"), options.wants("webhooks-latency")), (true, false));
        assert!(parse("--only web").is_err());
        let options = parse("--only get --only webhooks-rate").unwrap();
        let wanted = ["get", "list", "webhooks-rate", "webhooks-latency"].map(|it| options.wants(it));
        assert_eq!(wanted, [true, false, true, false]);
    }
}
