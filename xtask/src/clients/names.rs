//! Names of resources, methods and classes, derived from paths and operation ids.

/// Returns a path or code in the form of a type's name: `employee-objectives` becomes `EmployeeObjectives`.
pub(super) fn pascal_case(text: &str) -> String {
    let capitalize = |word: &str| word[..1].to_uppercase() + &word[1..];
    text.split(['-', '_', '.']).filter(|word| !word.is_empty()).map(capitalize).collect()
}

/// Returns an operation id in snake case.
pub(super) fn snake_case(text: &str) -> String {
    let mut name = String::new();
    for letter in text.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// Returns the singular of an English plural, as far as paths have one.
pub(super) fn singular(text: &str) -> String {
    match text.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => text.strip_suffix('s').unwrap_or(text).to_owned(),
    }
}

/// Returns the name of an operation's method: its id without the name of the resource.
pub(super) fn method(operation_id: &str, resource_class: &str) -> String {
    let id = operation_id.replacen(resource_class, "", 1);
    let id = if id == operation_id { id.replacen(&singular(resource_class), "", 1) } else { id };
    snake_case(&id)
}

/// Returns the name of the error class for this code.
pub(super) fn error_class(code: &str) -> String {
    match code {
        // TypeScript and Python use `TimeoutError` for the client's own time limit.
        "timeout" => "ServiceTimeoutError".to_owned(),
        _ if code.ends_with("error") => pascal_case(code),
        _ => format!("{}Error", pascal_case(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::{error_class, method, pascal_case, singular};

    #[test]
    fn method_is_the_operation_without_its_resource() {
        for (id, resource, expected) in [
            ("listApiKeys", "ApiKeys", "list"),
            ("giveSummaryFeedback", "Summaries", "give_feedback"),
            ("listEmployeeObjectiveHistory", "EmployeeObjectives", "list_history"),
            ("readAllNotifications", "Notifications", "read_all"),
            ("listMessages", "Conversations", "list_messages"),
        ] {
            assert_eq!(method(id, resource), expected, "{id}");
        }
    }

    #[test]
    fn classes_are_named_after_paths_and_codes() {
        assert_eq!(pascal_case("test-data"), "TestData");
        assert_eq!(singular("Summaries"), "Summary");
        assert_eq!(error_class("validation_error"), "ValidationError");
        assert_eq!(error_class("not_found"), "NotFoundError");
    }
}
