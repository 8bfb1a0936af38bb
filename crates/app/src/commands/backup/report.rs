//! Output of `candor backup` and `candor restore`: contents of the copy, and the files that belong to it.

use std::path::Path;

use candor_service::context::vault::KeyName;
use candor_store_sqlite::BackupContents;
use serde_json::{Value, json};

use crate::wiring::{self, SealingKeys};
use candor_cli::output::table;
use candor_settings::Config;

/// A copy that passed the check.
pub(super) struct Report<'a> {
    pub(super) contents: &'a BackupContents,
    pub(super) key: &'a SealingKeys,
    pub(super) config: &'a Config,
}

impl Report<'_> {
    /// Returns the JSON answer of `candor backup`.
    pub(super) fn backup_json(&self, file: &Path) -> Value {
        let mut object = self.object();
        object["file"] = json!(file);
        object
    }

    /// Returns the JSON answer of `candor restore`.
    pub(super) fn restore_json(&self, database: &Path, file: &Path) -> Value {
        let mut object = self.backup_json(file);
        object["database"] = json!(database);
        object
    }

    pub(super) fn backup_text(&self, file: &Path) -> String {
        let keys = self.sealed_by();
        let keys = if keys.is_empty() {
            "It contains no encrypted values.".to_owned()
        } else {
            format!(
                "Store the master key {keys} separately: the backup does not contain it, and a restore \
                     needs it."
            )
        };
        let state = match self.key {
            SealingKeys::Fit => String::new(),
            SealingKeys::None => " No master key is configured here.".to_owned(),
            SealingKeys::Others(reason) => format!(" The configured master key is another one: {reason}."),
        };
        let (rows, bytes) = (self.rows(), self.contents.bytes);
        format!(
            "{}\n\n{rows} rows in {}, {bytes} bytes, checked. {keys}{state}",
            self.rows_of_tables(),
            file.display()
        )
    }

    pub(super) fn restore_text(&self, database: &Path, file: &Path) -> String {
        let mut text = format!(
            "{}\n\n{} rows of {} are in {}.",
            self.rows_of_tables(),
            self.rows(),
            file.display(),
            database.display()
        );
        if !self.contents.pending.is_empty() {
            text.push_str(" The next start applies the missing migrations.");
        }
        text.push_str(&format!("\n{}", self.next_steps()));
        for file in wiring::open_files(self.config) {
            text.push_str(&format!("\nOther users can read {}: {}", file.path.display(), file.remedy));
        }
        text
    }

    /// Returns the instructions after a restore, in their order: to provide a missing master key, to repeat the erasures
    /// that the backup does not have, and to start the service.
    fn next_steps(&self) -> String {
        let keys = self.sealed_by();
        let place = wiring::master_key_file(self.config);
        let put = format!(
            "put the file of the right master key back as {} with the mode 0600, or set CANDOR_MASTER_KEY to that key",
            place.display()
        );
        let key = match self.key {
            SealingKeys::Fit => "The master key fits.".to_owned(),
            SealingKeys::None => format!("Still missing: the master key {keys}. First {put}."),
            SealingKeys::Others(reason) => {
                format!("The configured master key does not fit: {reason}. First {put}.")
            }
        };
        format!(
            "{key}\nAPI keys that were revoked or rotated since the backup work again, with their old secrets.\nBefore the \
             start, repeat the revocations and erasures since the backup: `candor erasure apply LEDGER`, with the file that \
             `candor erasure ledger` wrote last. Revoke rotated keys, and without a ledger also the keys that were \
             revoked since the backup: `candor key list`, `candor key revoke`.\nThen start the service: `candor serve`."
        )
    }

    fn object(&self) -> Value {
        let BackupContents { bytes, tables, master_keys, pending, .. } = self.contents;
        let tables = tables.iter().map(|(name, rows)| json!({"name": name, "rows": rows}));
        let keys = master_keys.iter().map(|key| json!({"id": key.key_id, "fingerprint": key.fingerprint}));
        let state = match self.key {
            SealingKeys::Fit => "fits",
            SealingKeys::None => "missing",
            SealingKeys::Others(_) => "other",
        };
        json!({
            "bytes": bytes,
            "rows": self.rows(),
            "tables": tables.collect::<Vec<_>>(),
            "sealed_by": keys.collect::<Vec<_>>(),
            "master_key": state,
            "pending_migrations": pending,
        })
    }

    fn rows(&self) -> u64 {
        self.contents.tables.iter().map(|(_, rows)| rows).sum()
    }

    fn rows_of_tables(&self) -> String {
        let heading = vec!["TABLE".to_owned(), "ROWS".to_owned()];
        let nonempty_tables = self.contents.tables.iter().filter(|(_, rows)| *rows > 0);
        let lines = nonempty_tables.map(|(name, rows)| vec![name.clone(), rows.to_string()]);
        table(&std::iter::once(heading).chain(lines).collect::<Vec<_>>())
    }

    /// Returns ids and fingerprints of the keys that sealed secrets in the copy.
    fn sealed_by(&self) -> String {
        let name = |key: &candor_port_storage::upkeep::MasterKey| {
            KeyName { id: key.key_id.clone(), fingerprint: key.fingerprint.clone() }.to_string()
        };
        self.contents.master_keys.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}
