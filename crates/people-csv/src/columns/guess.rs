//! Guesses of the known column that an unknown header means, for messages.

use candor_domain::spelling::is_misspelled;

use super::{KNOWN, normalize_header};

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
            "login",
            "workemail",
            "email_work",
            "e_mail_adresse",
            "email_adresse",
            "mailadresse",
        ],
    ),
    ("first_name", &["firstname", "given_name", "givenname", "forename", "first", "vorname", "prénom", "prenom"]),
    ("last_name", &["lastname", "surname", "family_name", "familyname", "last", "nachname", "nom_de_famille"]),
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
            "managers_email_address",
            "managers_e_mail",
            "manager_e_mail_address",
            "vorgesetzter",
            "vorgesetzte",
        ],
    ),
    ("department_name", &["department", "dept", "supervisory_organization", "abteilung"]),
    (
        "external_id",
        &[
            "id",
            "employee_id",
            "employee_number",
            "employee_no",
            "employee",
            "worker_id",
            "personnel_number",
            "userid",
            "user_id",
            "personalnummer",
        ],
    ),
    ("job_title", &["jobtitle", "title", "position", "stellenbezeichnung"]),
    ("status", &["employment_status", "employee_status", "account_status"]),
];
/// Normalized headers of first and last names together.
const FULL_NAMES: [&str; 7] =
    ["full_name", "fullname", "name", "display_name", "displayname", "last_name,_first_name", "employee_name"];
/// Normalized headers of columns that say who has left.
const STATUSES: [&str; 33] = [
    "active",
    "is_active",
    "account_enabled",
    "accountenabled",
    "enabled",
    "is_enabled",
    "inactive",
    "is_inactive",
    "disabled",
    "deactivated",
    "suspended",
    "terminated",
    "is_terminated",
    "termination_date",
    "leaver",
    "employment_status",
    "employee_status",
    "account_status",
    "user_status",
    "worker_status",
    "archived",
    "deleted",
    "blocked",
    "block_credential",
    "block_sign_in",
    "left",
    "exit_date",
    "leaving_date",
    "last_day",
    "last_working_day",
    "aktiv",
    "austritt",
    "austrittsdatum",
];
/// Normalized cells of columns that say who has left. The first [`PRESENT_CELLS`] are for people who have not left.
const STATUS_CELLS: [&str; 15] = [
    "active",
    "employed",
    "on_leave",
    "inactive",
    "deactivated",
    "disabled",
    "terminated",
    "suspended",
    "left",
    "leaver",
    "resigned",
    "dismissed",
    "archived",
    "deleted",
    "offboarded",
];
/// Number of words at the beginning of [`STATUS_CELLS`] that are for people who have not left.
const PRESENT_CELLS: usize = 3;

/// Returns the name of the column that a header probably means, if one is likely.
pub(super) fn guess(header: &str) -> Option<&'static str> {
    let readings = readings(header);
    let by_synonym = readings
        .iter()
        .find_map(|bare| SYNONYMS.iter().find(|(_, synonyms)| is_among(bare, synonyms)).map(|(name, _)| *name));
    by_synonym.or_else(|| readings.first().and_then(|bare| find_misspelled_column(bare)))
}

/// Returns `true` if a header means first and last names together.
pub(super) fn has_full_names(header: &str) -> bool {
    readings(header).iter().any(|bare| is_among(bare, &FULL_NAMES))
}

/// Returns `true` if a header means a column that says who has left.
pub(super) fn is_status(header: &str) -> bool {
    guess(header) == Some("status") || readings(header).iter().any(|bare| is_among(bare, &STATUSES))
}

/// Returns `true` if a header is one of these names, with or without underscores: programs write `isActive`.
fn is_among(bare: &str, names: &[&str]) -> bool {
    let letters = |text: &str| text.replace('_', "");
    names.contains(&bare) || names.iter().any(|name| letters(name) == letters(bare))
}

/// Returns `true` if a cell says that the person has left, `false` if it says that the person has not, and `None` if
/// it is no status.
pub(crate) fn read_status(cell: &str) -> Option<bool> {
    let word = normalize_header(cell);
    STATUS_CELLS.iter().position(|known| *known == word).map(|at| at >= PRESENT_CELLS)
}

/// Returns the normalized readings of a header: the text outside of brackets, and each text in brackets. Real headers
/// have decorations: `Email Address [Required]`, `Manager's email`, `Employee #`, `Reports To (Email)`, `User name
/// [userPrincipalName] Required`.
fn readings(header: &str) -> Vec<String> {
    let (mut outside, mut inside, mut depth) = (String::new(), vec![], 0_u32);
    for letter in header.chars().filter(|letter| !"'’#*?".contains(*letter)) {
        match letter {
            '[' | '(' => {
                depth += 1;
                inside.push(String::new());
            }
            ']' | ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(letter),
            _ => inside.iter_mut().last().into_iter().for_each(|text| text.push(letter)),
        }
    }
    let strip_word = |text: &str, word: &str| text.strip_suffix(word).map(str::to_owned);
    let bare = normalize_header(&outside);
    let bare = strip_word(&bare, "_required").or_else(|| strip_word(&bare, "_optional")).unwrap_or(bare);
    std::iter::once(bare).chain(inside.iter().map(|text| normalize_header(text))).collect()
}

/// Returns the column whose name a header misspells.
fn find_misspelled_column(bare: &str) -> Option<&'static str> {
    let names = KNOWN.into_iter().filter_map(|column| column.name()).filter(|name| is_misspelled(bare, name));
    names.min_by_key(|name| strsim::osa_distance(bare, name))
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
            ("User name [userPrincipalName] Required", "email"),
            ("Work Email [workEmail]", "email"),
            ("login", "email"),
            ("Manager's Email Address", "manager_email"),
            ("Reports To (Email)", "manager_email"),
            ("Vorname", "first_name"),
            ("Nachname", "last_name"),
            ("USERID", "external_id"),
            ("employeeNumber", "external_id"),
            ("reportsTo", "manager_email"),
        ] {
            assert_eq!(guess(header), Some(column), "{header}");
        }
        for header in ["Shoe size", "rank", "state", "", "#", "custom", "name"] {
            assert_eq!(guess(header), None, "{header}");
        }
    }

    #[test]
    fn columns_of_names_and_statuses_are_recognized() {
        for header in ["Full Name", "Name", "Name [displayName] Required", "Last name, First name"] {
            assert!(has_full_names(header), "{header}");
        }
        for header in [
            "is_active",
            "isActive",
            "Employment Status",
            "EmploymentStatus",
            "Terminated?",
            "accountEnabled",
            "Account status (Okta)",
            "Status [Required]",
            "statsu",
            "Exit date",
        ] {
            assert!(is_status(header), "{header}");
        }
        assert!(!has_full_names("First Name") && !is_status("Shoe size") && !is_status("state"));
        let cells = ["Active", "On leave", "TERMINATED", "left", "Berlin", ""].map(read_status);
        assert_eq!(cells, [Some(false), Some(false), Some(true), Some(true), None, None]);
    }
}
