//! `candor completions` and `candor manual`: generated from the definition of the command line.

use std::io::{self, Write};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use crate::cli;
use candor_cli::error::CommandError;
use candor_cli::output::Output;

/// Prints the completion script of a shell.
///
/// # Errors
/// [`CommandError::Io`] if the output cannot be written.
pub(crate) fn completions(shell: Shell, output: Output) -> Result<(), CommandError> {
    let script = script(shell);
    output.say(&json!({"shell": shell.to_string(), "script": script}), &script)
}

/// Prints the manual page of all commands.
///
/// # Errors
/// [`CommandError::Io`] if the output cannot be written.
pub(crate) fn manual(output: Output) -> Result<(), CommandError> {
    let page = page().map_err(CommandError::io("write", "the manual page"))?;
    output.say(&json!({"manual": page}), &page)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command_line(), "candor", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

fn page() -> io::Result<String> {
    let mut root = cli::command_line();
    root.build();
    let mut page = Vec::new();
    let man = Man::new(root.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    add_notes(&man, &mut page)?;
    for command in root.get_subcommands().filter(|command| is_ours(command)) {
        add(command, &mut page)?;
    }
    man.render_version_section(&mut page)?;
    String::from_utf8(page).map_err(io::Error::other)
}

/// Appends a command and its subcommands, each as a section.
fn add(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let subcommands: Vec<&Command> = command.get_subcommands().filter(|command| is_ours(command)).collect();
    if !subcommands.is_empty() {
        return subcommands.into_iter().try_for_each(|command| add(command, page));
    }
    let name = command.get_bin_name().unwrap_or_default();
    writeln!(page, ".SH \"{}\"", name.to_uppercase())?;
    let man = Man::new(command.clone().display_name(name));
    let mut text = Vec::new();
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    add_notes(&man, &mut text)?;
    // The sections of a command become subsections.
    for line in String::from_utf8_lossy(&text).lines() {
        match line.strip_prefix(".SH ") {
            Some(heading) => writeln!(page, ".SS {heading}")?,
            None => writeln!(page, "{line}")?,
        }
    }
    Ok(())
}

/// Appends the text that `--help` prints below the options, such as examples, under the heading NOTES.
fn add_notes(man: &Man, page: &mut Vec<u8>) -> io::Result<()> {
    let mut notes = Vec::new();
    man.render_extra_section(&mut notes)?;
    let notes = String::from_utf8_lossy(&notes).replacen(".SH EXTRA", ".SH NOTES", 1);
    page.extend_from_slice(notes.as_bytes());
    Ok(())
}

fn is_ours(command: &Command) -> bool {
    command.get_name() != "help"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    const COMMANDS: [&str; 5] = ["serve", "org rename", "key create", "import", "migrate"];

    #[test]
    fn manual_page_has_every_command_and_option() {
        let page = page().unwrap();
        for command in COMMANDS {
            let heading = format!(".SH \"CANDOR {}\"", command.to_uppercase());
            assert_eq!(page.matches(&heading).count(), 1, "{heading} in {page}");
        }
        for option in ["clear\\-empty", "webhooks\\-timeout", "reads\\-per\\-minute"] {
            assert!(page.contains(option), "{option} in {page}");
        }
    }

    #[test]
    fn shell_completion_covers_every_command() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for command in COMMANDS.iter().filter_map(|call| call.split(' ').next()) {
                assert!(script.contains(command), "{command} for {shell}");
            }
        }
    }
}
