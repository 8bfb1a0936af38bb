//! Finds ignored columns whose cells say who has left. Without a message, the people who left would stay active.

use super::columns::UnknownColumn;
use super::columns::guess::read_status;
use super::scan::Record;

/// Findings about the cells of the ignored columns, from the rows that were read so far.
pub(super) struct StatusCells(Vec<IgnoredColumn>);

struct IgnoredColumn {
    /// Place of the column in the header.
    place: usize,
    /// `true` as long as each cell with content is a status.
    are_statuses: bool,
    /// `true` if a cell is the status of a person who has left.
    has_leavers: bool,
}

impl StatusCells {
    pub(super) fn new(unknown: &[UnknownColumn]) -> Self {
        let columns = unknown.iter().map(|column| IgnoredColumn {
            place: column.place,
            are_statuses: true,
            has_leavers: false,
        });
        Self(columns.collect())
    }

    /// Updates the findings with the cells of a row.
    pub(super) fn note(&mut self, record: &Record<'_, '_>) {
        for column in self.0.iter_mut().filter(|column| column.are_statuses) {
            let cell = record.cells.get(column.place).map(str::trim).filter(|cell| !cell.is_empty());
            match cell.map(read_status) {
                Some(Some(has_left)) => column.has_leavers |= has_left,
                Some(None) => column.are_statuses = false,
                None => {}
            }
        }
    }

    /// Marks the columns whose cells say who has left.
    pub(super) fn mark(&self, unknown: &mut [UnknownColumn]) {
        for (column, cells) in unknown.iter_mut().zip(&self.0) {
            column.is_status |= cells.are_statuses && cells.has_leavers;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::File;
    use candor_domain::problem::ValidationErrors;

    fn read(text: &str, ignored: &[&str]) -> Result<Vec<String>, ValidationErrors> {
        let mut file = File::read(text.as_bytes()).unwrap();
        let ignored_names: Vec<_> = ignored.iter().map(|name| (*name).to_owned()).collect();
        file.ignore_columns(&ignored_names)?;
        Ok(file.unknown.into_iter().map(|column| column.name).collect())
    }

    fn refused_fields(text: &str, ignored: &[&str]) -> Vec<String> {
        let problems = read(text, ignored).unwrap_err();
        problems.as_slice().iter().map(|problem| problem.field.clone()).collect()
    }

    #[test]
    fn ignored_column_of_statuses_refuses_the_file() {
        let leaver = "email,is_active,Zustand,Notes\na@example.com,n,terminated,x\nb@example.com,y,Active,\n";
        assert_eq!(refused_fields(leaver, &[]), ["is_active", "Zustand"]);
        assert_eq!(refused_fields(leaver, &["IS ACTIVE"]), ["Zustand"]);
        assert_eq!(read(leaver, &["is_active", "zustand"]).unwrap(), ["Notes"]);
        for harmless in [
            "email,status,is_active\na@example.com,active,n\n",
            "email,Zustand\na@example.com,active\n",
            "email,Zustand\na@example.com,terminated\nb@example.com,Berlin\n",
        ] {
            assert_eq!(read(harmless, &[]).unwrap().len(), 1, "{harmless}");
        }
    }

    #[test]
    fn name_that_is_no_ignored_column_is_refused() {
        for name in ["Note", "email", ""] {
            assert_eq!(refused_fields("email,Notes\na@example.com,x\n", &[name]), ["ignore_columns"]);
        }
    }
}
