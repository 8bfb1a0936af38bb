//! The command line.

use crate::data::Size;
use crate::store::Store;
use clap::{Command, CommandFactory, FromArgMatches, Parser};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = "cargo xtask bench", about = "Measures the service against pgbench on the same machine")]
pub(crate) struct Options {
    /// Binary of the service; `cargo xtask bench` sets it
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: PathBuf,
    /// Document that a complete run on both stores writes; `cargo xtask bench` sets it
    #[arg(long, value_name = "FILE")]
    pub(crate) document: PathBuf,
    /// Program and script that measure the client library of a language; `cargo xtask bench` sets them
    #[arg(long = "client", num_args = 3, value_names = ["LANGUAGE", "PROGRAM", "SCRIPT"])]
    pub(crate) clients: Vec<String>,
    /// Measure a tenth of the data in fewer and shorter turns
    #[arg(long)]
    pub(crate) quick: bool,
    /// Fail if a limit is missed
    #[arg(long)]
    pub(crate) check: bool,
    /// Run only this measure, or all measures whose names begin with NAME and a hyphen; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Measure only this store
    #[arg(long)]
    store: Option<Store>,
    /// Another build of the service to compare with on the same data
    #[arg(long, value_name = "FILE")]
    pub(crate) before: Option<PathBuf>,
    /// Number of texts that the search measures load into all tenants together
    #[arg(long)]
    texts: Option<u32>,
    /// Turns of each contender
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Seconds of each turn
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u16).range(1..))]
    turn: Option<u16>,
}

impl Options {
    /// Reads the command line, where `--only` accepts these names of measures. Ends the process if it is wrong.
    pub(crate) fn read(names: Vec<&'static str>) -> Self {
        Self::from_arg_matches(&accepting(names).get_matches()).unwrap_or_else(|error| error.exit())
    }

    pub(crate) fn selects(&self, measure: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| matches(measure, name))
    }

    pub(crate) fn measures(&self, store: Store) -> bool {
        self.store.is_none_or(|only| only == store)
    }

    /// Returns `true` if the options measure everything, so that the results can replace the document.
    pub(crate) fn is_complete(&self) -> bool {
        !self.quick && self.only.is_empty() && self.store.is_none() && self.texts.is_none()
    }

    pub(crate) fn size(&self) -> Size {
        Size { people: 10_000, observations: if self.quick { 100_000 } else { 1_000_000 } }
    }

    /// Number of texts in all tenants of the search measures.
    pub(crate) fn texts(&self) -> u32 {
        self.texts.unwrap_or(if self.quick { 100_000 } else { 1_000_000 })
    }

    /// Number of turns of each contender.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.map_or(if self.quick { 2 } else { 5 }, usize::from)
    }

    /// Number of copies of all data. Each takes minutes.
    pub(crate) fn copies(&self) -> usize {
        if self.quick { 1 } else { self.rounds().div_ceil(2) }
    }

    pub(crate) fn turn(&self) -> Duration {
        Duration::from_secs(self.turn.map_or(if self.quick { 1 } else { 3 }, u64::from))
    }
}

/// Returns `true` if `name` is the measure's name, or its beginning up to a hyphen.
fn matches(measure: &str, name: &str) -> bool {
    measure.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Returns the definition of the command line, where `--only` accepts the names of these measures.
fn accepting(names: Vec<&'static str>) -> Command {
    Options::command().mut_arg("only", |only| only.value_parser(move |name: &str| measure_name(&names, name)))
}

fn measure_name(names: &[&str], name: &str) -> Result<String, String> {
    if names.iter().any(|measure| matches(measure, name)) {
        return Ok(name.to_owned());
    }
    Err(format!("use one of {}", names.join(", ")))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn parse(text: &str) -> Result<Options, clap::Error> {
        let names = vec!["get", "webhooks-rate", "webhooks-latency", "create"];
        let words = format!("bench --binary b --document d {text}");
        Options::from_arg_matches(&accepting(names).try_get_matches_from(words.split_whitespace())?)
    }

    #[test]
    fn run_is_complete_without_restrictions() {
        for text in ["", "--check", "--rounds 3 --turn 1"] {
            assert!(parse(text).unwrap().is_complete(), "{text}");
        }
        for text in ["--quick", "--only get", "--store sqlite", "--texts 1000"] {
            assert!(!parse(text).unwrap().is_complete(), "{text}");
        }
    }

    #[test]
    fn unknown_argument_is_rejected() {
        for text in ["--fast", "--only", "--only web", "--store oracle", "--rounds 0", "--turn long"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_selects_a_measure_or_a_group() {
        let selected = |text: &str| {
            let options = parse(text).unwrap();
            ["get", "webhooks-rate", "webhooks-latency", "create"].map(|name| options.selects(name))
        };
        assert_eq!(selected("--only webhooks"), [false, true, true, false]);
        assert_eq!(selected("--only get --only webhooks-rate"), [true, true, false, false]);
        assert_eq!(selected(""), [true; 4]);
    }
}
