//! Where a service keeps its data: a folder of its own, and on Postgres a database of its own.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use candor_test_postgres::{TestDatabase, is_spread, template};

use super::process::candor;

/// A ring of one key, for services that share a database.
const MASTER_KEY: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A folder that goes with this value.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("candor-e2e-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where the data is, ready to be served.
pub(crate) struct Place {
    pub(crate) folder: Folder,
    pub(crate) settings: Vec<(String, String)>,
    _database: Option<TestDatabase>,
}

impl Place {
    /// The embedded database in a new folder.
    pub(crate) fn sqlite() -> Self {
        Self { folder: Folder::new(), settings: Vec::new(), _database: None }
    }

    /// A new, migrated database; `None`, after saying so, where there is no PostgreSQL.
    pub(crate) fn postgres() -> Option<Self> {
        if is_spread() {
            return Self::on_a_cluster();
        }
        let place = Self::empty_postgres()?;
        candor(&place, &["migrate"]).succeeded();
        Some(place)
    }

    /// A new database whose tables are spread over the nodes of a cluster, which takes so long that it is done once.
    fn on_a_cluster() -> Option<Self> {
        let distribute = |url: &str| {
            candor(&Self::at(url), &["migrate", "--distribute", "--shards", "4"]).succeeded();
            Ok::<_, Infallible>(())
        };
        let database = TestDatabase::create(&template("_binary").unwrap(), distribute).unwrap()?;
        let place = Self::at(database.url());
        Some(Self { _database: Some(database), ..place })
    }

    /// A new database without a schema; `None`, after saying so, where there is no PostgreSQL.
    pub(crate) fn empty_postgres() -> Option<Self> {
        let database = TestDatabase::empty().unwrap()?;
        let place = Self::at(database.url());
        Some(Self { _database: Some(database), ..place })
    }

    /// A database on a server of the test's own.
    pub(crate) fn at(url: &str) -> Self {
        let settings = [("CANDOR_DATABASE_URL", url), ("CANDOR_MASTER_KEY", MASTER_KEY)];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { folder: Folder::new(), settings, _database: None }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// An organization and a key without limits, with these scopes and options. Makes the database, if there is none.
    pub(crate) fn key(&self, scopes: &str, options: &[&str]) -> Key {
        candor(self, &["migrate"]).succeeded();
        let made = candor(self, &["org", "create", "--name", "Tests", "--json"]).json();
        let organization = made["organization_id"].as_str().unwrap().to_owned();
        self.key_of(&organization, scopes, options)
    }

    /// A key of an organization.
    pub(crate) fn key_of(&self, organization: &str, scopes: &str, options: &[&str]) -> Key {
        let unlimited = ["--reads-per-minute", "1000000", "--writes-per-minute", "1000000"];
        let create = ["key", "create", "--org", organization, "--name", "test", "--scopes", scopes, "--json"];
        let made = candor(self, &[&create, &unlimited[..], options].concat()).json();
        let text = |member: &str| made[member].as_str().unwrap().to_owned();
        Key { organization: organization.to_owned(), id: text("id"), secret: text("key") }
    }
}

/// A key that was made.
pub(crate) struct Key {
    pub(crate) organization: String,
    pub(crate) id: String,
    pub(crate) secret: String,
}
