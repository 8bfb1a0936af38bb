//! Text: line ends, blanks, notes, paths of one machine, silenced lints.

use super::{Finding, SourceFile};
use crate::text::has_word;

/// Markers of notes that belong in the issue tracker. They are put together from parts: tidy would report whole
/// ones in this file.
const NOTES: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
/// Top-level folders with checkouts on machines of developers and builds.
const MACHINE_FOLDERS: [&str; 6] = ["home", "Users", "root", "work", "farm", "workspace"];

pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Snapshots and spreadsheets are written by programs, and keep their blanks and line ends.
    let written_by_a_program = file.path.ends_with(".snap") || file.path.ends_with(".csv");
    if !written_by_a_program && !file.text.is_empty() && !file.text.ends_with('\n') {
        let last = file.text.lines().count();
        findings.push(Finding::new(&file.path, last, "the last line has no end, add a newline"));
    }
    for (number, line) in (1..).zip(file.text.split_terminator('\n')) {
        let mut find = |says: String| findings.push(Finding::new(&file.path, number, says));
        if !written_by_a_program && line.trim_end() != line {
            find("blanks at the end of the line, remove them".to_owned());
        }
        if let Some(note) = NOTES.into_iter().find(|note| has_word(line, note)) {
            find(format!("{note} in the text, do it now or open an issue"));
        }
        if let Some(folder) = MACHINE_FOLDERS.into_iter().find(|folder| starts_path(line, folder)) {
            find(format!("a path of one machine (/{folder}/…), write a path that every reader has"));
        }
        if file.path.ends_with(".rs") && silences_a_lint(line) {
            find("a lint is silenced with allow, use #[expect(…, reason = \"…\")]".to_owned());
        }
    }
    findings
}

/// Returns `true` if an absolute path begins with this folder. A slash inside a longer path or URL does not count.
fn starts_path(line: &str, folder: &str) -> bool {
    let path = format!("/{folder}/");
    line.match_indices(&path).any(|(at, _)| {
        let letter_before = line[..at].chars().next_back();
        let letter_after = line[at + path.len()..].chars().next();
        letter_before.is_none_or(|c| c.is_whitespace() || "\"'`(=:,<[".contains(c))
            && letter_after.is_some_and(|c| c.is_alphanumeric() || c == '.')
    })
}

fn silences_a_lint(line: &str) -> bool {
    let attribute = line.trim_start().trim_start_matches("#!").trim_start_matches('#');
    attribute.starts_with("[allow(") || (attribute.starts_with("[cfg_attr(") && attribute.contains(" allow("))
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines_found(path: &str, text: &str) -> Vec<usize> {
        check(&file(path, text)).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn line_without_newline_or_with_trailing_blanks_is_found() {
        assert_eq!(lines_found("a.md", "one\ntwo\n"), NONE);
        assert_eq!(lines_found("a.md", ""), NONE);
        assert_eq!(lines_found("a.md", "one\ntwo"), [2]);
        assert_eq!(lines_found("a.md", "one \ntwo\t\nthree\r\n"), [1, 2, 3]);
        assert_eq!(lines_found("a.snap", "one \n"), NONE);
    }

    #[test]
    fn generated_files_keep_their_line_ends() {
        for path in ["a.snap", "people.csv"] {
            assert_eq!(lines_found(path, "a \r\nb"), NONE, "{path}");
        }
    }

    #[test]
    fn notes_are_found_as_whole_words() {
        for note in NOTES {
            assert_eq!(lines_found("a.rs", &format!("x\n// {note}: later\n")), [2]);
            assert_eq!(lines_found("a.rs", &format!("const {note}S: u8 = 1;\n")), NONE);
        }
    }

    #[test]
    fn machine_paths_are_distinguished_from_urls() {
        for folder in MACHINE_FOLDERS {
            assert_eq!(lines_found("a.md", &format!("see /{folder}/someone/candor\n")), [1]);
            assert_eq!(lines_found("a.md", &format!("(`/{folder}/x`)\n")), [1]);
            assert_eq!(lines_found("a.md", &format!("https://example.com/{folder}/x\n")), NONE);
            assert_eq!(lines_found("a.md", &format!("GET /v1/{folder}/x\n")), NONE);
        }
    }

    #[test]
    fn allowed_lint_is_found_and_expected_lint_is_not() {
        for attribute in ["allow(dead_code)", "cfg_attr(test, allow(dead_code))"] {
            assert_eq!(lines_found("a.rs", &format!("#[{attribute}]\nfn a() {{}}\n")), [1]);
            assert_eq!(lines_found("a.rs", &format!("#![{attribute}]\n")), [1]);
        }
        assert_eq!(lines_found("a.rs", "#[expect(dead_code, reason = \"it is allowed (here)\")]\n"), NONE);
        assert_eq!(lines_found("a.md", "#[allow(dead_code)] is not used\n"), NONE);
    }
}
