//! Collects values from the file, the environment and the flags. Later sources override earlier ones.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::failure::SettingError;
use super::setting::{FILE_VARIABLE, PREFIX, Setting, SettingOrigin, find_similar, is_foreign};
use candor_cli::error::IoError;

/// Unparsed values of the settings, with their sources.
#[derive(Debug, Default)]
pub(crate) struct RawSettings {
    values: BTreeMap<Setting, (String, SettingOrigin)>,
    /// Errors in the sources, such as an unknown setting in the file.
    pub(crate) problems: Vec<SettingError>,
    /// Warnings about ignored names that may have been meant as settings.
    pub(crate) warnings: Vec<String>,
}

impl RawSettings {
    /// Collects all values and all problems, so that the operator can correct them at once.
    pub(crate) fn gather(
        file: Option<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        flags: Vec<(Setting, String)>,
    ) -> Self {
        let mut settings = Self::default();
        let variables = variables(environment);
        let file_path =
            variables.iter().find(|(name, _)| name == FILE_VARIABLE).map(|(_, value)| PathBuf::from(value));
        if let Some(path) = file.or(file_path) {
            settings.read_file(&path);
        }
        for (name, value) in &variables {
            settings.read_variable(name, value);
        }
        for (setting, value) in flags {
            settings.put(setting, value, SettingOrigin::Flag);
        }
        settings
    }

    /// Returns the text and the source of a setting.
    pub(crate) fn value(&self, setting: Setting) -> (Option<&str>, SettingOrigin) {
        match self.values.get(&setting) {
            Some((text, origin)) => (Some(text), origin.clone()),
            None => (setting.default(), SettingOrigin::Default),
        }
    }

    fn put(&mut self, setting: Setting, text: String, origin: SettingOrigin) {
        self.values.insert(setting, (text, origin));
    }

    /// Reads one environment variable. An unknown name is a warning, because other programs may use `CANDOR_` too.
    fn read_variable(&mut self, variable: &str, value: &OsStr) {
        if is_foreign(variable, value) {
            return;
        }
        let name = variable.strip_prefix(PREFIX).unwrap_or(variable).to_ascii_lowercase();
        let is_upper = !variable.bytes().any(|byte| byte.is_ascii_lowercase());
        let Some(setting) = Setting::find_by_name(&name).filter(|_| is_upper) else {
            self.warnings.push(unknown_variable(variable, find_similar(&name)));
            return;
        };
        match value.to_str() {
            // Empty counts as unset, because that is how Compose files and shells pass unset variables on.
            Some("") => {}
            Some(text) => self.put(setting, text.to_owned(), SettingOrigin::Environment),
            None => self.problems.push(SettingError::new_malformed(
                setting,
                &SettingOrigin::Environment,
                None,
                "the value is \
                                                                                                 not UTF-8",
            )),
        }
    }

    fn read_file(&mut self, path: &Path) {
        let table = match parse_file(path) {
            Ok(table) => table,
            Err(problem) => return self.problems.push(problem),
        };
        let mut values = Vec::new();
        flatten("", table, &mut values);
        let origin = SettingOrigin::File(path.to_owned());
        for (name, value) in values {
            let Some(setting) = Setting::find_by_name(&name) else {
                let place = format!("{name} in {}", path.display());
                let hint = find_similar(&name).map(|setting| setting.name().to_owned());
                self.problems.push(SettingError::Unknown { given: place, hint });
                continue;
            };
            let to_error = |reason: &str| SettingError::new_malformed(setting, &origin, None, reason);
            if self.values.contains_key(&setting) {
                self.problems.push(SettingError::Twice { setting: origin.spell(setting) });
                continue;
            }
            match text_of(value) {
                Some(text) => self.put(setting, text, origin.clone()),
                None => self.problems.push(to_error("expected a text, a number, or a list of texts")),
            }
        }
    }
}

/// Returns the environment variables that begin with `CANDOR_`, sorted by name.
fn variables(all: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(String, OsString)> {
    let ours = all.into_iter().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|name| name.starts_with(PREFIX))?;
        Some((name, value))
    });
    let mut ours: Vec<_> = ours.collect();
    ours.sort();
    ours
}

fn unknown_variable(variable: &str, near: Option<Setting>) -> String {
    let hint = near.map_or(String::new(), |setting| format!("; did you mean {}?", setting.variable()));
    format!("{variable} is not a setting and is ignored{hint}")
}

fn parse_file(path: &Path) -> Result<Table, SettingError> {
    let text =
        std::fs::read_to_string(path).map_err(IoError::naming_operation("read the configuration file", path))?;
    text.parse().map_err(|problem: toml::de::Error| {
        let line = problem.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
        let reason = problem.message();
        // The parser takes an address or a text without quotes for the beginning of a number or date.
        let is_bare = ["invalid float", "invalid integer", "invalid datetime", "string values must be quoted"];
        let is_bare = is_bare.iter().any(|words| reason.contains(words));
        let hint = if is_bare { ", or a text without quotes: put the value in quotes" } else { "" };
        SettingError::File { path: path.to_owned(), line, reason: format!("{reason}{hint}") }
    })
}

/// Flattens nested tables: `url` under `[database]` becomes `database_url`.
fn flatten(prefix: &str, table: Table, out: &mut Vec<(String, Value)>) {
    for (name, value) in table {
        let name = if prefix.is_empty() { name } else { format!("{prefix}_{name}") };
        if let Value::Table(inner) = value { flatten(&name, inner, out) } else { out.push((name, value)) }
    }
}

/// Converts a TOML value to text. Arrays become comma-separated lists, as in the environment.
fn text_of(value: Value) -> Option<String> {
    match value {
        Value::String(it) => Some(it),
        Value::Integer(it) => Some(it.to_string()),
        Value::Array(items) => {
            let texts: Option<Vec<String>> = items
                .into_iter()
                .map(|item| if let Value::String(text) = item { Some(text) } else { None })
                .collect();
            texts.map(|text| text.join(","))
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

    fn gather(file: Option<PathBuf>, variables: &[(&str, &str)]) -> RawSettings {
        RawSettings::gather(file, environment(variables), Vec::new())
    }

    fn problems(given: &RawSettings) -> Vec<String> {
        given.problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn setting_sources_rank_flag_environment_file_default() {
        let path = file("order", "listen = \"a\"\n[database]\nurl = \"a\"\npool = 3\n");
        let variables = [("CANDOR_LISTEN", "b"), ("CANDOR_DATABASE_URL", "b"), ("HOME", "x")];
        let flags = vec![(Setting::Listen, "c".to_owned())];
        let settings = RawSettings::gather(Some(path.clone()), environment(&variables), flags);
        let values = [Setting::Listen, Setting::DatabaseUrl, Setting::DatabasePool, Setting::Log]
            .map(|setting| settings.value(setting));
        std::fs::remove_file(&path).unwrap();
        let expected_values = [
            (Some("c"), SettingOrigin::Flag),
            (Some("b"), SettingOrigin::Environment),
            (Some("3"), SettingOrigin::File(path)),
            (Some("info"), SettingOrigin::Default),
        ];
        assert_eq!(values, expected_values);
        assert_eq!((problems(&settings), settings.warnings.len()), (vec![], 0));
    }

    #[test]
    fn unknown_variable_is_a_warning_that_names_a_near_match() {
        let settings = gather(None, &[("CANDOR_LISTN", ""), ("CANDOR_FOO", "hunter2"), ("CANDOR_listen", "x")]);
        let expected_warnings = [
            "CANDOR_FOO is not a setting and is ignored",
            "CANDOR_LISTN is not a setting and is ignored; did you mean CANDOR_LISTEN?",
            "CANDOR_listen is not a setting and is ignored; did you mean CANDOR_LISTEN?",
        ];
        assert_eq!(
            (settings.warnings.as_slice(), problems(&settings)),
            (&expected_warnings.map(str::to_owned)[..], vec![])
        );
    }

    #[test]
    fn unknown_key_in_the_config_file_is_an_error() {
        for text in ["colour = 1", "[database]\ncolour = 1", "[a.b]\nc = 1"] {
            let path = file("unknown", text);
            let problem = problems(&gather(Some(path.clone()), &[])).concat();
            std::fs::remove_file(&path).unwrap();
            assert!(problem.contains("is not a setting"), "{problem}");
        }
    }

    #[test]
    fn config_problems_are_all_collected() {
        let path = file("all", "colour = 1\nlisten = true\n[smtp]\nuser = \"x\"\n");
        let settings = gather(Some(path.clone()), &[("CANDOR_LISTN", "x")]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!((settings.problems.len(), settings.warnings.len()), (3, 1), "{:?}", problems(&settings));
    }

    #[test]
    fn variables_of_clients_tests_and_containers_are_ignored() {
        let variables = ["CANDOR_URL", "CANDOR_TEST_DATABASE_URL", "CANDOR_CI_FAST", "CANDOR_SERVICE_HOST"];
        let settings = gather(None, &variables.map(|variable| (variable, "x")));
        assert_eq!((problems(&settings), settings.warnings.len()), (vec![], 0));
    }

    #[test]
    fn empty_variable_counts_as_not_set() {
        let settings = gather(None, &[("CANDOR_LISTEN", "")]);
        assert_eq!(settings.value(Setting::Listen), (Some("127.0.0.1:8080"), SettingOrigin::Default));
    }

    #[test]
    fn malformed_config_file_is_named_with_its_line() {
        let path = file("broken", "listen = \"a\"\n\nlog = = 1\n");
        let problem = problems(&gather(Some(path.clone()), &[])).concat();
        std::fs::remove_file(&path).unwrap();
        assert!(problem.contains(&format!("{}:3", path.display())), "{problem}");
        let problem = problems(&gather(Some(path.clone()), &[])).concat();
        assert!(problem.contains(&path.display().to_string()), "{problem}");
    }

    #[test]
    fn config_value_of_another_type_or_given_twice_is_refused() {
        for text in ["listen = true", "database_url = \"a\"\n[database]\nurl = \"b\"", "cors_origins = [1]"] {
            let path = file("kinds", text);
            assert_eq!(gather(Some(path.clone()), &[]).problems.len(), 1, "{text}");
            std::fs::remove_file(&path).unwrap();
        }
        let path = file("list", "[cors]\norigins = [\"https://a.example\", \"https://b.example\"]");
        let settings = gather(Some(path.clone()), &[]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(settings.value(Setting::CorsOrigins).0, Some("https://a.example,https://b.example"));
    }
}
