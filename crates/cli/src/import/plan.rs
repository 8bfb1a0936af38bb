//! Table of the changes that an import would make.

use serde_json::Value;

use super::tally::SHOWN;
use crate::output::table;

/// Returns the table of rows that would change, with old and new values.
pub(super) fn changes(plan: &[Value]) -> String {
    // Skipped rows do not change, and the table of errors lists the rejected ones.
    let changes = |row: &&Value| !matches!(row["action"].as_str(), Some("skip" | "reject"));
    let of_interest: Vec<&Value> = plan.iter().filter(changes).collect();
    if of_interest.is_empty() {
        return String::new();
    }
    let mut rows = vec![["ROW", "EMAIL", "ACTION", "CHANGES"].map(str::to_owned).to_vec()];
    rows.extend(of_interest.iter().take(SHOWN).map(|row| {
        // The column EMAIL already shows the address of a new person.
        let is_news = |(column, cell): &(&String, &Value)| *column != "email" || !cell["from"].is_null();
        let columns = row["changes"].as_object().into_iter().flatten().filter(is_news);
        let changes: Vec<String> =
            columns.map(|(column, cell)| change(column, &cell["from"], &cell["to"])).collect();
        vec![cell(&row["row_number"]), cell(&row["email"]), cell(&row["action"]), changes.join("; ")]
    }));
    let mut text = format!("\n{}\n", table(&rows));
    if of_interest.len() > SHOWN {
        text.push_str(&format!("and {} more; --json shows them all\n", of_interest.len() - SHOWN));
    }
    text
}

fn change(column: &str, from: &Value, to: &Value) -> String {
    match (from, to) {
        (Value::Null, to) => format!("{column}: {}", cell(to)),
        (from, Value::Null) => format!("{column}: {} → (none)", cell(from)),
        (from, to) => format!("{column}: {} → {}", cell(from), cell(to)),
    }
}

/// Formats a value in one line.
pub(super) fn cell(value: &Value) -> String {
    let Value::String(text) = value else { return value.to_string() };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(number: usize, action: &str, changes: &Value) -> Value {
        json!({"row_number": number, "email": "a@x", "action": action, "changes": changes})
    }

    #[test]
    fn plan_row_lists_only_changed_cells() {
        let new = json!({"email": {"from": null, "to": "a@x"}, "first_name": {"from": null, "to": "Ada"}, "last_name": {"from": null, "to": "M"}});
        let other = json!({"manager_email": {"from": "b@x", "to": null}, "role": {"from": "employee", "to": "manager"},
            "hris_source": {"from": "manual", "to": "acme"}});
        let plan = [row(2, "create", &new), row(3, "skip", &json!({})), row(4, "update", &other)];
        let expected_table = "\nROW  EMAIL  ACTION  CHANGES\n\
                      2    a@x    create  first_name: Ada; last_name: M\n\
                      4    a@x    update  hris_source: manual → acme; manager_email: b@x → (none); role: employee → manager\n";
        assert_eq!(changes(&plan), expected_table);
        assert_eq!(changes(&plan[1..2]), "");
    }

    #[test]
    fn long_plan_is_truncated_with_a_count() {
        let plan: Vec<Value> = (0..SHOWN + 3).map(|number| row(number, "create", &json!({}))).collect();
        let text = changes(&plan);
        assert_eq!(text.lines().count(), SHOWN + 3, "{text}");
        assert!(text.ends_with("and 3 more; --json shows them all\n"), "{text}");
    }
}
