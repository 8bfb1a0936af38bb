//! Tests the example configuration file against the settings.

use std::path::PathBuf;

use super::{Config, LoadedConfig, Setting, SettingOrigin};

/// The example file that packages install.
const EXAMPLE: &str = include_str!("../../../docs/deploy/candor.toml");

fn load(name: &str, text: &str) -> LoadedConfig {
    let path = std::env::temp_dir().join(format!("candor-example-{}-{name}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let config = Config::load(Some(path.clone()), Vec::new(), Vec::new()).unwrap();
    std::fs::remove_file(path).unwrap();
    config
}

/// Returns the example with every setting enabled, by uncommenting lines such as `#listen = "…"`.
fn in_force() -> String {
    let is_setting = |rest: &str| {
        let name = rest.split_once(" = ").map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        })
    };
    let line = |line: &'static str| line.strip_prefix('#').filter(|rest| is_setting(rest)).unwrap_or(line);
    EXAMPLE.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn unedited_example_config_keeps_every_default() {
    let config = load("as-it-is", EXAMPLE);
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    let set_values: Vec<_> =
        config.config.shown.iter().filter(|shown| shown.origin != SettingOrigin::Default).collect();
    assert!(set_values.is_empty(), "{set_values:?}");
}

#[test]
fn example_config_lists_every_setting_with_a_valid_value() {
    let config = load("in-force", &in_force());
    let problems: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    // The example must not contain a usable key, since the documentation is public.
    assert!(matches!(problems.as_slice(), [one] if one.contains("master_key")), "{problems:?}");
    for shown in &config.config.shown {
        assert!(
            matches!(shown.origin, SettingOrigin::File(_)),
            "docs/deploy/candor.toml lacks {}",
            shown.setting.name()
        );
        if let Some(default) = shown.setting.default().filter(|_| shown.setting != Setting::MasterKey) {
            assert_eq!(shown.value.as_deref(), Some(default), "{}", shown.setting.name());
        }
    }
    assert_eq!(config.config.data_dir, PathBuf::from("data"));
    assert!(config.config.smtp.is_some(), "the example has both settings of mail");
}
