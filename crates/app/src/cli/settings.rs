//! Flags of the settings. Every command accepts all of them, but its help shows only the relevant ones.

use clap::{Arg, ArgMatches, Command};

use candor_settings::Setting;

/// Heading of the settings' flags in the help of a command.
const HEADING: &str = "Settings";

/// Id of the flag that names the file with settings.
const CONFIG: &str = "config";
/// Id of the flag for output in JSON.
const JSON: &str = "json";

/// Settings shown for commands that only use the database.
const OF_THE_DATABASE: [Setting; 5] =
    [Setting::DatabaseUrl, Setting::DatabasePool, Setting::DataDir, Setting::Log, Setting::LogFormat];

/// Settings shown for commands that only call the service's health checks.
const OF_THE_LISTENERS: [Setting; 2] = [Setting::Listen, Setting::AdminListen];

/// Commands that run or check a service; their help shows all settings.
const SERVICE: [&str; 4] = ["dev", "serve", "config", "doctor"];
/// Commands that only use the database; their help shows [`OF_THE_DATABASE`].
const DATABASE: [&str; 8] = ["migrate", "copy", "backup", "restore", "org", "key", "identity", "rekey"];
/// Commands that create links; their help also shows the base of links.
const LINKS: [&str; 1] = ["console"];

/// Commands that read no settings; their help does not show the file with settings.
const WITHOUT_SETTINGS: [&str; 8] =
    ["login", "logout", "profiles", "api", "export", "import", "completions", "manual"];

/// Adds the relevant settings to each command's help, and removes the general flags that the command does not use.
pub(super) fn with_settings_shown(root: Command) -> Command {
    let general_flags: Vec<Arg> = root.get_arguments().cloned().collect();
    let hide_flag = |command: Command, id: &str| {
        command.args(general_flags.iter().filter(|flag| flag.get_id() == id).map(|flag| flag.clone().hide(true)))
    };
    root.mut_subcommands(|command| match command.get_name() {
        name if WITHOUT_SETTINGS.contains(&name) => hide_flag(command, CONFIG),
        "connector" => command
            .mut_subcommand("create", |create| create.args(flags(OF_THE_DATABASE)))
            .mut_subcommand("check", |check| hide_flag(check, CONFIG)),
        // The ledger has lines of JSON in any case.
        "erasure" => {
            command.args(flags(OF_THE_DATABASE)).mut_subcommand("ledger", |ledger| hide_flag(ledger, JSON))
        }
        name if SERVICE.contains(&name) => command.args(flags(Setting::ALL.iter().map(|(_, setting)| *setting))),
        name if DATABASE.contains(&name) => command.args(flags(OF_THE_DATABASE)),
        name if LINKS.contains(&name) => {
            command.args(flags(OF_THE_DATABASE.into_iter().chain([Setting::Listen, Setting::PublicUrl])))
        }
        "healthcheck" => command.args(flags(OF_THE_LISTENERS)),
        _ => command,
    })
}

/// Adds hidden flags for all settings except the master key to the program, and thereby to every command, also to
/// commands that ignore them. Scripts can then pass the same flags to all commands.
pub(super) fn accept_settings(root: Command) -> Command {
    root.args(flags(Setting::ALL.iter().map(|(_, setting)| *setting)).map(|flag| flag.hide(true)))
}

/// Returns the settings given on the command line.
pub(super) fn given_settings(matches: &ArgMatches) -> Vec<(Setting, String)> {
    let value = |setting: Setting| matches.try_get_one::<String>(setting.name()).ok().flatten().cloned();
    Setting::ALL.iter().filter_map(|(_, setting)| Some((*setting, value(*setting)?))).collect()
}

/// Returns a global flag for each setting that is not secret.
fn flags(settings: impl IntoIterator<Item = Setting>) -> impl Iterator<Item = Arg> {
    settings.into_iter().filter(|setting| *setting != Setting::MasterKey).map(|setting| {
        let (about, default) = (setting.description(), setting.default_in_words());
        Arg::new(setting.name())
            .long(setting.name().replace('_', "-"))
            .value_name(setting.value_name())
            .help(format!("{about} [default: {default}] [env: {}]", setting.variable()))
            .help_heading(HEADING)
            .global(true)
    })
}
