//! `cargo xtask recipe`: `docs/examples/keep_a_copy.py` against the built binary. Its copy must be the same as the lists of
//! the service after a first run, after a run beside writes, and after changes that fire no event.

use crate::process::{Outcome, root};
use crate::service::{Key, Service, member};
use crate::test;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::thread;

const PROGRAM: &str = "docs/examples/keep_a_copy.py";
/// People who are recorded and changed while the program reads the lists for the first time.
const PEOPLE_MEANWHILE: usize = 60;

pub(crate) fn run() -> Outcome {
    test::build_everything()?;
    let binary = Workspace::load()?.target_directory.join("debug/candor");
    let service = Service::start(&binary, &[])?;
    let key = service.key()?;
    let recipe = Recipe { copy: service.folder().join("copy.db"), service, key };
    recipe
        .check()
        .map_err(|problem| format!("{problem}; the end of the service's log:\n{}", recipe.service.end_of_log()).into())
}

struct Recipe {
    service: Service,
    key: Key,
    copy: PathBuf,
}

/// The ids of what is there before the first run.
struct Data {
    person: String,
    objective: String,
    observation: String,
    summary: String,
    conversation: String,
    assignment: String,
    department: String,
    attribute: String,
}

impl Recipe {
    fn check(&self) -> Outcome {
        let data = self.create_data()?;
        let meanwhile = thread::scope(|scope| -> Outcome {
            let writes = scope.spawn(|| self.write_people().map_err(|problem| problem.to_string()));
            self.keep(&[])?;
            writes.join().map_err(|_| "the writes beside the first run panicked")??;
            Ok(())
        });
        meanwhile?;
        self.expect_in_step("a first run beside writes")?;
        self.change(&data)?;
        self.expect_in_step("changes of every kind")?;
        self.put("PATCH", &format!("departments/{}", data.department), &json!({"name": "Unseen"}))?;
        match self.keep(&["--check"]) {
            Err(problem) if problem.to_string().contains(&data.department) => Ok(()),
            other => Err(format!("--check does not name a department that has changed since: {other:?}").into()),
        }
    }

    /// Brings the copy up to date, and compares it with the service.
    fn expect_in_step(&self, after: &str) -> Outcome {
        self.keep(&[])?;
        self.keep(&["--check"]).map_err(|problem| format!("after {after}: {problem}").into())
    }

    fn keep(&self, arguments: &[&str]) -> Outcome {
        let mut command = Command::new("python3");
        command.arg(root().join(PROGRAM)).arg(&self.copy).args(arguments);
        command.env("CANDOR_URL", self.service.url("")).env("CANDOR_API_KEY", &self.key.secret);
        let output = command.output().map_err(|error| format!("cannot run python3: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{PROGRAM} {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)).into())
    }

    fn put(&self, method: &str, path: &str, body: &Value) -> Outcome<Value> {
        self.service.request(&self.key, method, &format!("/v1/{path}"), body)
    }

    fn create(&self, list: &str, body: &Value) -> Outcome<String> {
        member(&self.put("POST", list, body)?, "id")
    }

    fn act(&self, path: &str) -> Outcome {
        self.put("POST", path, &json!({})).map(drop)
    }

    fn create_person(&self, name: &str) -> Outcome<String> {
        let email = format!("{name}@example.com");
        self.create("employees", &json!({"email": email, "first_name": name, "last_name": "Example"}))
    }

    fn create_observation(&self, person: &str) -> Outcome<String> {
        let body = json!({"employee_id": person, "type": "strength", "observation": "Helps."});
        self.create("observations", &body)
    }

    fn create_objective(&self, person: &str) -> Outcome<String> {
        let period =
            json!({"owner_id": person, "title": "Ship", "period_start": "2026-01-01", "period_end": "2026-12-31"});
        self.create("employee-objectives", &period)
    }

    /// Resources of every kind, archived ones and people who have left among them.
    fn create_data(&self) -> Outcome<Data> {
        let (person, reviewer, left) =
            (self.create_person("ada")?, self.create_person("ben")?, self.create_person("cem")?);
        self.act(&format!("employees/{left}/deactivate"))?;
        let (objective, observation) = (self.create_objective(&person)?, self.create_observation(&person)?);
        self.act(&format!("employee-objectives/{}/archive", self.create_objective(&person)?))?;
        self.act(&format!("observations/{}/archive", self.create_observation(&person)?))?;
        let summary = json!({
            "employee_id": person, "title": "2026", "body": "Well.",
            "included_objective_ids": [objective], "included_observation_ids": [observation],
        });
        let talk = json!({"title": "Plans", "participant_ids": [person, reviewer]});
        let asked = json!({"employee_id": person, "title": "Feedback", "reviewer_ids": [reviewer]});
        let tag = json!({"name": "Pace", "category": "Work", "tone": "neutral"});
        Ok(Data {
            summary: self.create("summaries", &summary)?,
            conversation: self.create("conversations", &talk)?,
            assignment: self.create("assignments", &asked)?,
            department: self.create("departments", &json!({"name": "Care"}))?,
            attribute: self.create("attributes", &tag)?,
            person,
            objective,
            observation,
        })
    }

    fn write_people(&self) -> Outcome {
        for number in 0..PEOPLE_MEANWHILE {
            let person = self.create_person(&format!("new{number}"))?;
            self.put("PATCH", &format!("employees/{person}"), &json!({"last_name": "Changed"}))?;
        }
        Ok(())
    }

    /// Changes with and without events, and changes that show in other resources.
    fn change(&self, data: &Data) -> Outcome {
        self.put("PATCH", &format!("employees/{}", data.person), &json!({"job_title": "Nurse"}))?;
        let second = self.create_objective(&data.person)?;
        let included = json!({"included_objective_ids": [second]});
        self.put("PATCH", &format!("summaries/{}", data.summary), &included)?;
        self.act(&format!("observations/{}/archive", data.observation))?;
        self.act(&format!("employee-objectives/{}/archive", data.objective))?;
        let message = json!({"author_id": data.person, "body": "When?"});
        self.put("POST", &format!("conversations/{}/messages", data.conversation), &message)?;
        self.put("PATCH", &format!("conversations/{}", data.conversation), &json!({"title": "Dates"}))?;
        self.act(&format!("assignments/{}/cancel", data.assignment))?;
        self.put("PATCH", &format!("departments/{}", data.department), &json!({"name": "Wards"}))?;
        self.act(&format!("attributes/{}/archive", data.attribute))
    }
}
