//! Commands of the project in documents, such as `cargo xtask tidy`: each must be a command of xtask.

use super::{Finding, SourceFile};
use crate::COMMANDS;

const START: &str = "cargo xtask ";
/// Pages about the past, which may name former commands.
const PAST: [&str; 2] = ["CHANGELOG.md", "docs/adr/"];

pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    let is_current = file.path.ends_with(".md") && !PAST.iter().any(|path| file.path.starts_with(path));
    let lines = (1..).zip(file.text.lines()).filter(|_| is_current);
    let unknown = lines.flat_map(|(number, line)| unknown_commands(line).map(move |name| (number, name)));
    let says = |name| format!("cargo xtask has no command {name}, name a command that it has");
    unknown.map(|(number, name)| Finding::new(&file.path, number, says(name))).collect()
}

fn unknown_commands(line: &str) -> impl Iterator<Item = &str> {
    let names = line.split(START).skip(1).filter_map(|rest| rest.split(|c: char| !c.is_ascii_lowercase()).next());
    names.filter(|name| !name.is_empty() && !COMMANDS.iter().any(|(known, _)| known == name))
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    #[test]
    fn unknown_command_of_the_project_is_found() {
        let text =
            "`cargo xtask tidy`, `cargo xtask tidying`\ncargo xtask --help\n```\ncargo xtask make all\n```\n";
        let lines: Vec<_> = check(&file("docs/a.md", text)).into_iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [1, 4]);
        assert!(check(&file("docs/adr/1.md", text)).is_empty());
    }
}
