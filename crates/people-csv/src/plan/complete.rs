//! Completion of rejections, so that a failing row names all of its problems.

use candor_domain::people::Employee;
use candor_domain::text::address_key;

use super::super::columns::Column;
use super::super::decide::{self, ReferenceChange, ResolvedReferences, RowContext};
use super::super::row_problem::UploadRowError;
use super::super::{CsvRow, RowOutcome};
use super::{DepartmentCell, Planner};

impl Planner<'_> {
    /// Adds the remaining problems to each rejected row. The problem that rejected the row stays the first.
    pub(super) fn complete_rejections(&mut self) {
        for at in 0..self.outcomes.len() {
            self.count_row(at);
            self.outcomes[at] = match self.outcomes[at].take() {
                // The cells of a truncated or shifted row have no meaning.
                Some(RowOutcome::Reject(rejection)) if !rejection.has_wrong_shape() => {
                    Some(RowOutcome::Reject(self.complete_rejection(at, rejection)))
                }
                other => other,
            };
        }
    }

    fn complete_rejection(&self, at: usize, mut rejection: UploadRowError) -> UploadRowError {
        let row = &self.file.rows[at];
        let known_person = self.index.person_of(self.file, row).and_then(|person| self.known.people.get(person));
        let problems = decide::check_cells(self.file, row, known_person, self.options.clear_empty);
        rejection.add(UploadRowError::from_problems(&problems));
        let department = match self.department(row, known_person) {
            Ok(DepartmentCell::Known(wish)) => wish,
            Ok(DepartmentCell::Missing { .. }) => ReferenceChange::Keep,
            Err(denied) => {
                rejection.add(denied);
                ReferenceChange::Keep
            }
        };
        let mut manager = ReferenceChange::Keep;
        if self.file.cell(row, &Column::ManagerEmail).is_some() {
            match self.file.manager_key(row).and_then(|key| self.find_manager(key)) {
                Some(id) => manager = ReferenceChange::Set(id),
                None => rejection.add(self.missing_manager(at)),
            }
        }
        if let Some(stored_person) = known_person
            && let Err(refused) =
                self.decide_rest(row, stored_person, ResolvedReferences { manager, department }, &rejection)
        {
            rejection.add(refused);
        }
        rejection
    }

    /// Decides the change by the cells without a problem. Fails with a further rejection, for example if an HR system
    /// owns a member that one of these cells sets.
    fn decide_rest(
        &self,
        row: &CsvRow,
        stored: &Employee,
        wanted: ResolvedReferences,
        rejection: &UploadRowError,
    ) -> Result<(), UploadRowError> {
        let judge = RowContext { file: self.file, known: self.known, options: self.options };
        let mut rest = row.without_columns(&self.file.columns, |column| rejection.is_about(column));
        if rejection.is_about("email") {
            (rest.email, rest.email_key) = (stored.email.clone(), address_key(&stored.email));
        }
        judge.decide(&rest, stored.id, Some(stored), wanted).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use candor_domain::ulid::Ulid;

    use super::super::super::{File, PlanOptions, Report, RowError, StoredRows, plan};
    use candor_domain::time::Timestamp;

    fn errors(text: &str) -> Vec<RowError> {
        let file = File::read(text.as_bytes()).unwrap();
        let now = Timestamp::from_millis(1_000);
        let options = PlanOptions { clear_empty: false, is_admin: false, connector: None, at: now };
        let mut ids = (1..).map(Ulid);
        let plan = plan(&file, &StoredRows::default(), &HashSet::new(), &options, &mut || ids.next().unwrap());
        Report::from_outcomes(&file, plan.outcomes.iter()).data.errors
    }

    fn problems(error: &RowError) -> Vec<String> {
        let code = |code| serde_json::to_value(code).unwrap().as_str().unwrap().to_owned();
        error.problems.iter().map(|problem| format!("{} {}", problem.field, code(problem.code))).collect()
    }

    #[test]
    fn failing_row_names_all_of_its_problems() {
        let row_errors = errors(
            "email,first_name,last_name,role,manager_email,department_name,status,custom.desk\n\
             ada@,,X,boss,gone@example.com,Care,away,\u{1}\n",
        );
        assert_eq!(
            problems(&row_errors[0]),
            [
                "email invalid_format",
                "first_name required",
                "role invalid_enum",
                "custom.desk invalid_format",
                "status invalid_enum",
                "department_name permission_denied",
                "manager_email not_found_in_organization",
            ]
        );
        assert_eq!(
            row_errors[0].message,
            "email must be an e-mail address; first_name is required; role must be one of: employee, manager, \
             org_admin; custom.desk must be text without control characters other than tab and line ends; status \
             must be one of: active, deactivated; department_name \"Care\" does not exist, and creating it needs \
             an admin-level key; manager_email \"gone@example.com\" does not exist in the organization"
        );
    }

    #[test]
    fn conflicting_rows_name_the_problems_of_their_cells() {
        let text = "email,first_name,last_name,external_id,role\na@example.com,A,X,1,\nb@example.com,,X,1,boss\n";
        let row_errors = errors(text);
        assert_eq!(problems(&row_errors[0]), ["row conflict"]);
        assert_eq!(problems(&row_errors[1]), ["row conflict", "first_name required", "role invalid_enum"]);
    }

    #[test]
    fn row_below_a_rejected_manager_names_the_missing_manager() {
        let text = "email,first_name,last_name,role,manager_email\n\
             a@example.com,A,X,boss,\nb@example.com,B,X,boss,a@example.com\nc@example.com,C,X,,c@example.com\n";
        let problem_lists: Vec<_> = errors(text).iter().map(problems).collect();
        let missing = vec!["role invalid_enum", "manager_email not_found_in_organization"];
        assert_eq!(problem_lists, [vec!["role invalid_enum"], missing, vec!["manager_email reporting_cycle"]]);
    }

    #[test]
    fn row_without_its_manager_names_the_row_to_correct() {
        let row_errors = errors(
            "email,first_name,last_name,manager_email\n\
             ceo@example.com,Cy,Lo,CEO@example.com\n\
             vp@example.com,Vi,Pe,ceo@example.com\n\
             ada@example.com,Ada,Moreau,vp@example.com\n\
             bo@example.com,Bo,,\n\
             cy@example.com,,Cy,bo@example.com\n",
        );
        let messages: Vec<_> =
            row_errors.iter().map(|error| (error.message.as_str(), error.caused_by_row)).collect();
        assert_eq!(
            messages,
            [
                ("manager_email is the person's own address; leave the cell of the top person empty", None),
                (
                    "manager_email \"ceo@example.com\" is in row 2, which was not imported: correct that row first",
                    Some(2)
                ),
                (
                    "manager_email \"vp@example.com\" is in row 3, which was not imported because of row 2: correct \
                     that row first",
                    Some(2)
                ),
                ("last_name is required", None),
                (
                    "first_name is required; manager_email \"bo@example.com\" is in row 5, which was not imported: \
                     correct that row first",
                    None
                ),
            ]
        );
    }

    #[test]
    fn error_of_a_spreadsheet_is_a_problem_of_its_cell() {
        let row_errors =
            errors("email,first_name,last_name,custom.desk\na@example.com,#NAME?,#REF!,#N/A\n#N/A,A,X,\n");
        let expected_problems =
            ["first_name invalid_format", "last_name invalid_format", "custom.desk invalid_format"];
        assert_eq!(problems(&row_errors[0]), expected_problems);
        assert_eq!(problems(&row_errors[1]), ["email invalid_format"]);
        assert!(
            row_errors[1].message.contains("the spreadsheet shows an error in this cell"),
            "{}",
            row_errors[1].message
        );
    }

    #[test]
    fn truncated_row_has_no_further_problems() {
        let row_errors = errors("email,first_name,role\na@exa");
        assert_eq!(problems(&row_errors[0]), ["row invalid_format"]);
    }

    #[test]
    fn entries_list_at_most_twenty_problems() {
        let columns: String = (0..25).map(|number| format!(",custom.c{number}")).collect();
        let row = format!("a@example.com,A,X{}\n", ",\u{1}".repeat(25));
        let row_errors = errors(&format!("email,first_name,last_name{columns}\n{row}"));
        assert_eq!(row_errors[0].problems.len(), 20);
        assert!(row_errors[0].message.ends_with("; and 5 more problems"), "{}", row_errors[0].message);
        let rows: String = (0..2_000).map(|number| row.replace("a@", &format!("a{number}@"))).collect();
        let more_errors = errors(&format!("email,first_name,last_name{columns}\n{rows}"));
        let problem_count: usize = more_errors.iter().map(|error| error.problems.len()).sum();
        assert_eq!((more_errors.len(), problem_count), (2_000, 20_000 + 1_000));
    }
}
