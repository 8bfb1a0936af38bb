//! Guesses of the known column that an unknown header means, for messages.

use super::columns::{KNOWN, normalized};

/// Normalized headers of common HR systems, by the column that they mean.
const SYNONYMS: [(&str, &[&str]); 8] = [
    (
        "email",
        &[
            "e_mail",
            "mail",
            "work_email",
            "work_e_mail",
            "business_email",
            "company_email",
            "primary_email",
            "email_address",
            "e_mail_address",
            "email_primary_work",
            "userprincipalname",
            "user_principal_name",
        ],
    ),
    ("first_name", &["firstname", "given_name", "givenname", "forename", "first"]),
    ("last_name", &["lastname", "surname", "family_name", "familyname", "last"]),
    (
        "manager_email",
        &[
            "manager",
            "manager_e_mail",
            "managers_email",
            "manager_email_address",
            "supervisor",
            "supervisor_email",
            "reports_to",
            "reports_to_email",
            "reporting_to",
            "line_manager",
            "line_manager_email",
        ],
    ),
    ("department_name", &["department", "dept", "supervisory_organization"]),
    (
        "external_id",
        &["id", "employee_id", "employee_number", "employee_no", "employee", "worker_id", "personnel_number"],
    ),
    ("job_title", &["jobtitle", "title", "position"]),
    ("status", &["employment_status", "employee_status", "account_status"]),
];
/// Maximum number of edits between a header and a column's name for a misspelling.
const MOST_EDITS: usize = 2;

/// Returns the name of the column that a header probably means, if one is likely.
pub(super) fn guess(header: &str) -> Option<&'static str> {
    // Real headers have decorations: `Email Address [Required]`, `Manager's email`, `Employee #`.
    let bare: String =
        header.replace("[Required]", "").chars().filter(|letter| !"'’#*".contains(*letter)).collect();
    let bare = normalized(&bare);
    if let Some((name, _)) = SYNONYMS.iter().find(|(_, synonyms)| synonyms.contains(&bare.as_str())) {
        return Some(name);
    }
    let names = KNOWN.into_iter().filter_map(|column| column.name());
    let distances = names.map(|name| (strsim::osa_distance(&bare, name), name));
    let (edits, name) = distances.min_by_key(|(edits, _)| *edits)?;
    // A short word with many edits is no misspelling: `rank` is not `role`.
    (edits <= MOST_EDITS && edits * 4 <= name.len()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_of_a_common_system_is_recognized() {
        for (header, column) in [
            ("Work Email", "email"),
            ("E-Mail", "email"),
            ("Email - Primary Work", "email"),
            ("Email Address [Required]", "email"),
            ("userPrincipalName", "email"),
            ("First Name [Required]", "first_name"),
            ("givenName", "first_name"),
            ("surname", "last_name"),
            ("Supervisor email", "manager_email"),
            ("Manager's email", "manager_email"),
            ("Department", "department_name"),
            ("Employee #", "external_id"),
            ("fist_name", "first_name"),
            ("emial", "email"),
        ] {
            assert_eq!(guess(header), Some(column), "{header}");
        }
        for header in ["Shoe size", "rank", "state", "", "#", "custom", "name"] {
            assert_eq!(guess(header), None, "{header}");
        }
    }
}
