//! Data of a service under test: a temporary folder, and on PostgreSQL a database of its own.

use std::convert::Infallible;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use candor_test_postgres::{TestDatabase, is_spread, template};

use super::process::candor;

/// A key ring with one key, for services that share a database.
const MASTER_KEY: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A temporary folder that is removed on drop.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Creates an empty folder. A test that was killed may have left one with the same name.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("candor-e2e-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Self(path),
                Err(error) => assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{}", path.display()),
            }
        }
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

/// Folder, settings and database that a service is started with.
pub(crate) struct Installation {
    pub(crate) folder: Folder,
    pub(crate) settings: Vec<(String, String)>,
    _database: Option<TestDatabase>,
}

impl Installation {
    /// Creates an installation with the embedded database in a new folder.
    pub(crate) fn sqlite() -> Self {
        Self { folder: Folder::new(), settings: Vec::new(), _database: None }
    }

    /// Creates an installation with a new, migrated database. Prints a notice and returns `None` without
    /// PostgreSQL.
    pub(crate) fn postgres() -> Option<Self> {
        if is_spread() {
            return Self::on_a_cluster();
        }
        let place = Self::empty_postgres()?;
        candor(&place, &["migrate"]).succeeded();
        Some(place)
    }

    /// Creates an installation with a distributed database, cloned from a template because distributing tables
    /// takes long. `None` without PostgreSQL.
    fn on_a_cluster() -> Option<Self> {
        let distribute = |url: &str| {
            candor(&Self::with_database(url), &["migrate", "--distribute", "--shards", "4"]).succeeded();
            Ok::<_, Infallible>(())
        };
        let database = TestDatabase::create(&template("_binary").unwrap(), distribute).unwrap()?;
        let place = Self::with_database(database.url());
        Some(Self { _database: Some(database), ..place })
    }

    /// Creates an installation with an empty database. Prints a notice and returns `None` without PostgreSQL.
    pub(crate) fn empty_postgres() -> Option<Self> {
        let database = TestDatabase::empty().unwrap()?;
        let place = Self::with_database(database.url());
        Some(Self { _database: Some(database), ..place })
    }

    /// Creates an installation with a database on a server that the test started.
    pub(crate) fn with_database(url: &str) -> Self {
        let settings = [("CANDOR_DATABASE_URL", url), ("CANDOR_MASTER_KEY", MASTER_KEY)];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { folder: Folder::new(), settings, _database: None }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Creates an organization and a key without rate limits, with these scopes and options. Migrates the
    /// database first.
    pub(crate) fn key(&self, scopes: &str, options: &[&str]) -> Key {
        candor(self, &["migrate"]).succeeded();
        let organization_json = candor(self, &["org", "create", "--name", "Tests", "--json"]).json();
        let organization = organization_json["organization_id"].as_str().unwrap().to_owned();
        self.key_of(&organization, scopes, options)
    }

    /// Creates a key for an existing organization.
    pub(crate) fn key_of(&self, organization: &str, scopes: &str, options: &[&str]) -> Key {
        let unlimited_rates = ["--reads-per-minute", "1000000", "--writes-per-minute", "1000000"];
        let create = ["key", "create", "--org", organization, "--name", "test", "--scopes", scopes, "--json"];
        let key_json = candor(self, &[&create, &unlimited_rates[..], options].concat()).json();
        let text = |member: &str| key_json[member].as_str().unwrap().to_owned();
        Key { organization: organization.to_owned(), id: text("id"), secret: text("key") }
    }
}

/// A created API key.
pub(crate) struct Key {
    pub(crate) organization: String,
    pub(crate) id: String,
    pub(crate) secret: String,
}
