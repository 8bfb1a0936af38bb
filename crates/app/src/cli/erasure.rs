//! Arguments of `candor erasure`.

use std::path::PathBuf;

use candor_domain::id::ErasureId;
use clap::Subcommand;

/// Subcommands of `candor erasure`.
#[derive(Debug, Subcommand)]
pub(crate) enum ErasureCommand {
    /// Print the ledger: ids and times of all erasures, legal holds and revocations of API keys, as JSON lines
    ///
    /// Keep the ledger apart from the backups, and renew it after each erasure, each change of a legal hold and
    /// each revocation of an API key, for example every hour. The service may run.
    #[command(after_help = "Example:\n  candor erasure ledger > /var/lib/candor-ledger/erasures.jsonl")]
    Ledger,
    /// Repeat the erasures of a ledger that a restored database does not have
    ///
    /// Run the command after a restore and before the service starts, and again after an interruption. First, the
    /// command revokes API keys, and sets and ends legal holds, as in the ledger. The exit status is 0 if nothing
    /// is left to do: people who are not in the database need no erasure, and an erasure from which a hold keeps
    /// data waits until the hold ends.
    #[command(after_help = "Example:\n  candor erasure apply /var/lib/candor-ledger/erasures.jsonl")]
    Apply {
        /// File written by `candor erasure ledger`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Erasure to repeat although its line has no seal of this master key, or the person is under a legal hold;
        /// repeatable
        #[arg(long, value_name = "ID")]
        force: Vec<ErasureId>,
    },
    /// Rewrite the tables that had rows of erased people, so that their files no longer contain them
    ///
    /// On PostgreSQL, each table is locked while it is rewritten, and needs its size as free space. The command
    /// waits at most 10 seconds for a lock. On SQLite, the whole file is rewritten: writes wait meanwhile, and its
    /// folder needs twice its size as free space.
    #[command(after_help = "Example:\n  candor erasure scrub")]
    Scrub,
}
