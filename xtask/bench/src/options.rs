//! The command line.

use crate::data::Size;
use crate::measures;
use crate::store::Store;
use clap::Parser;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, Parser)]
#[command(name = "cargo xtask bench", about = "Measures the service against pgbench on the same machine")]
pub(crate) struct Options {
    /// Binary of the service; `cargo xtask bench` sets it
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: PathBuf,
    /// Document that a complete run on both stores writes; `cargo xtask bench` sets it
    #[arg(long, value_name = "FILE")]
    pub(crate) document: Option<PathBuf>,
    /// Measure a tenth of the data in fewer and shorter turns
    #[arg(long)]
    pub(crate) quick: bool,
    /// Fail if a limit is missed
    #[arg(long)]
    pub(crate) check: bool,
    /// Run only this measure; may be repeated
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(measures::names()))]
    only: Vec<String>,
    /// Measure only this store
    #[arg(long)]
    store: Option<Store>,
    /// Turns of each contender
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Seconds of each turn
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u16).range(1..))]
    turn: Option<u16>,
}

impl Options {
    pub(crate) fn selects(&self, measure: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == measure)
    }

    pub(crate) fn measures(&self, store: Store) -> bool {
        self.store.is_none_or(|only| only == store)
    }

    /// Returns `true` if the options measure everything, so that the results can replace the document.
    pub(crate) fn is_complete(&self) -> bool {
        !self.quick && self.only.is_empty() && self.store.is_none()
    }

    pub(crate) fn size(&self) -> Size {
        Size { people: 10_000, observations: if self.quick { 100_000 } else { 1_000_000 } }
    }

    /// Number of texts that are searched.
    pub(crate) fn texts(&self) -> u32 {
        self.size().observations / 2
    }

    /// Number of turns of each contender.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.map_or(if self.quick { 2 } else { 3 }, usize::from)
    }

    pub(crate) fn turn(&self) -> Duration {
        Duration::from_secs(self.turn.map_or(if self.quick { 1 } else { 2 }, u64::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(format!("bench --binary b {text}").split_whitespace())
    }

    #[test]
    fn run_is_complete_without_restrictions() {
        for (text, is_complete) in [
            ("", true),
            ("--rounds 5 --turn 1", true),
            ("--quick", false),
            ("--only get", false),
            ("--store sqlite", false),
        ] {
            assert_eq!(parse(text).unwrap().is_complete(), is_complete, "{text}");
        }
        assert!(parse("--only nothing").is_err());
    }
}
