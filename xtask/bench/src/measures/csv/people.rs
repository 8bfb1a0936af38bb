//! The files, and how they are sent.

use crate::Outcome;
use crate::http::post;
use crate::stage::Side;
use serde_json::json;
use std::fmt::Write;
use std::net::SocketAddr;

/// As many as a file may have.
pub(in crate::measures) const PEOPLE: u32 = 10_000;
const DEPARTMENTS: u32 = 100;
/// Direct reports of a manager.
const REPORTS: u32 = 8;
/// Without a divisor in common with the number of people, so that rows stand in no order.
const STEP: u32 = 7_919;

/// A file of so many people whose addresses and departments begin with a name.
pub(in crate::measures) fn file(name: &str, first_name: &str, people: u32) -> String {
    let mut text = "email,first_name,last_name,role,manager_email,department_name\n".to_owned();
    for row in 0..people {
        let it = row * STEP % people;
        let manager = if it == 0 { String::new() } else { format!("{name}{}@example.com", (it - 1) / REPORTS) };
        let role = if it < people / REPORTS { "manager" } else { "employee" };
        let department = it % DEPARTMENTS;
        // Writing to a text cannot fail.
        let _ =
            writeln!(text, "{name}{it}@example.com,{first_name},Example {it},{role},{manager},{name}Dep {department}");
    }
    text
}

/// Uploads under a key of their own: their quota is six a minute.
#[derive(Debug)]
pub(in crate::measures) struct Uploads {
    address: SocketAddr,
    key: String,
}

impl Uploads {
    pub(super) fn new(side: &Side) -> Outcome<Self> {
        Self::at(side.service.address, &side.key)
    }

    /// The same in the data set of a key.
    pub(in crate::measures) fn at(address: SocketAddr, key: &str) -> Outcome<Self> {
        let body = json!({"name": "csv", "scopes": ["employees:write"], "access_level": "admin"}).to_string();
        let (_, answer) = post(address, "/v1/api-keys", key, "application/json", &body, 201)?;
        let key = answer["key"].as_str().ok_or("no key was made")?.to_owned();
        Ok(Self { address, key })
    }

    /// How many seconds a file takes, all of whose rows must be counted under this word.
    pub(in crate::measures) fn send(&self, file: &str, counter: &str, people: u32) -> Outcome<f64> {
        let (seconds, answer) = post(self.address, "/v1/employees/csv", &self.key, "text/csv", file, 200)?;
        if answer["data"][counter].as_u64() != Some(people.into()) {
            let shown: String = answer.to_string().chars().take(400).collect();
            return Err(format!("not every row was {counter}: {shown}").into());
        }
        Ok(seconds)
    }

    /// Sends a file whose answer does not matter.
    pub(in crate::measures) fn send_any(&self, file: &str) -> Outcome {
        post(self.address, "/v1/employees/csv", &self.key, "text/csv", file, 200).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn everybody_is_there_once_and_has_a_manager_from_the_file() {
        let text = file("n-", "Ada", PEOPLE);
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|it| it.split(',').collect()).collect();
        let people: HashSet<&str> = rows.iter().map(|it| it[0]).collect();
        assert_eq!(people.len(), PEOPLE as usize);
        assert_eq!(rows.iter().filter(|it| it[4].is_empty()).count(), 1);
        assert!(rows.iter().all(|it| it[4].is_empty() || people.contains(it[4])));
    }
}
