//! Files of people, and their uploads.

use crate::api::Api;
use crate::measures::*;
use serde_json::json;
use std::fmt::Write;

/// Rows of a file, the most that the API allows.
pub(in crate::measures) const PEOPLE: u32 = 10_000;
const DEPARTMENTS: u32 = 100;
/// Direct reports of a manager.
const REPORTS: u32 = 8;
/// A prime that does not divide the number of people, so that the rows are shuffled.
const STEP: u32 = 7_919;

/// Returns a file of people whose addresses and departments begin with `name`.
pub(in crate::measures) fn file(name: &str, first_name: &str, people: u32) -> String {
    let mut text = "email,first_name,last_name,role,manager_email,department_name\n".to_owned();
    for row in 0..people {
        let person = row * STEP % people;
        let manager =
            person.checked_sub(1).map_or_else(String::new, |one| format!("{name}{}@example.com", one / REPORTS));
        let role = if person < people / REPORTS { "manager" } else { "employee" };
        let department = person % DEPARTMENTS;
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "{name}{person}@example.com,{first_name},Example {person},{role},{manager},{name}Dep {department}"
        );
    }
    text
}

/// Uploads with a key of their own: the quota of a key is six a minute.
#[derive(Debug)]
pub(in crate::measures) struct Uploads(Api);

impl Uploads {
    pub(in crate::measures) fn new(tenant: &Api) -> Result<Self> {
        let body = json!({"name": "csv", "scopes": ["employees:write"], "access_level": "admin"});
        let answer = tenant.send("POST", "/v1/api-keys", &body)?;
        let key = answer["key"].as_str().ok_or("the answer has no key")?.to_owned();
        Ok(Self(Api { key, ..tenant.clone() }))
    }

    /// Uploads a file and returns the seconds. The service must count all rows under the name `counter`.
    pub(in crate::measures) fn send(&self, file: &str, counter: &str, people: u32) -> Result<f64> {
        let (seconds, answer) = self.0.upload(file)?;
        if answer["data"][counter].as_u64() != Some(people.into()) {
            let shown: String = answer.to_string().chars().take(400).collect();
            return Err(format!("not every row was {counter}: {shown}").into());
        }
        Ok(seconds)
    }

    /// Uploads a file whose result does not matter.
    pub(in crate::measures) fn send_any(&self, file: &str) -> Result {
        self.0.upload(file).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn file_has_each_person_once_with_a_manager() {
        let text = file("n-", "Ada", PEOPLE);
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let people: HashSet<&str> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(people.len(), PEOPLE as usize);
        assert_eq!(rows.iter().filter(|row| row[4].is_empty()).count(), 1);
        assert!(rows.iter().all(|row| row[4].is_empty() || people.contains(row[4])));
    }
}
