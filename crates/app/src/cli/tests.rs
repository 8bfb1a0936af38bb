use super::*;
use candor_domain::fields::StringEnum;

fn read(words: &[&str]) -> Result<(Cli, Vec<(Setting, String)>), clap::Error> {
    Cli::read_from(words.iter().map(Into::into))
}

/// Returns every command without subcommands, with its definition.
fn commands() -> Vec<clap::Command> {
    fn add(command: &clap::Command, all: &mut Vec<clap::Command>) {
        match command.get_subcommands().next() {
            None => all.push(command.clone()),
            Some(_) => command
                .get_subcommands()
                .filter(|command| command.get_name() != "help")
                .for_each(|command| add(command, all)),
        }
    }
    let mut root = command_line();
    root.build();
    let mut all = vec![];
    add(&root, &mut all);
    all
}

fn help(words: &[&str]) -> String {
    let text = read(&[words, &["--help"]].concat()).unwrap_err().to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn command_line_is_well_formed() {
    command_line().debug_assert();
    settings::accept_settings(command_line()).debug_assert();
}

#[test]
fn setting_flags_work_before_and_behind_the_command() {
    for (_, setting) in Setting::ALL.iter().filter(|(_, setting)| *setting != Setting::MasterKey) {
        let flag = setting.flag();
        for words in [["candor", &flag, "x", "config"], ["candor", "config", &flag, "x"]] {
            let (_, given) = read(&words).unwrap();
            assert_eq!(given, vec![(*setting, "x".to_owned())]);
        }
    }
    assert!(read(&["candor", "--master-key", "x", "config"]).is_err());
    let words = ["candor", "key", "list", "--data-dir", "x", "--json"];
    assert_eq!(read(&words).unwrap().1, vec![(Setting::DataDir, "x".to_owned())]);
}

#[test]
fn command_help_lists_its_settings_with_defaults() {
    let serve = help(&["candor", "serve"]);
    for (_, setting) in Setting::ALL.iter().filter(|(_, setting)| *setting != Setting::MasterKey) {
        let row = format!("[env: {}]", setting.variable());
        assert!(serve.contains(&setting.flag()) && serve.contains(&row), "{row} in {serve}");
        let default = setting.default().map_or(String::new(), |default| format!("[default: {default}]"));
        assert!(serve.contains(&default), "{default} in {serve}");
    }
    for (words, has, has_not) in [
        (&["candor", "import"][..], "--dry-run", "--database-url"),
        (&["candor", "connector", "create"], "--database-url", "--listen"),
        (&["candor", "connector", "check"], "--write", "--database-url"),
        (&["candor", "erasure", "ledger"], "--database-url", "--json"),
        (&["candor", "erasure", "scrub"], "--json", "--listen"),
        (&["candor", "key", "list"], "--database-url", "--webhooks-timeout"),
        (&["candor", "migrate"], "--database-url", "--listen"),
        (&["candor", "completions"], "<SHELL>", "--log"),
        (&["candor"], "candor config", "--database-url"),
    ] {
        let text = help(words);
        assert!(text.contains(has) && !text.contains(has_not), "{text}");
    }
}

#[test]
fn command_help_has_a_config_file_only_beside_settings() {
    for command in commands() {
        let name = command.get_bin_name().unwrap();
        let shown_flags: Vec<_> = command.get_arguments().filter(|argument| !argument.is_hide_set()).collect();
        let has_settings = shown_flags.iter().any(|flag| flag.get_help_heading() == Some("Settings"));
        assert_eq!(shown_flags.iter().any(|flag| flag.get_id() == "config"), has_settings, "{name}");
        let words: Vec<_> = name.split(' ').chain(["--help"]).collect();
        assert_eq!(help(&words[..words.len() - 1]).contains("--config"), has_settings, "{name}");
    }
    assert!(help(&["candor"]).contains("--config"));
}

/// Words that refer to an earlier sentence or ask, with which no sentence of a help begins.
const VAGUE_WORDS: [&str; 9] = ["It", "Its", "What", "Who", "How", "Where", "Why", "When", "They"];

#[test]
fn sentence_of_help_names_its_subject() {
    let mut root = command_line();
    root.build();
    let groups =
        root.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect::<Vec<_>>();
    for command in commands().into_iter().chain(groups).chain([root]) {
        let help_texts = [command.get_about(), command.get_long_about(), command.get_after_help()];
        let argument_texts =
            command.get_arguments().flat_map(|argument| [argument.get_help(), argument.get_long_help()]);
        let texts = help_texts.into_iter().chain(argument_texts).flatten().map(ToString::to_string);
        for text in texts {
            for sentence in text.split("\n\n").flat_map(|paragraph| paragraph.split(". ")) {
                let first_word = sentence.split_whitespace().next().unwrap_or_default();
                assert!(!VAGUE_WORDS.contains(&first_word), "{}: {sentence}", command.get_name());
            }
        }
    }
}

#[test]
fn command_help_has_an_example_with_its_own_name() {
    for command in commands() {
        let example = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let name = command.get_bin_name().unwrap();
        assert!(example.contains("Example") && example.contains(name), "{name}: {example}");
    }
}

#[test]
fn paragraph_of_help_is_wrapped_by_the_terminal_only() {
    for command in commands() {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        for pair in lines.windows(2) {
            let is_text = |line: &str| !line.is_empty() && !line.starts_with(' ');
            let is_broken = is_text(pair[0]) && is_text(pair[1]) && !pair[0].ends_with(':');
            assert!(!is_broken, "{}: a line break in a paragraph: {pair:?}", command.get_name());
        }
    }
}

#[test]
fn request_without_a_method_gets_a_hint() {
    let error = read(&["candor", "api", "employees"]).unwrap_err().to_string();
    assert!(error.contains("expected GET, POST, PUT, PATCH or DELETE, then the path"), "{error}");
    assert!(read(&["candor", "api", "get", "employees"]).is_ok(), "the method may be in lower case");
}

#[test]
fn key_create_help_lists_every_scope() {
    let text = help(&["candor", "key", "create"]);
    for scope in candor_domain::access::Permission::words() {
        assert!(text.contains(scope), "{scope} in {text}");
    }
}
