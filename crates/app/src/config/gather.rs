//! Collects values from the file, the environment and the flags, each stronger than the one before.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::setting::{FILE_VARIABLE, Origin, PREFIX, Setting, is_foreign, nearest};
use crate::error::Error;

/// What was given for each setting, before it is understood.
#[derive(Debug, Default)]
pub(crate) struct Given(BTreeMap<Setting, (String, Origin)>);

impl Given {
    /// Collects what is given.
    ///
    /// # Errors
    /// [`Error`] naming a file that cannot be read, or a setting that does not exist.
    pub(crate) fn gather(
        file: Option<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        flags: Vec<(Setting, String)>,
    ) -> Result<Self, Error> {
        let mut given = Self::default();
        let variables = variables(environment)?;
        let named = variables.iter().find(|(name, _)| name == FILE_VARIABLE).map(|(_, value)| PathBuf::from(value));
        if let Some(path) = file.or(named) {
            given.read_file(&path)?;
        }
        for (name, value) in variables.into_iter().filter(|(name, _)| !is_foreign(name)) {
            given.put(setting_of_variable(&name)?, value, Origin::Environment);
        }
        for (setting, value) in flags {
            given.put(setting, value, Origin::Flag);
        }
        Ok(given)
    }

    /// The text for a setting and where it came from.
    pub(crate) fn of(&self, setting: Setting) -> (Option<&str>, Origin) {
        match self.0.get(&setting) {
            Some((text, origin)) => (Some(text), origin.clone()),
            None => (setting.default(), Origin::Default),
        }
    }

    fn put(&mut self, setting: Setting, text: String, origin: Origin) {
        self.0.insert(setting, (text, origin));
    }

    fn read_file(&mut self, path: &Path) -> Result<(), Error> {
        let text = std::fs::read_to_string(path).map_err(Error::io("read the configuration file", path))?;
        let table: Table = text.parse().map_err(|problem: toml::de::Error| {
            let line = problem.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
            Error::ConfigurationFile { path: path.to_owned(), line, reason: problem.message().to_owned() }
        })?;
        let mut values = Vec::new();
        flatten("", table, &mut values);
        for (name, value) in values {
            let Some(setting) = Setting::named(&name) else {
                let hint = nearest(&name, Setting::ALL.iter().map(|(it, _)| *it)).map(str::to_owned);
                return Err(Error::UnknownSetting { given: format!("{name} in {}", path.display()), hint });
            };
            let origin = Origin::File(path.to_owned());
            let malformed = |reason: &str| Error::malformed(setting, &origin, None, reason);
            if self.0.contains_key(&setting) {
                return Err(malformed("it is there twice, as a key and in a table"));
            }
            let text = text_of(value).ok_or_else(|| malformed("expected a text, a number, or a list of texts"))?;
            self.put(setting, text, origin);
        }
        Ok(())
    }
}

/// Our variables. An empty one counts as not given, because that is how other tools hand on what is not set.
fn variables(all: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Vec<(String, String)>, Error> {
    let ours = all.into_iter().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|it| it.starts_with(PREFIX))?;
        Some((name, value))
    });
    let texts = ours.map(|(name, value)| match value.into_string() {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(Error::Malformed { setting: name, value: String::new(), reason: "it is not UTF-8".to_owned() }),
    });
    let texts: Result<Vec<_>, _> = texts.collect();
    Ok(texts?.into_iter().filter(|(name, value)| !value.is_empty() || unknown(name)).collect())
}

fn unknown(variable: &str) -> bool {
    !is_foreign(variable) && setting_of_variable(variable).is_err()
}

fn setting_of_variable(variable: &str) -> Result<Setting, Error> {
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable).to_ascii_lowercase();
    let is_upper = !variable.bytes().any(|it| it.is_ascii_lowercase());
    Setting::named(&name).filter(|_| is_upper).ok_or_else(|| {
        let near = nearest(&name, Setting::ALL.iter().map(|(it, _)| *it)).and_then(Setting::named);
        Error::UnknownSetting { given: variable.to_owned(), hint: near.map(Setting::variable) }
    })
}

/// A table's name is the first part of its settings' names: `url` under `[database]` is `database_url`.
fn flatten(prefix: &str, table: Table, out: &mut Vec<(String, Value)>) {
    for (name, value) in table {
        let name = if prefix.is_empty() { name } else { format!("{prefix}_{name}") };
        match value {
            Value::Table(inner) => flatten(&name, inner, out),
            other => out.push((name, other)),
        }
    }
}

/// Lists are written with commas in the environment, and may be real ones in a file.
fn text_of(value: Value) -> Option<String> {
    match value {
        Value::String(it) => Some(it),
        Value::Integer(it) => Some(it.to_string()),
        Value::Array(items) => {
            let texts: Option<Vec<String>> = items
                .into_iter()
                .map(|it| match it {
                    Value::String(text) => Some(text),
                    _ => None,
                })
                .collect();
            texts.map(|it| it.join(","))
        }
        Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) | Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn file(name: &str, text: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("candor-config-{}-{name}.toml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    }

    fn refused(outcome: Result<Given, Error>) -> String {
        outcome.unwrap_err().to_string()
    }

    #[test]
    fn flags_beat_the_environment_which_beats_the_file_which_beats_defaults() {
        let path = file("order", "listen = \"a\"\n[database]\nurl = \"a\"\npool = 3\n");
        let variables = [("CANDOR_LISTEN", "b"), ("CANDOR_DATABASE_URL", "b"), ("HOME", "x")];
        let flags = vec![(Setting::Listen, "c".to_owned())];
        let given = Given::gather(Some(path.clone()), environment(&variables), flags).unwrap();
        let found = [Setting::Listen, Setting::DatabaseUrl, Setting::DatabasePool, Setting::Log].map(|it| given.of(it));
        std::fs::remove_file(&path).unwrap();
        let wanted = [
            (Some("c"), Origin::Flag),
            (Some("b"), Origin::Environment),
            (Some("3"), Origin::File(path)),
            (Some("info"), Origin::Default),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn an_unknown_setting_is_named_and_the_nearest_offered() {
        let problem = refused(Given::gather(None, environment(&[("CANDOR_LISTN", "")]), Vec::new()));
        assert!(problem.contains("CANDOR_LISTN") && problem.contains("CANDOR_LISTEN"), "{problem}");
        for text in ["colour = 1", "[database]\ncolour = 1", "[a.b]\nc = 1"] {
            let path = file("unknown", text);
            let problem = refused(Given::gather(Some(path.clone()), Vec::new(), Vec::new()));
            std::fs::remove_file(&path).unwrap();
            assert!(problem.contains("is not a setting"), "{problem}");
        }
    }

    #[test]
    fn variables_of_clients_and_tests_are_none_of_ours() {
        let variables = [("CANDOR_API_KEY", "x"), ("CANDOR_TEST_DATABASE_URL", "x"), ("CANDOR_CI_FAST", "x")];
        assert!(Given::gather(None, environment(&variables), Vec::new()).is_ok());
        assert!(Given::gather(None, environment(&[("CANDOR_listen", "x")]), Vec::new()).is_err());
    }

    #[test]
    fn an_empty_variable_is_not_given() {
        let given = Given::gather(None, environment(&[("CANDOR_LISTEN", "")]), Vec::new()).unwrap();
        assert_eq!(given.of(Setting::Listen), (Some("127.0.0.1:8080"), Origin::Default));
    }

    #[test]
    fn a_broken_file_is_named_with_the_line() {
        let path = file("broken", "listen = \"a\"\n\nlog = = 1\n");
        let problem = refused(Given::gather(Some(path.clone()), Vec::new(), Vec::new()));
        std::fs::remove_file(&path).unwrap();
        assert!(problem.contains(&format!("{}:3", path.display())), "{problem}");
        let problem = refused(Given::gather(Some(path.clone()), Vec::new(), Vec::new()));
        assert!(problem.contains(&path.display().to_string()), "{problem}");
    }

    #[test]
    fn a_value_of_another_kind_or_twice_is_refused() {
        for text in ["listen = true", "database_url = \"a\"\n[database]\nurl = \"b\"", "cors_origins = [1]"] {
            let path = file("kinds", text);
            assert!(Given::gather(Some(path.clone()), Vec::new(), Vec::new()).is_err(), "{text}");
            std::fs::remove_file(&path).unwrap();
        }
        let path = file("list", "[cors]\norigins = [\"https://a.example\", \"https://b.example\"]");
        let given = Given::gather(Some(path.clone()), Vec::new(), Vec::new()).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(given.of(Setting::CorsOrigins).0, Some("https://a.example,https://b.example"));
    }
}
