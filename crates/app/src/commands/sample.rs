//! Sample data for the first start of `candor dev`, created through the use cases.

mod integrations;
mod progress;

use std::sync::Arc;

use candor_domain::id::{Id, Kind};
use candor_domain::json::Object;
use candor_domain::objective::{Family, Verb};
use candor_domain::params::Params;
use candor_domain::secret::Secret;
use candor_domain::summary::ActionKind;
use candor_service::usecases::catalog::{attributes, departments};
use candor_service::usecases::{assignments, conversations, employees, objectives, observations, summaries};
use candor_service::{Reply, RequestContext, Services};
use serde_json::{Value, json};

use candor_cli::error::CommandError;

use crate::error::to_command_error;

/// A person: first name, last name, job title, role, index of the manager in this list, index of the
/// department.
type Person = (&'static str, &'static str, &'static str, &'static str, Option<usize>, usize);

const DEPARTMENTS: [&str; 3] = ["Product", "Customer care", "Finance"];

const PEOPLE: [Person; 12] = [
    ("Mara", "Lindqvist", "Managing director", "org_admin", None, 0),
    ("Jonas", "Okafor", "Head of product", "manager", Some(0), 0),
    ("Ines", "Duarte", "Head of customer care", "manager", Some(0), 1),
    ("Tomasz", "Zieliński", "Software engineer", "employee", Some(1), 0),
    ("Aiko", "Tanaka", "Site reliability engineer", "employee", Some(1), 0),
    ("Ruth", "Abebe", "Support specialist", "employee", Some(2), 1),
    ("Samuel", "Moreau", "Software engineer", "employee", Some(1), 0),
    ("Leila", "Haddad", "Product designer", "employee", Some(1), 0),
    ("Pavel", "Novák", "Support specialist", "employee", Some(2), 1),
    ("Grace", "Mwangi", "Controller", "manager", Some(0), 2),
    ("Oscar", "Silva", "Accountant", "employee", Some(9), 2),
    ("Hanna", "Korhonen", "Support specialist", "employee", Some(2), 1),
];

/// An observation: indexes of subject and author, type, text, impact, recommended action, number of attributes.
type SampleObservation =
    (usize, usize, &'static str, &'static str, Option<&'static str>, Option<&'static str>, usize);

const OBSERVATIONS: [SampleObservation; 10] = [
    (
        3,
        1,
        "strength",
        "Wrote the migration guide before anybody asked.",
        Some("Two teams moved in a day."),
        None,
        2,
    ),
    (3, 6, "opportunity", "Reviews wait for days.", Some("Releases slip."), Some("Review before noon."), 1),
    (
        4,
        1,
        "strength",
        "Found the cause of the outage within minutes.",
        Some("Customers hardly noticed."),
        None,
        1,
    ),
    (5, 2, "strength", "Turned an angry caller into a reference customer.", None, None, 2),
    (
        5,
        8,
        "opportunity",
        "Keeps what she learns to herself.",
        None,
        Some("Share one case a week with the team."),
        1,
    ),
    (1, 0, "strength", "Gives everybody room to speak in planning.", None, None, 1),
    (
        6,
        3,
        "strength",
        "Asks the question that nobody dares to ask.",
        Some("We dropped a feature that nobody needed."),
        None,
        1,
    ),
    (
        7,
        1,
        "strength",
        "Tested the new form with five customers first.",
        Some("Half as many calls about it."),
        None,
        2,
    ),
    (10, 9, "opportunity", "Closes the month alone, until late.", None, Some("Ask for help on the first day."), 1),
    (11, 2, "strength", "Answers in the customer's own words.", None, None, 1),
];

/// An objective: index of the owner, title, scope, and actions to perform on it. There is at least one objective in
/// each state. An approved one with [`NEXT_YEAR`] in its title starts next year, so that it stays approved.
type Goal = (usize, &'static str, Option<&'static str>, &'static [Verb]);

const NEXT_YEAR: &str = "next year";

const GOALS: [Goal; 11] = [
    (3, "Every service has a migration guide", None, &[Verb::Submit, Verb::Approve]),
    (5, "Half of the calls are solved at once", None, &[Verb::Submit]),
    (6, "The nightly build takes ten minutes", None, &[]),
    (7, "Every form works with a keyboard", None, &[Verb::Approve, Verb::Complete]),
    (8, "A case is answered within an hour", None, &[Verb::Approve]),
    (10, "The month is closed in three days", None, &[Verb::Submit]),
    (4, "No outage lasts an hour next year", None, &[Verb::Submit, Verb::Approve]),
    (11, "Each answer links to the handbook", None, &[Verb::Approve, Verb::Miss]),
    (9, "The old ledger is closed", None, &[Verb::Archive]),
    (1, "Ship the new onboarding", Some("manager"), &[Verb::Submit, Verb::Approve]),
    (0, "Customers would recommend us", Some("org"), &[]),
];

/// A summary: indexes of subject and author, title, text, and actions to perform on it.
type Review = (usize, usize, &'static str, &'static str, &'static [(ActionKind, &'static str)]);

const SUMMARIES: [Review; 5] = [
    (6, 1, "Samuel, first half", "Asks well. What is missing is follow-up.", &[]),
    (5, 2, "Ruth, first half", "Calm with customers, quiet in the team.", &[(ActionKind::Submit, "{}")]),
    (
        4,
        1,
        "Aiko, first half",
        "The person to have in an outage.",
        &[(ActionKind::Submit, "{}"), (ActionKind::Approve, "{}")],
    ),
    (
        3,
        1,
        "Tomasz, first half",
        "Writes things down before others miss them. Reviews should not wait.",
        &[
            (ActionKind::Submit, "{}"),
            (ActionKind::Approve, "{}"),
            (ActionKind::Share, "{}"),
            (
                ActionKind::Feedback,
                r#"{"comment": "Fair. I block an hour for reviews now.", "acknowledged": true}"#,
            ),
        ],
    ),
    (7, 1, "Leila, trial period", "Passed.", &[(ActionKind::Submit, "{}"), (ActionKind::Archive, "{}")]),
];

const MESSAGES: [(usize, &str); 3] = [
    (1, "How did the review before noon work out this week?"),
    (3, "Four of five days. On Thursday I forgot."),
    (1, "That is a lot better. Let us look again in two weeks."),
];

/// Creates the sample data as the holder of the key.
///
/// # Errors
/// [`CommandError::Refused`] or [`CommandError::Defect`], with the failed operation.
pub(crate) async fn put(services: &Arc<Services>, key: &Secret) -> Result<(), CommandError> {
    let context = request_context(services, key).await?;
    integrations::create_webhook(&context).await?;
    let people = people(&context).await?;
    let observation_ids = create_observations(&context, &people).await?;
    let goals = create_objectives(&context, &people).await?;
    progress::add_progress(&context, &people, &goals).await?;
    create_summary(&context, &people, &observation_ids, &goals).await?;
    create_conversation(&context, &people).await?;
    let ask = json!({
        "title": "How is Ruth doing with the new customers?",
        "instructions": "One strength and one opportunity each.",
        "employee_id": people.get(5),
        "requester_id": people.get(2),
        "reviewer_ids": [people.get(8), people.get(11)],
    });
    let assignment =
        body(&expect_reply(assignments::create(&context, object(ask)).await, "create a sample assignment")?)?;
    let response = json!({
        "reviewer_id": people.get(8),
        "observations": [{"type": "strength", "observation": "Called each of them in the first week."}],
    });
    let id = parse_id(&assignment)?;
    expect_reply(assignments::submit(&context, id, object(response)).await, "answer a sample assignment")?;
    integrations::create_connector(&context).await
}

async fn people(context: &RequestContext) -> Result<Vec<String>, CommandError> {
    let mut department_ids = Vec::new();
    for name in DEPARTMENTS {
        let creation = departments::create(context, object(json!({"name": name}))).await;
        department_ids.push(id(&expect_reply(creation, "create a sample department")?)?);
    }
    let mut people: Vec<String> = Vec::new();
    for (first, last, title, role, manager, department) in PEOPLE {
        let body = json!({
            "email": format!("{}@example.com", first.to_lowercase()),
            "first_name": first,
            "last_name": last,
            "job_title": title,
            "role": role,
            "manager_id": manager.and_then(|at| people.get(at)),
            "department_id": department_ids.get(department),
        });
        let creation = employees::create(context, object(body)).await;
        people.push(id(&expect_reply(creation, "create a sample employee")?)?);
    }
    Ok(people)
}

/// Creates the observations and returns their ids, each with the index of its subject.
async fn create_observations(
    context: &RequestContext,
    people: &[String],
) -> Result<Vec<(usize, String)>, CommandError> {
    let attributes = attribute_ids(context).await?;
    let mut observation_ids = Vec::new();
    for (at, (person, author, kind, text, impact, action, tags)) in OBSERVATIONS.into_iter().enumerate() {
        let tags: Vec<&String> = attributes.iter().cycle().skip(at * 2).take(tags.min(attributes.len())).collect();
        let body = json!({
            "employee_id": people.get(person),
            "author_id": people.get(author),
            "type": kind,
            "observation": text,
            "impact": impact,
            "recommended_action": action,
            "attribute_ids": tags,
        });
        let creation = observations::create(context, object(body)).await;
        observation_ids.push((person, id(&expect_reply(creation, "create a sample observation")?)?));
    }
    Ok(observation_ids)
}

/// Creates the objectives for the current year and returns them with the indexes of their owners.
async fn create_objectives(
    context: &RequestContext,
    people: &[String],
) -> Result<Vec<(usize, String)>, CommandError> {
    let today = context.services.clock.now().date().to_string();
    let this_year: i32 = today.get(..4).and_then(|year| year.parse().ok()).unwrap_or(2026);
    let mut set = Vec::new();
    for (owner, title, scope, verbs) in GOALS {
        let year = if title.ends_with(NEXT_YEAR) { this_year + 1 } else { this_year };
        let mut body = json!({
            "owner_id": people.get(owner),
            "title": title,
            "period_start": format!("{year}-01-01"),
            "period_end": format!("{year}-12-31"),
        });
        if let Some(scope) = scope {
            body["scope"] = scope.into();
        }
        let family = if scope.is_some() { Family::Managers } else { Family::Employees };
        let creation = objectives::create(context, family, object(body)).await;
        let objective = body_of(creation, "create a sample objective")?;
        for verb in verbs {
            let id = parse_id(&objective)?;
            if *verb == Verb::Miss {
                let start_body = object(json!({"status": "in_progress"}));
                let start_result = objectives::update(context, family, id, start_body).await;
                expect_reply(start_result, "start a sample objective")?;
            }
            expect_reply(
                objectives::act(context, family, id, *verb, Object::new()).await,
                "review a sample objective",
            )?;
        }
        set.push((owner, text_id(&objective)?));
    }
    Ok(set)
}

async fn create_summary(
    context: &RequestContext,
    people: &[String],
    seen: &[(usize, String)],
    goals: &[(usize, String)],
) -> Result<(), CommandError> {
    let ids_about = |all: &[(usize, String)], person| {
        all.iter().filter(|(about, _)| *about == person).map(|(_, id)| id.clone()).collect::<Vec<_>>()
    };
    for (person, author, title, text, actions) in SUMMARIES {
        let body = json!({
            "employee_id": people.get(person),
            "author_id": people.get(author),
            "title": title,
            "body": text,
            "included_observation_ids": ids_about(seen, person),
            "included_objective_ids": ids_about(goals, person),
        });
        let summary = body_of(summaries::create(context, object(body)).await, "create a sample summary")?;
        for (action, action_body) in actions {
            let action_body = serde_json::from_str(action_body).map_err(|error| defect(&error.to_string()))?;
            let action_result = summaries::act(context, parse_id(&summary)?, *action, object(action_body)).await;
            expect_reply(action_result, "review a sample summary")?;
        }
    }
    Ok(())
}

async fn create_conversation(context: &RequestContext, people: &[String]) -> Result<(), CommandError> {
    let conversation_body = json!({"title": "One to one", "participant_ids": [people.get(1), people.get(3)]});
    let conversation =
        body_of(conversations::create(context, object(conversation_body)).await, "create a sample conversation")?;
    for (author, text) in MESSAGES {
        let message = json!({"author_id": people.get(author), "body": text});
        expect_reply(
            conversations::add(context, parse_id(&conversation)?, object(message)).await,
            "write a sample message",
        )?;
    }
    Ok(())
}

fn expect_reply(outcome: Result<Reply, candor_service::Error>, what: &'static str) -> Result<Reply, CommandError> {
    outcome.map_err(to_command_error(what))
}

fn body_of(outcome: Result<Reply, candor_service::Error>, what: &'static str) -> Result<Value, CommandError> {
    body(&expect_reply(outcome, what)?)
}

fn parse_id<K: Kind>(made: &Value) -> Result<Id<K>, CommandError> {
    text_id(made)?.parse().map_err(|_| defect("an answer has no good id"))
}

fn text_id(made: &Value) -> Result<String, CommandError> {
    made["id"].as_str().map(str::to_owned).ok_or_else(|| defect("an answer has no id"))
}

async fn request_context(services: &Arc<Services>, key: &Secret) -> Result<RequestContext, CommandError> {
    let caller = services.auth.authenticate(key.reveal()).await;
    let caller = caller.map_err(|error| to_command_error("read the new key")(error.into()))?;
    let caller = caller.ok_or_else(|| defect("the service does not accept the key that it has just created"))?;
    let request = services.id(services.clock.now());
    Ok(RequestContext::new(Arc::clone(services), caller, request))
}

async fn attribute_ids(context: &RequestContext) -> Result<Vec<String>, CommandError> {
    let list_result = attributes::list(context, Params::new(Vec::new())).await;
    let attribute_page = body(&list_result.map_err(to_command_error("list the attributes"))?)?;
    let items = attribute_page["data"].as_array().into_iter().flatten();
    Ok(items.filter_map(|item| item["id"].as_str().map(str::to_owned)).collect())
}

fn id(reply: &Reply) -> Result<String, CommandError> {
    text_id(&body(reply)?)
}

fn body(reply: &Reply) -> Result<Value, CommandError> {
    serde_json::from_slice(&reply.body).map_err(|error| defect(&error.to_string()))
}

fn object(value: Value) -> Object {
    serde_json::from_value(value).unwrap_or_default()
}

fn defect(reason: &str) -> CommandError {
    CommandError::Defect { what: "put the sample data in", reason: reason.to_owned() }
}
