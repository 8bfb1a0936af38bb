//! A little data for the first start of `candor dev`, made through the use cases like everybody's.

use std::sync::Arc;

use candor_domain::audit::Origin;
use candor_domain::id::{Id, Kind};
use candor_domain::json::{Object, Value as Json};
use candor_domain::params::Params;
use candor_domain::secret::Secret;
use candor_service::library::{attributes, departments};
use candor_service::{Call, Reply, Shell, assignments, conversations, employees, observations};
use serde_json::{Value, json};

use crate::error::Error;

/// A person: first name, last name, role, the place of their manager in this list, department.
type Person = (&'static str, &'static str, &'static str, Option<usize>, usize);

const DEPARTMENTS: [&str; 2] = ["Product", "Customer care"];

const PEOPLE: [Person; 6] = [
    ("Mara", "Lindqvist", "org_admin", None, 0),
    ("Jonas", "Okafor", "manager", Some(0), 0),
    ("Ines", "Duarte", "manager", Some(0), 1),
    ("Tomasz", "Zieliński", "employee", Some(1), 0),
    ("Aiko", "Tanaka", "employee", Some(1), 0),
    ("Ruth", "Abebe", "employee", Some(2), 1),
];

/// What was seen: about whom, type, text, impact, recommended action, how many attributes.
type Seen = (usize, &'static str, &'static str, Option<&'static str>, Option<&'static str>, usize);

const OBSERVATIONS: [Seen; 6] = [
    (3, "strength", "Wrote the migration guide before anybody asked.", Some("Two teams moved in a day."), None, 2),
    (3, "opportunity", "Reviews wait for days.", Some("Releases slip."), Some("Review before noon."), 1),
    (4, "strength", "Found the cause of the outage within minutes.", Some("Customers hardly noticed."), None, 1),
    (5, "strength", "Turned an angry caller into a reference customer.", None, None, 2),
    (5, "opportunity", "Keeps what she learns to herself.", None, Some("Share one case a week with the team."), 1),
    (1, "strength", "Gives everybody room to speak in planning.", None, None, 1),
];

/// Puts the sample in, as the holder of the key.
///
/// # Errors
/// [`Error::Refused`] or [`Error::Defect`], with what was tried.
pub(crate) async fn put(shell: &Shell, key: &Secret) -> Result<(), Error> {
    let call = call(shell, key).await?;
    let mut department_ids = Vec::new();
    for name in DEPARTMENTS {
        let made = departments::create(shell, &call, object(json!({"name": name}))).await;
        department_ids.push(id(&made.map_err(Error::refused("create a sample department"))?)?);
    }
    let mut people: Vec<String> = Vec::new();
    for (first, last, role, manager, department) in PEOPLE {
        let body = json!({
            "email": format!("{}@example.com", first.to_lowercase()),
            "first_name": first,
            "last_name": last,
            "role": role,
            "manager_id": manager.and_then(|at| people.get(at)),
            "department_id": department_ids.get(department),
        });
        let made = employees::create(shell, &call, object(body)).await;
        people.push(id(&made.map_err(Error::refused("create a sample employee"))?)?);
    }
    let attributes = attribute_ids(shell, &call).await?;
    for (at, (person, kind, text, impact, action, tags)) in OBSERVATIONS.into_iter().enumerate() {
        let tags: Vec<&String> = attributes.iter().cycle().skip(at * 2).take(tags.min(attributes.len())).collect();
        let body = json!({
            "employee_id": people.get(person),
            "type": kind,
            "observation": text,
            "impact": impact,
            "recommended_action": action,
            "attribute_ids": tags,
        });
        let made = observations::create(shell, &call, object(body)).await;
        made.map_err(Error::refused("create a sample observation"))?;
    }
    talk(shell, &call, &people).await?;
    ask(shell, &call, &people).await
}

/// Two people of the sample write to each other about one of them.
async fn talk(shell: &Shell, call: &Call, people: &[String]) -> Result<(), Error> {
    let (Some(jonas), Some(tomasz)) = (people.get(1), people.get(3)) else { return Ok(()) };
    let body = json!({
        "title": "Reviews before noon",
        "participant_ids": [jonas, tomasz],
        "about": {"type": "employee", "id": tomasz},
    });
    let made = conversations::create(shell, call, object(body)).await;
    let conversation = parsed(&id(&made.map_err(Error::refused("create a sample conversation"))?)?)?;
    for (author, text) in [(jonas, "What would help you to review sooner?"), (tomasz, "Fewer of them at once.")] {
        let made =
            conversations::add(shell, call, conversation, object(json!({"author_id": author, "body": text}))).await;
        made.map_err(Error::refused("create a sample message"))?;
    }
    Ok(())
}

/// A manager of the sample asks two people about a third, and one of them has answered.
async fn ask(shell: &Shell, call: &Call, people: &[String]) -> Result<(), Error> {
    let body = json!({
        "employee_id": people.get(3),
        "requester_id": people.get(1),
        "title": "Before the review in summer",
        "instructions": "How is it to work with Tomasz?",
        "reviewer_ids": [people.get(4), people.get(5)],
    });
    let made = assignments::create(shell, call, object(body)).await;
    let assignment = parsed(&id(&made.map_err(Error::refused("create a sample assignment"))?)?)?;
    let observed = json!([{"type": "strength", "observation": "Explains what he changes, and why."}]);
    let body = json!({"reviewer_id": people.get(4), "observations": observed});
    let made = assignments::submit(shell, call, assignment, object(body)).await;
    made.map(drop).map_err(Error::refused("create a sample submission"))
}

async fn call(shell: &Shell, key: &Secret) -> Result<Call, Error> {
    let caller = shell.auth.authenticate(key.reveal()).await;
    let caller = caller.map_err(|it| Error::refused("read the new key")(it.into()))?;
    let caller = caller.ok_or_else(|| defect("the new key is not good"))?;
    let request = shell.id(shell.clock.now());
    Ok(Call {
        caller: Arc::clone(&caller),
        request,
        origin: Origin::default(),
        idempotency: None,
        precondition: None,
        surplus: None,
        needs_admin: false,
    })
}

async fn attribute_ids(shell: &Shell, call: &Call) -> Result<Vec<String>, Error> {
    let listed = attributes::list(shell, call, Params::new(Vec::new())).await;
    let listed = body(&listed.map_err(Error::refused("list the attributes"))?)?;
    let items = listed["data"].as_array().into_iter().flatten();
    Ok(items.filter_map(|it| it["id"].as_str().map(str::to_owned)).collect())
}

fn parsed<K: Kind>(id: &str) -> Result<Id<K>, Error> {
    id.parse().map_err(|_| defect("an id is none"))
}

fn id(reply: &Reply) -> Result<String, Error> {
    let id = body(reply)?["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| defect("an answer has no id"))
}

fn body(reply: &Reply) -> Result<Value, Error> {
    serde_json::from_slice(&reply.body).map_err(|it| defect(&it.to_string()))
}

fn object(value: Value) -> Object {
    match serde_json::from_value(value) {
        Ok(Json::Object(members)) => members,
        Ok(_) | Err(_) => Vec::new(),
    }
}

fn defect(reason: &str) -> Error {
    Error::Defect { what: "put the sample data in", reason: reason.to_owned() }
}
