//! Objectives (§4.2): two resources that share shape and lifecycle.

use candor_domain::access::Permission;
use candor_domain::audit::AuditEntry;
use candor_domain::fields::Word;
use candor_domain::id::{EmployeeKind, Kind, ObjectiveKind, SummaryKind};
use candor_domain::objective::{
    self, Action, DESCRIPTION_CHARS, FIRST_STATUSES, FIRST_STATUSES_NAME, Family, Objective, TITLE_CHARS, Verb,
};
use candor_service::Shell;
use candor_service::usecases::objectives;
use serde_json::{Value, json};

use super::events::HISTORY_ENTRY;
use crate::exchange::AuthenticatedRequest;
use crate::schema::shapes::{Member, answer, array, date, datetime, field, id, named, nullable, plain, times};
use crate::schema::words::{enumeration, of, open, sort, status_filter};
use crate::schema::{AT, EMPLOYEE_ID, OBJECTIVE_ID, Schema, body};
use crate::table::{Access, EventFamily, Method, Route, RouteGroup, Work};

/// The path of a row, the name of its operation, and its summary.
type Named = (&'static str, &'static str, &'static str);

/// One of the two resources, by what they do not share.
trait Resource {
    /// What stands in it.
    const FAMILY: Family;
    /// The schema of a creation: each resource takes its own scopes.
    const CREATE: &'static Schema;
    /// What the rows are called.
    const ROWS: [Named; 11];
}

/// `/employee-objectives`
struct OfEmployees;

/// `/manager-objectives`
struct OfManagers;

impl Resource for OfEmployees {
    const FAMILY: Family = Family::Employees;
    const CREATE: &'static Schema = &EMPLOYEE_OBJECTIVE_CREATE;
    const ROWS: [Named; 11] = [
        ("/employee-objectives", "listEmployeeObjectives", "List employees' objectives"),
        ("/employee-objectives", "createEmployeeObjective", "Create an employee's objective"),
        ("/employee-objectives/{id}", "getEmployeeObjective", "Get an employee's objective, also an archived one"),
        (
            "/employee-objectives/{id}",
            "updateEmployeeObjective",
            "Update an employee's objective, or move it between approved and in_progress",
        ),
        (
            "/employee-objectives/{id}/history",
            "listEmployeeObjectiveHistory",
            "List what was done with an employee's objective, newest first",
        ),
        ("/employee-objectives/{id}/submit", "submitEmployeeObjective", "Submit an employee's objective for review"),
        ("/employee-objectives/{id}/approve", "approveEmployeeObjective", "Approve an employee's objective"),
        (
            "/employee-objectives/{id}/reject",
            "rejectEmployeeObjective",
            "Send an employee's objective back, with the reason",
        ),
        (
            "/employee-objectives/{id}/complete",
            "completeEmployeeObjective",
            "Say that an employee's objective was reached",
        ),
        ("/employee-objectives/{id}/miss", "missEmployeeObjective", "Say that an employee's objective was not reached"),
        ("/employee-objectives/{id}/archive", "archiveEmployeeObjective", "Archive an employee's objective"),
    ];
}

impl Resource for OfManagers {
    const FAMILY: Family = Family::Managers;
    const CREATE: &'static Schema = &MANAGER_OBJECTIVE_CREATE;
    const ROWS: [Named; 11] = [
        ("/manager-objectives", "listManagerObjectives", "List managers' and org objectives"),
        ("/manager-objectives", "createManagerObjective", "Create a manager's or org objective"),
        ("/manager-objectives/{id}", "getManagerObjective", "Get a manager's or org objective, also an archived one"),
        (
            "/manager-objectives/{id}",
            "updateManagerObjective",
            "Update a manager's or org objective, or move it between approved and in_progress",
        ),
        (
            "/manager-objectives/{id}/history",
            "listManagerObjectiveHistory",
            "List what was done with a manager's or org objective, newest first",
        ),
        ("/manager-objectives/{id}/submit", "submitManagerObjective", "Submit a manager's or org objective for review"),
        ("/manager-objectives/{id}/approve", "approveManagerObjective", "Approve a manager's or org objective"),
        (
            "/manager-objectives/{id}/reject",
            "rejectManagerObjective",
            "Send a manager's or org objective back, with the reason",
        ),
        (
            "/manager-objectives/{id}/complete",
            "completeManagerObjective",
            "Say that a manager's or org objective was reached",
        ),
        (
            "/manager-objectives/{id}/miss",
            "missManagerObjective",
            "Say that a manager's or org objective was not reached",
        ),
        ("/manager-objectives/{id}/archive", "archiveManagerObjective", "Archive a manager's or org objective"),
    ];
}

const fn row(
    method: Method,
    (path, operation, summary): Named,
    handler: for<'a> fn(&'a Shell, AuthenticatedRequest<'a>) -> Work<'a>,
) -> Route {
    let needs = match method {
        Method::Get => Permission::ObjectivesRead,
        Method::Post | Method::Patch | Method::Delete => Permission::ObjectivesWrite,
    };
    Route::keyed(method, path, Access::Permission(needs), handler).named(operation, summary)
}

/// The rows of one resource, in the order of [`Resource::ROWS`].
const fn rows<R: Resource>() -> [Route; 11] {
    let [all, new, one, change, past] = of_records::<R>();
    let [submit, approve, reject, complete, miss, archive] = of_actions::<R>();
    [all, new, one, change, past, submit, approve, reject, complete, miss, archive]
}

const fn of_records<R: Resource>() -> [Route; 5] {
    let [all, new, one, change, past, ..] = R::ROWS;
    [
        row(Method::Get, all, list::<R>)
            .about("Lists the objectives of these paths, without archived ones unless `filter[status]` names them.")
            .lists(&OBJECTIVE, |it| drop(objective::Filter::read(R::FAMILY, it))),
        row(Method::Post, new, create::<R>)
            .about(
                "Creates an objective, `proposed` unless told otherwise. Where reviews are required, another status \
                 takes an admin-level key.",
            )
            .takes(R::CREATE)
            .creates(&OBJECTIVE),
        row(Method::Get, one, get::<R>)
            .about("Answers one objective of these paths; those of the other paths are 404 here.")
            .expands::<objective::Expand>()
            .answers(&OBJECTIVE),
        row(Method::Patch, change, update::<R>)
            .about(
                "Changes title, description or period, or moves it between `approved` and `in_progress`. 409 once it \
                 is completed, missed or archived.",
            )
            .takes(&OBJECTIVE_UPDATE)
            .answers(&OBJECTIVE),
        row(Method::Get, past, history::<R>)
            .about(
                "Lists what was done, with the comment, outcome or reason, but not where requests came from. The \
                 changes of a submission are what differs from the one before.",
            )
            .lists(&HISTORY_ENTRY, |it| drop(it.list::<AuditEntry, (), ()>("", (), vec![]))),
    ]
}

const fn of_actions<R: Resource>() -> [Route; 6] {
    let [.., submitted, approved, rejected, completed, missed, archived] = R::ROWS;
    [
        row(Method::Post, submitted, submit::<R>)
            .about(
                "Puts a proposed objective up for review: sets `submitted_at` and tells the owner's manager, or the \
                 org admins where there is none. 409 while it is in review.",
            )
            .answers(&OBJECTIVE),
        row(Method::Post, approved, approve::<R>)
            .about(
                "Approves a proposed objective and tells its owner. Where reviews are required, it has to be in \
                 review.",
            )
            .may_take(&OBJECTIVE_APPROVE)
            .answers(&OBJECTIVE),
        row(Method::Post, rejected, reject::<R>)
            .about(
                "Sends a proposed objective back with a reason, which its owner is told; `submitted_at` is null \
                 again.",
            )
            .takes(&OBJECTIVE_REJECT)
            .answers(&OBJECTIVE),
        row(Method::Post, completed, complete::<R>)
            .about("Says that an objective that is approved or in progress was reached.")
            .may_take(&OBJECTIVE_COMPLETE)
            .answers(&OBJECTIVE),
        row(Method::Post, missed, miss::<R>)
            .about("Says that an objective in progress was not reached.")
            .may_take(&OBJECTIVE_MISS)
            .answers(&OBJECTIVE),
        row(Method::Post, archived, archive::<R>)
            .about("Puts an objective of any status away for good; 409 if it is archived already.")
            .answers(&OBJECTIVE),
    ]
}

/// The routes of employees' objectives.
pub(crate) const EMPLOYEES: RouteGroup =
    RouteGroup::new("Objectives", "Goals, from a proposal to what came of them.", &rows::<OfEmployees>())
        .id(ObjectiveKind::PREFIX)
        .words(words)
        .events(EventFamily {
            prefix: "objective.",
            name: "ObjectiveEvent",
            types: "ObjectiveEventType",
            data: &OBJECTIVE,
            about: "Something happened to an objective.",
        });

/// The routes of managers' and org objectives.
pub(crate) const MANAGERS: RouteGroup =
    RouteGroup::within("Objectives", &rows::<OfManagers>()).id(ObjectiveKind::PREFIX);

fn list<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::list(shell, &it.call, R::FAMILY, it.params).await })
}

fn get<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::get(shell, &it.call, R::FAMILY, it.id()?, it.params).await })
}

fn history<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::history(shell, &it.call, R::FAMILY, it.id()?, it.params).await })
}

fn create<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::create(shell, &it.call, R::FAMILY, it.body).await })
}

fn update<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::update(shell, &it.call, R::FAMILY, it.id()?, it.body).await })
}

fn submit<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Submit)
}

fn approve<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Approve)
}

fn reject<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Reject)
}

fn complete<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Complete)
}

fn miss<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Miss)
}

fn archive<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Archive)
}

fn act<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>, what: Verb) -> Work<'a> {
    Box::pin(async move { objectives::act(shell, &it.call, R::FAMILY, it.id()?, what, it.body).await })
}

const OBJECTIVE: Schema = Schema::resource("Objective", objective).example(example);
const EMPLOYEE_OBJECTIVE_CREATE: Schema =
    Schema::new("EmployeeObjectiveCreate", || body(|it| objective::Draft::read(it, Family::Employees)))
        .example(example_of_create);
const MANAGER_OBJECTIVE_CREATE: Schema =
    Schema::new("ManagerObjectiveCreate", || body(|it| objective::Draft::read(it, Family::Managers)))
        .example(example_of_create);
const OBJECTIVE_UPDATE: Schema = Schema::new("ObjectiveUpdate", || body(objective::Patch::read))
    .example(|| json!({"description": "Weekends excepted."}));
const OBJECTIVE_APPROVE: Schema = Schema::new("ObjectiveApprove", || body(|it| Action::read(it, Verb::Approve)))
    .example(|| json!({"comment": "Good."}));
const OBJECTIVE_REJECT: Schema = Schema::new("ObjectiveReject", || body(|it| Action::read(it, Verb::Reject)))
    .example(|| json!({"reason": "Which tickets?"}));
const OBJECTIVE_COMPLETE: Schema = Schema::new("ObjectiveComplete", || body(|it| Action::read(it, Verb::Complete)))
    .example(|| json!({"outcome": "All but three."}));
const OBJECTIVE_MISS: Schema = Schema::new("ObjectiveMiss", || body(|it| Action::read(it, Verb::Miss)))
    .example(|| json!({"reason": "Two people left."}));

fn words() -> Vec<Member> {
    let first: Vec<_> = FIRST_STATUSES.iter().map(|it| it.word()).collect();
    vec![
        of::<objective::Scope>("Whose goal an objective is: one person's, a manager's team's, or everybody's."),
        of::<objective::Status>("Where an objective stands in its lifecycle."),
        status_filter::<objective::Status>("Which objectives are wanted, by status."),
        of::<objective::Expand>("What an objective can inline."),
        enumeration(FIRST_STATUSES_NAME, &first, "The statuses that an objective can be created with."),
        scopes_of(Family::Employees),
        scopes_of(Family::Managers),
        sort::<Objective>(),
    ]
}

fn scopes_of(family: Family) -> Member {
    let words: Vec<_> = family.scopes().iter().map(|it| it.word()).collect();
    enumeration(family.scopes_name(), &words, "The scopes of the objectives that these paths hold.")
}

fn objective() -> Value {
    let description = format!(
        "What the title means, in plain text of at most {DESCRIPTION_CHARS} characters; null where nothing is."
    );
    let mut members = vec![
        field("id", id::<ObjectiveKind>(), "The objective's id."),
        field("scope", open(objective::Scope::NAME), "Whose goal it is."),
        field("owner_id", id::<EmployeeKind>(), "The person responsible; for scope `org` an org admin."),
        field("title", plain(), &format!("What is to be reached, in 1 to {TITLE_CHARS} characters.")),
        field("description", nullable(plain()), &description),
        field("status", open(objective::Status::NAME), "Where it stands."),
        field("period_start", date(), "The first day of its period. An approved objective starts on this day, in UTC."),
        field("period_end", date(), "The last day of its period; not before `period_start`."),
        field(
            "linked_summary_ids",
            array(&id::<SummaryKind>()),
            "The ids of the summaries that include it, are not archived and are seen by the key, oldest first; none \
             without `summaries:read`.",
        ),
    ];
    members.extend(times());
    members.extend([
        field(
            "submitted_at",
            nullable(datetime()),
            "When it was submitted for review; null where it was not, or was rejected since.",
        ),
        field("approved_at", nullable(datetime()), "When it was first approved or started; null before that."),
        field("completed_at", nullable(datetime()), "When it was reached; null unless it is `completed`."),
    ]);
    let expanded = vec![
        field("owner", named("Employee"), "The person responsible. Only with `expand=owner`."),
        field(
            "linked_summaries",
            array(&named("Summary")),
            "The newest 100 of these summaries, as far as the key sees them. Only with `expand=linked_summaries`.",
        ),
    ];
    answer(members, expanded)
}

fn example() -> Value {
    json!({
        "id": OBJECTIVE_ID, "scope": "employee", "owner_id": EMPLOYEE_ID, "title": "Answer every ticket within a day",
        "description": null, "status": "proposed", "period_start": "2026-04-01", "period_end": "2026-06-30",
        "linked_summary_ids": [], "created_at": AT, "updated_at": AT, "submitted_at": null, "approved_at": null,
        "completed_at": null,
    })
}

fn example_of_create() -> Value {
    json!({
        "owner_id": EMPLOYEE_ID, "title": "Answer every ticket within a day",
        "period_start": "2026-04-01", "period_end": "2026-06-30",
    })
}
