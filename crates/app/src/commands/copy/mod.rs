//! `candor copy`: copies all data from one database to another.

mod ends;
mod failure;
mod progress;

use candor_service::usecases::copy::{CopyError, CopyResult, copy};
use serde_json::{Value, json};

use candor_cli::error::CommandError;
use candor_cli::output::{Output, table};
use candor_settings::{Config, DatabaseUrl};
use ends::Locks;
use progress::Progress;

use failure::CopyCommandError;

/// Number of checksum digits in text output; `--json` has all of them.
const DIGITS: usize = 16;

/// Copies all data and compares both sides at the end. An omitted database is the configured one.
///
/// # Errors
/// [`CopyCommandError`]; invalid arguments.
pub(crate) async fn run(
    config: &Config,
    from: Option<String>,
    to: Option<String>,
    output: Output,
) -> Result<(), CommandError> {
    let database = |name, text: Option<String>| match text {
        Some(text) => candor_settings::database_url(name, &text),
        None => Ok(config.database.clone()),
    };
    let (from, to) = (database("--from", from)?, database("--to", to)?);
    let _locks = Locks::take(&from, &to)?;
    let source = ends::source(&from).await?;
    let target = ends::target(&to).await?;
    let progress = Progress::new(output);
    let copy_result = copy(&*source, &*target, &ends::identity(&from), &progress).await;
    progress.end();
    let report = copy_result.map_err(|error| failure(error, &from, &to))?;
    output.say(&object(&report, &from, &to), &text(&report, &from, &to))
}

fn failure(error: CopyError, from: &DatabaseUrl, to: &DatabaseUrl) -> CommandError {
    let (from, to) = (from.mask_password(), to.mask_password());
    let failure = match error {
        CopyError::NotEmpty(table) => CopyCommandError::NotEmpty { database: to, table },
        CopyError::Other(other) => CopyCommandError::Other { database: to, other },
        CopyError::Differs(tables) => {
            let one = |difference: &candor_service::usecases::copy::Difference| {
                let (source, target) = (difference.source.rows, difference.target.rows);
                format!("{} ({source} rows in the source, {target} in the target)", difference.table)
            };
            let tables = tables.iter().map(one).collect::<Vec<_>>().join(", ");
            CopyCommandError::Differs { from, to, tables }
        }
        CopyError::Source(error) => CopyCommandError::Stopped { database: from, reason: error.to_string() },
        CopyError::Target(error) => CopyCommandError::Stopped { database: to, reason: error.to_string() },
    };
    failure.into()
}

fn object(copied: &CopyResult, from: &DatabaseUrl, to: &DatabaseUrl) -> Value {
    let tables = copied.tables.iter().map(|table| {
        let (rows, checksum) = (table.checksum.rows, table.checksum.text());
        json!({"name": table.name, "rows": rows, "checksum": checksum})
    });
    json!({
        "from": from.mask_password(),
        "to": to.mask_password(),
        "rows": rows(copied),
        "rows_from_before": copied.from_before,
        "tables": tables.collect::<Vec<_>>(),
    })
}

fn text(copied: &CopyResult, from: &DatabaseUrl, to: &DatabaseUrl) -> String {
    let mut lines = vec![["TABLE", "ROWS", "CHECKSUM"].map(str::to_owned).to_vec()];
    lines.extend(copied.tables.iter().map(|table| {
        let digits = table.checksum.text().chars().take(DIGITS).collect();
        vec![table.name.to_owned(), table.checksum.rows.to_string(), digits]
    }));
    let (from, key) = (
        from.mask_password(),
        match (from, to) {
            (DatabaseUrl::Sqlite(_), DatabaseUrl::Postgres(_)) => {
                "set CANDOR_MASTER_KEY to the key ring of the old service, which is in master.key of the data folder \
                 unless CANDOR_MASTER_KEY was set already"
            }
            (DatabaseUrl::Postgres(_), DatabaseUrl::Sqlite(_)) => {
                "keep CANDOR_MASTER_KEY, or write its value into master.key of the data folder with the mode 0600"
            }
            (DatabaseUrl::Sqlite(_), DatabaseUrl::Sqlite(_))
            | (DatabaseUrl::Postgres(_), DatabaseUrl::Postgres(_)) => "keep the master key",
        },
    );
    format!(
        "{}\n\n{} rows of {from} are in {}, the same on both sides. Set CANDOR_DATABASE_URL to the target, and \
         {key}; then start the service on the target, and never again on the source.",
        table(&lines),
        rows(copied),
        to.mask_password()
    )
}

fn rows(copied: &CopyResult) -> u64 {
    copied.tables.iter().map(|table| table.checksum.rows).sum()
}

#[cfg(test)]
mod tests {
    use candor_store_sqlite::SqliteCopy;

    use super::*;
    use crate::store;
    use candor_settings::Setting;

    fn settings(folder: &std::path::Path) -> Config {
        let file = format!("sqlite://{}", folder.join("candor.db").display());
        let flags = vec![(Setting::DataDir, folder.display().to_string()), (Setting::DatabaseUrl, file)];
        Config::load(None, Vec::new(), flags).unwrap().config
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn unfinished_copy_is_opened_by_a_copy_only() {
        let folder = std::env::temp_dir().join(format!("candor-copy-{}", std::process::id()));
        let config = settings(&folder);
        let DatabaseUrl::Sqlite(path) = &config.database else { panic!("{:?}", config.database) };
        {
            let target = ends::target(&config.database).await.unwrap();
            target.begin(("source".to_owned(), "nowhere".to_owned())).await.unwrap();
        }
        let Err(refused) = store::open(&config).await else { panic!("the incomplete copy was opened") };
        assert!(refused.to_string().contains("is not complete; repeat the same `candor copy`"), "{refused}");
        let Err(refused) = ends::source(&config.database).await else { panic!("the incomplete copy was read") };
        assert!(refused.to_string().contains("is not complete"), "{refused}");
        candor_port_storage::copy::CopyTarget::accept(&SqliteCopy::target(path).unwrap()).await.unwrap();
        assert!(store::open(&config).await.is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
