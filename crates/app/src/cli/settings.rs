//! The flags that set settings: every command accepts all of them, and its help shows those that matter to it.

use clap::{Arg, ArgMatches, Command};

use crate::config::Setting;

/// The heading of these flags in the help of a command.
const HEADING: &str = "Settings";

/// The settings that matter to a command that only works with the database.
const OF_THE_DATABASE: [Setting; 5] =
    [Setting::DatabaseUrl, Setting::DatabasePool, Setting::DataDir, Setting::Log, Setting::LogFormat];

/// The settings that matter to a command that only asks a service whether it is ready.
const OF_THE_LISTENERS: [Setting; 2] = [Setting::Listen, Setting::AdminListen];

/// Which settings are of use to whom; others have none.
const SERVICE: [&str; 4] = ["dev", "serve", "config", "doctor"];
const DATABASE: [&str; 7] = ["migrate", "copy", "backup", "restore", "org", "key", "rekey"];

/// Shows each command's settings in its help.
pub(super) fn shown(root: Command) -> Command {
    root.mut_subcommands(|command| match command.get_name() {
        name if SERVICE.contains(&name) => command.args(flags(Setting::ALL.iter().map(|(_, it)| *it))),
        name if DATABASE.contains(&name) => command.args(flags(OF_THE_DATABASE)),
        "healthcheck" => command.args(flags(OF_THE_LISTENERS)),
        _ => command,
    })
}

/// Accepts every setting in front of the command as well, and behind one that it is of no use to: whoever calls several
/// commands may give all of them the same.
pub(super) fn accepted(root: Command) -> Command {
    root.args(flags(Setting::ALL.iter().map(|(_, it)| *it)).map(|it| it.hide(true)))
}

/// The settings that were given.
pub(super) fn given(matches: &ArgMatches) -> Vec<(Setting, String)> {
    let value = |setting: Setting| matches.try_get_one::<String>(setting.name()).ok().flatten().cloned();
    Setting::ALL.iter().filter_map(|(_, setting)| Some((*setting, value(*setting)?))).collect()
}

/// A flag for each setting that is no secret, also for the commands below.
fn flags(settings: impl IntoIterator<Item = Setting>) -> impl Iterator<Item = Arg> {
    settings.into_iter().filter(|it| *it != Setting::MasterKey).map(|setting| {
        let (about, default) = (setting.about(), setting.default_in_words());
        Arg::new(setting.name())
            .long(setting.name().replace('_', "-"))
            .value_name(setting.value_name())
            .help(format!("{about} [default: {default}] [env: {}]", setting.variable()))
            .help_heading(HEADING)
            .global(true)
    })
}
