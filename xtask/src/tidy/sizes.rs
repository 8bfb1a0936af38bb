//! Sizes of files, functions and crates.

use super::{Finding, SourceFile};

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 60;
/// Maximum length of an HTTP handler in lines. A handler selects a use case and a response; further code belongs
/// into the use case or the response.
const HANDLER_LINES: usize = 25;
const HANDLERS: &str = "crates/http/src/routes/";

/// Maximum number of lines of the sources of a crate, tests included. The domain holds the resources and their rules:
/// a protocol or a subject of its own becomes a crate. The app only wires the other crates together.
const CRATE_LINES: [(&str, usize); 2] = [("crates/app/src/", 7_500), ("crates/domain/src/", 24_000)];

/// Checks the sizes of the crates that have a limit.
pub(super) fn check_crates(files: &[SourceFile]) -> Vec<Finding> {
    let findings = CRATE_LINES.into_iter().filter_map(|(folder, most)| {
        let files = files.iter().filter(|file| file.path.starts_with(folder) && file.path.ends_with(".rs"));
        let lines: usize = files.map(|file| file.text.lines().count()).sum();
        let says =
            format!("the sources have {lines} lines, at most {most} are allowed: move a subject to its own crate");
        (lines > most).then(|| Finding::new(folder, 1, says))
    });
    findings.collect()
}

/// Checks the sizes of a file that a person wrote.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    if file.path.contains("/generated/") {
        return findings;
    }
    let lines = file.text.lines().count();
    if lines > FILE_LINES {
        findings.push(Finding::new(
            &file.path,
            FILE_LINES + 1,
            format!(
                "the file has {lines} lines, at most {FILE_LINES} are allowed: divide it by the purpose of its \
                 parts"
            ),
        ));
    }
    for function in functions(&file.text) {
        let handler = file.path.starts_with(HANDLERS) && function.is_handler && !function.in_tests;
        let (kind, most) = if handler { ("handler", HANDLER_LINES) } else { ("function", FUNCTION_LINES) };
        if function.lines > most {
            let Function { name, line, lines, .. } = function;
            findings.push(Finding::new(
                &file.path,
                line,
                format!(
                    "the {kind} {name} has {lines} lines, at most {most} are allowed: make functions of its parts"
                ),
            ));
        }
    }
    findings
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    lines: usize,
    pub(super) in_tests: bool,
    /// `true` if the function returns `Work`, as HTTP handlers do.
    is_handler: bool,
}

/// Returns the functions of a file in the layout of rustfmt, where a function ends at the first `}` in the column of
/// its first letter. Attributes and docs do not count as lines of a function.
pub(super) fn functions(text: &str) -> Vec<Function<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let tests_begin = lines.iter().position(|line| matches!(line.trim_end(), "#[cfg(test)]" | "#![cfg(test)]"));
    let function_lines = lines.iter().enumerate().filter_map(|(at, line)| {
        let name = function_name(line.trim_start())?;
        let in_tests = tests_begin.is_some_and(|begin| begin < at);
        let is_handler = signature(&lines[at..]).any(|line| line.contains("-> Work<"));
        Some(Function { name, line: at + 1, lines: length(&lines[at..]), in_tests, is_handler })
    });
    function_lines.collect()
}

/// Returns the lines of the signature of the function that begins at `lines[0]`.
fn signature<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let ends = lines.iter().position(|line| line.ends_with(['{', ';', '}'])).unwrap_or(0);
    lines[..=ends].iter().copied()
}

/// Returns the name of the function whose declaration the line begins. `None` for other lines.
fn function_name(line: &str) -> Option<&str> {
    const QUALIFIERS: [&str; 8] = ["pub", "default", "const", "async", "unsafe", "extern", "\"C\"", "safe"];
    let mut rest = line;
    loop {
        let (word, after) = rest.split_once(' ')?;
        if word == "fn" {
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            return Some(&after[..end]).filter(|name| !name.is_empty());
        }
        if word.starts_with("pub(") {
            // `pub(in some::path)` has a blank of its own.
            rest = rest.split_once(") ")?.1;
        } else if QUALIFIERS.contains(&word) {
            rest = after;
        } else {
            return None;
        }
    }
}

/// Returns the number of lines of the function that begins at `lines[0]`.
fn length(lines: &[&str]) -> usize {
    let first = lines[0];
    if first.ends_with(['}', ';']) {
        return 1;
    }
    let margin = &first[..first.len() - first.trim_start().len()];
    let mut has_body = first.ends_with('{');
    for (at, line) in lines.iter().enumerate().skip(1) {
        if let Some(rest) = line.strip_prefix(margin).filter(|rest| !rest.starts_with(' ')) {
            // A declaration in a trait ends without a body.
            if rest == "}" || (!has_body && rest.ends_with([';', '}'])) {
                return at + 1;
            }
            has_body |= rest.ends_with('{');
        }
    }
    lines.len()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    fn function_of(lines: usize) -> String {
        let body = "    work();\n".repeat(lines - 2);
        format!("fn long() {{\n{body}}}\n")
    }

    #[test]
    fn functions_are_found_with_their_lengths() {
        let text = [
            "/// Says fn in its docs.",
            "pub(crate) async fn one(",
            "    a: u8,",
            ") -> u8 {",
            "    if a > 0 {",
            "    }",
            "    a",
            "}",
            "",
            "trait T {",
            "    fn declared(",
            "        &self,",
            "    ) -> u8;",
            "    fn short(&self) -> u8 { 1 }",
            "}",
            "type F = fn(u8) -> u8;",
            "#[cfg(test)]",
            "mod tests {",
            "    #[test]",
            "    fn proves()",
            "    where",
            "        u8: Sized,",
            "    {",
            "    }",
            "}",
            "",
        ]
        .join("\n");
        let expected_functions =
            [("one", 2, 7, false), ("declared", 11, 3, false), ("short", 14, 1, false), ("proves", 20, 5, true)];
        let functions: Vec<_> =
            functions(&text).iter().map(|one| (one.name, one.line, one.lines, one.in_tests)).collect();
        assert_eq!(functions, expected_functions);
    }

    #[test]
    fn function_with_qualifiers_is_found() {
        for line in
            ["fn a() {", "pub const unsafe fn a<T>() {", "pub(in crate::x) fn a()", "unsafe extern \"C\" fn a("]
        {
            assert_eq!(function_name(line), Some("a"), "{line}");
        }
        for line in ["let f: fn(u8) = a;", "// fn a()", "fn(u8)", "impl Fn() {}"] {
            assert_eq!(function_name(line), None, "{line}");
        }
    }

    #[test]
    fn function_over_60_lines_or_handler_over_25_is_found() {
        let findings = |path: &str, lines| check(&file(path, &function_of(lines))).len();
        assert_eq!((findings("crates/domain/src/a.rs", 60), findings("crates/domain/src/a.rs", 61)), (0, 1));
        let handler = |lines| function_of(lines).replace("()", "(services: &Services) -> Work<'_>");
        let handlers = |path: &str, lines| check(&file(path, &handler(lines))).len();
        assert_eq!(
            (handlers("crates/http/src/routes/a.rs", 25), handlers("crates/http/src/routes/a.rs", 26)),
            (0, 1)
        );
        assert_eq!(handlers("crates/http/src/a.rs", 26), 0);
        assert_eq!(findings("crates/http/src/routes/a.rs", 26), 0, "no handler without `Work`");
        let test = format!("#[cfg(test)]\nmod tests {{}}\n{}", handler(26));
        assert_eq!(check(&file("crates/http/src/routes/a.rs", &test)), []);
    }

    #[test]
    fn file_over_400_lines_is_found() {
        assert_eq!(check(&file("a.rs", &"// x\n".repeat(400))), []);
        assert_eq!(check(&file("a.rs", &"// x\n".repeat(401)))[0].line, 401);
    }

    #[test]
    fn crate_over_its_limit_is_found() {
        let (folder, most) = CRATE_LINES[0];
        let part = |name: &str, lines: usize| file(&format!("{folder}{name}"), &"//\n".repeat(lines));
        assert!(check_crates(&[part("a.rs", most - 1), part("b/c.rs", 1), part("d.md", 9)]).is_empty());
        assert_eq!(check_crates(&[part("a.rs", most), part("b/c.rs", 1)]).len(), 1);
    }
}
