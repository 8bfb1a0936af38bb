//! Settings from flags, variables and files, with their problems.

use super::*;

fn load_config(pairs: &[(&str, &str)]) -> LoadedConfig {
    let environment: Vec<(OsString, OsString)> = pairs.iter().map(|(a, b)| (a.into(), b.into())).collect();
    Config::load(None, environment, Vec::new()).unwrap()
}

fn load(pairs: &[(&str, &str)]) -> Config {
    let config = load_config(pairs);
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    config.config
}

fn problems(pairs: &[(&str, &str)]) -> Vec<String> {
    load_config(pairs).problems.iter().map(ToString::to_string).collect()
}

#[test]
fn default_config_uses_the_embedded_database() {
    let config = load(&[]);
    assert_eq!(config.database, DatabaseUrl::Sqlite("data/candor.db".into()));
    assert_eq!(config.listen, SocketAddr::from(([127, 0, 0, 1], 8080)));
    let names: Vec<Setting> = config.shown.iter().map(|item| item.setting).collect();
    assert_eq!(names, Setting::ALL.iter().map(|(_, setting)| *setting).collect::<Vec<_>>());
}

#[test]
fn embedded_database_path_follows_the_data_folder() {
    let config = load(&[("CANDOR_DATA_DIR", "elsewhere")]);
    assert_eq!(config.database, DatabaseUrl::Sqlite("elsewhere/candor.db".into()));
}

#[test]
fn shown_config_contains_no_secret() {
    let key = "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let url = "postgres://app:hunter2@db/candor";
    let config = load(&[("CANDOR_MASTER_KEY", key), ("CANDOR_DATABASE_URL", url)]);
    let shown_value = |setting| config.shown.iter().find(|item| item.setting == setting).cloned();
    let shown_setting = |setting, value: &str| {
        Some(ShownSetting { setting, value: Some(value.to_owned()), origin: SettingOrigin::Environment })
    };
    assert_eq!(shown_value(Setting::MasterKey), shown_setting(Setting::MasterKey, "***"));
    assert_eq!(
        shown_value(Setting::DatabaseUrl),
        shown_setting(Setting::DatabaseUrl, "postgres://app:***@db/candor")
    );
    assert!(!format!("{config:?}").contains("hunter2") && !format!("{config:?}").contains("AAAA"));
}

#[test]
fn malformed_master_key_error_offers_no_default() {
    let problems = problems(&[("CANDOR_MASTER_KEY", "hunter2")]).concat();
    assert!(problems.contains("`master.key`") && !problems.contains("get the default"), "{problems}");
}

#[test]
fn smtp_needs_a_sender_and_is_shown_without_password() {
    let url = ("CANDOR_SMTP_URL", "smtps://app:hunter2@mail.example.com");
    let missing_sender = problems(&[url]);
    assert!(matches!(missing_sender.as_slice(), [one] if one.contains("CANDOR_SMTP_FROM")), "{missing_sender:?}");
    let config = load(&[url, ("CANDOR_SMTP_FROM", "Candor <no-reply@example.com>")]);
    assert_eq!(config.smtp.as_ref().map(|smtp| smtp.server.port), Some(465));
    let url_setting = config.shown.iter().find(|item| item.setting == Setting::SmtpUrl);
    assert_eq!(url_setting.and_then(|item| item.value.as_deref()), Some("smtps://app:***@mail.example.com"));
    assert!(!format!("{config:?}").contains("hunter2"));
    assert_eq!(load(&[("CANDOR_SMTP_FROM", "no-reply@example.com")]).smtp, None);
}

#[test]
fn replica_needs_a_server_and_is_shown_without_password() {
    let replica = ("CANDOR_DATABASE_REPLICA_URL", "postgres://app:hunter2@standby/candor");
    let missing_server = problems(&[replica]);
    assert!(
        matches!(missing_server.as_slice(), [one] if one.contains("CANDOR_DATABASE_URL")),
        "{missing_server:?}"
    );
    let config = load(&[replica, ("CANDOR_DATABASE_URL", "postgres://app:hunter2@db/candor")]);
    assert_eq!(config.database_replica.as_ref().map(Secret::reveal), Some(replica.1));
    let replica_setting = config.shown.iter().find(|item| item.setting == Setting::DatabaseReplicaUrl);
    assert_eq!(replica_setting.and_then(|item| item.value.as_deref()), Some("postgres://app:***@standby/candor"));
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn redis_url_is_shown_without_password() {
    let config = load(&[("CANDOR_RATE_LIMITER", "rediss://app:hunter2@cache.example:6380/1")]);
    assert!(matches!(&config.rate_limiter, RateLimiter::Redis(it) if it.port == 6380));
    let shown_url = config
        .shown
        .iter()
        .find(|item| item.setting == Setting::RateLimiter)
        .and_then(|item| item.value.as_deref());
    assert_eq!(shown_url, Some("rediss://app:***@cache.example:6380/1"));
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn malformed_value_is_named_without_its_secret() {
    for (variable, value) in [
        ("CANDOR_LISTEN", "nowhere"),
        ("CANDOR_ADMIN_LISTEN", "8080"),
        ("CANDOR_DATABASE_URL", "mysql://app:hunter2@db"),
        ("CANDOR_DATABASE_REPLICA_URL", "mysql://app:hunter2@standby"),
        ("CANDOR_DATABASE_POOL", "0"),
        ("CANDOR_MASTER_KEY", "hunter2"),
        ("CANDOR_PUBLIC_URL", "x"),
        ("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "localhost"),
        ("CANDOR_WEBHOOKS_RETRY_SCHEDULE", "later"),
        ("CANDOR_WEBHOOKS_TIMEOUT", "61s"),
        ("CANDOR_WEBHOOKS_MAX_SUBSCRIPTIONS", "0"),
        ("CANDOR_IDENTITY_TRUSTED_NETWORKS", "10.0.0.0/33"),
        ("CANDOR_ORGANIZATION_MAX_KEYS", "10001"),
        ("CANDOR_ORGANIZATION_QUOTA_FACTOR", "0"),
        ("CANDOR_NOTIFICATIONS_RETENTION", "1h"),
        ("CANDOR_SMTP_URL", "smtp://app:hunter2@mail.example.com?tls=none"),
        ("CANDOR_SMTP_FROM", "nobody"),
        ("CANDOR_SWEEP_INTERVAL", "soon"),
        ("CANDOR_DRAIN_DELAY", "-1s"),
        ("CANDOR_RATE_LIMITER", "redis://app:hunter2@cache/x"),
        ("CANDOR_CORS_ORIGINS", "app.example.com"),
        ("CANDOR_TRUSTED_PROXIES", "all"),
        ("CANDOR_LOG", "candor=loud"),
        ("CANDOR_LOG_FORMAT", "yaml"),
    ] {
        let problems = problems(&[(variable, value)]);
        let [problem] = problems.as_slice() else { panic!("one problem, not {problems:?}") };
        assert!(problem.contains(variable) && !problem.contains("hunter2"), "{problem}");
    }
}

#[test]
fn config_problems_do_not_hide_the_shown_values() {
    let pairs = [("CANDOR_LISTEN", "nowhere"), ("CANDOR_LOG_FORMAT", "yaml"), ("CANDOR_SMTP_URL", "x")];
    assert_eq!(problems(&pairs).len(), 3);
    let shown_settings = load_config(&pairs).config.shown;
    let listen = shown_settings.iter().find(|item| item.setting == Setting::Listen).unwrap();
    assert_eq!((listen.value.as_deref(), &listen.origin), (Some("nowhere"), &SettingOrigin::Environment));
    assert_eq!(shown_settings.len(), Setting::ALL.len());
}

#[test]
fn settings_page_lists_every_setting_with_its_default() {
    let page = include_str!("../../../docs/settings.md");
    for (_, setting) in Setting::ALL {
        let row = format!("| `{}` | ", setting.variable());
        let (_, rest) = page.split_once(&row).unwrap_or_else(|| panic!("no row {row}"));
        let default_cell = setting.default().map_or(String::new(), |default| format!("`{default}` |"));
        assert!(rest.starts_with(&default_cell), "{row}{default_cell}");
    }
}
