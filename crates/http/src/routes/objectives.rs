//! Employee and manager objectives (§4.2), which share form and lifecycle.

use candor_domain::access::{Access, Permission};
use candor_domain::audit::AuditEntry;
use candor_domain::counts::GroupedCounts;
use candor_domain::event::EventData;
use candor_domain::fields::StringEnum;
use candor_domain::id::{Kind, ObjectiveKind};
use candor_domain::objective::{
    self, Action, FIRST_STATUSES, FIRST_STATUSES_NAME, Family, Objective, ObjectiveCount, Verb,
};
use candor_service::usecases::objectives;
use serde_json::{Value, json};

use super::events::HISTORY_ENTRY;
use crate::contract::route::{EventFamily, KeyedHandler, Method, Query, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::{Member, array, field, nullable, reference_to};
use crate::contract::schema::words::{enum_member, enumeration, sort, status_filter};
use crate::contract::schema::{
    AT, EMPLOYEE_ID, KEY_RESULT_ID, OBJECTIVE_ID, Schema, body, body_of, resource, response_of,
};

/// Path, operation id and summary of a route.
type RouteTexts = (&'static str, &'static str, &'static str);

/// Differences between the routes of employee objectives and the routes of manager objectives.
trait Resource {
    /// The kind of objectives, as the domain names it.
    const FAMILY: Family;
    /// Schema of the body that creates an objective. The scopes that it permits differ by kind.
    const CREATE: &'static Schema;
    /// Paths, operation ids and summaries of the routes.
    const ROWS: [RouteTexts; 12];
}

/// The routes of `/employee-objectives`.
struct OfEmployees;

/// The routes of `/manager-objectives`.
struct OfManagers;

impl Resource for OfEmployees {
    const FAMILY: Family = Family::Employees;
    const CREATE: &'static Schema = &EMPLOYEE_OBJECTIVE_CREATE;
    const ROWS: [RouteTexts; 12] = [
        ("/employee-objectives", "listEmployeeObjectives", "List employees' objectives"),
        ("/employee-objectives", "createEmployeeObjective", "Create an employee's objective"),
        ("/employee-objectives/counts", "countEmployeeObjectives", "Count employees' objectives by group"),
        ("/employee-objectives/{id}", "getEmployeeObjective", "Get an employee's objective"),
        (
            "/employee-objectives/{id}",
            "updateEmployeeObjective",
            "Update an employee's objective, or move it between approved and in_progress",
        ),
        (
            "/employee-objectives/{id}/history",
            "listEmployeeObjectiveHistory",
            "List the history of an employee's objective, newest first",
        ),
        (
            "/employee-objectives/{id}/submit",
            "submitEmployeeObjective",
            "Submit an employee's objective for review",
        ),
        ("/employee-objectives/{id}/approve", "approveEmployeeObjective", "Approve an employee's objective"),
        (
            "/employee-objectives/{id}/reject",
            "rejectEmployeeObjective",
            "Reject an employee's objective with a reason",
        ),
        ("/employee-objectives/{id}/complete", "completeEmployeeObjective", "Complete an employee's objective"),
        ("/employee-objectives/{id}/miss", "missEmployeeObjective", "Mark an employee's objective as missed"),
        ("/employee-objectives/{id}/archive", "archiveEmployeeObjective", "Archive an employee's objective"),
    ];
}

impl Resource for OfManagers {
    const FAMILY: Family = Family::Managers;
    const CREATE: &'static Schema = &MANAGER_OBJECTIVE_CREATE;
    const ROWS: [RouteTexts; 12] = [
        ("/manager-objectives", "listManagerObjectives", "List managers' and org objectives"),
        ("/manager-objectives", "createManagerObjective", "Create a manager's or org objective"),
        ("/manager-objectives/counts", "countManagerObjectives", "Count managers' and org objectives by group"),
        ("/manager-objectives/{id}", "getManagerObjective", "Get a manager's or org objective"),
        (
            "/manager-objectives/{id}",
            "updateManagerObjective",
            "Update a manager's or org objective, or move it between approved and in_progress",
        ),
        (
            "/manager-objectives/{id}/history",
            "listManagerObjectiveHistory",
            "List the history of a manager's or org objective, newest first",
        ),
        (
            "/manager-objectives/{id}/submit",
            "submitManagerObjective",
            "Submit a manager's or org objective for review",
        ),
        ("/manager-objectives/{id}/approve", "approveManagerObjective", "Approve a manager's or org objective"),
        (
            "/manager-objectives/{id}/reject",
            "rejectManagerObjective",
            "Reject a manager's or org objective with a reason",
        ),
        ("/manager-objectives/{id}/complete", "completeManagerObjective", "Complete a manager's or org objective"),
        ("/manager-objectives/{id}/miss", "missManagerObjective", "Mark a manager's or org objective as missed"),
        ("/manager-objectives/{id}/archive", "archiveManagerObjective", "Archive a manager's or org objective"),
    ];
}

const fn row(method: Method, (path, operation, summary): RouteTexts, handler: KeyedHandler) -> Route {
    let needs = match method {
        Method::Get => Permission::ObjectivesRead,
        Method::Post | Method::Put | Method::Patch | Method::Delete => Permission::ObjectivesWrite,
    };
    Route::with_key(method, path, Access::scope(needs), handler).with_name(operation, summary)
}

/// Builds the routes of one kind, in the order of [`Resource::ROWS`].
const fn rows<R: Resource>() -> [Route; 12] {
    let [all, new, counted, one, change, past] = of_records::<R>();
    let [submit, approve, reject, complete, miss, archive] = of_actions::<R>();
    [all, new, counted, one, change, past, submit, approve, reject, complete, miss, archive]
}

const fn of_records<R: Resource>() -> [Route; 6] {
    let [all, new, counted, one, change, past, ..] = R::ROWS;
    [
        row(Method::Get, all, list::<R>)
            .description(
                "Lists objectives by the end of their period, latest first. Archived ones are listed only if \
                 `filter[status]` contains `archived` or `all`.",
            )
            .lists(&OBJECTIVE, |input| drop(objective::Filter::read(R::FAMILY, input))),
        row(Method::Post, new, create::<R>)
            .description(
                "Creates an objective. The default status is `proposed`. If reviews are required, another \
                 status needs an admin-level key, or one that acts for an org admin who is not the owner.",
            )
            .takes(R::CREATE)
            .creates(&OBJECTIVE),
        row(Method::Get, counted, counts::<R>)
            .description(
                "Counts the objectives that the list with the same filters shows, grouped by one or two \
                 members. `month` is the month of `period_end`. Returns at most 1,000 groups, the largest \
                 ones. Each counted objective is read: a request that takes too long returns 503; narrow it \
                 with filters.",
            )
            .with(Query::one(|input| drop(objective::Filter::read_counts(R::FAMILY, input))))
            .answers(&COUNTS),
        row(Method::Get, one, get::<R>)
            .description("Returns one objective. 404 if the objective has a scope that this path does not serve.")
            .expands::<objective::Expand>()
            .answers(&OBJECTIVE),
        row(Method::Patch, change, update::<R>)
            .description(
                "Changes the title, description, period, key results, parent, metadata or external id, or moves the objective between \
                 `approved` and `in_progress`. 409 if it is completed, missed or archived, or another objective \
                 has the `external_id`.",
            )
            .takes(&OBJECTIVE_UPDATE)
            .answers(&OBJECTIVE),
        row(Method::Get, past, history::<R>)
            .description(
                "Lists the audit entries of the objective with comment, outcome or reason, but without the \
                 origin of the requests. The changes of a submission are relative to the last submission or \
                 approval.",
            )
            .lists(&HISTORY_ENTRY, |input| drop(input.list::<AuditEntry, (), ()>("", (), vec![]))),
    ]
}

const fn of_actions<R: Resource>() -> [Route; 6] {
    let [.., submitted, approved, rejected, completed, missed, archived] = R::ROWS;
    [
        row(Method::Post, submitted, submit::<R>)
            .description(
                "Submits a proposed objective for review. Sets `submitted_at` and notifies the manager of the \
                 owner, or the org admins if there is no manager. 409 if it is already in review.",
            )
            .answers(&OBJECTIVE),
        row(Method::Post, approved, approve::<R>)
            .description(
                "Approves a proposed objective and notifies its owner. If reviews are required, the objective \
                 must be in review.",
            )
            .may_take(&OBJECTIVE_APPROVE)
            .answers(&OBJECTIVE),
        row(Method::Post, rejected, reject::<R>)
            .description(
                "Rejects a proposed objective with a reason and notifies its owner. Sets `submitted_at` to null.",
            )
            .takes(&OBJECTIVE_REJECT)
            .answers(&OBJECTIVE),
        row(Method::Post, completed, complete::<R>)
            .description("Completes an objective that is approved or in progress.")
            .may_take(&OBJECTIVE_COMPLETE)
            .answers(&OBJECTIVE),
        row(Method::Post, missed, miss::<R>)
            .description("Marks an objective in progress as missed.")
            .may_take(&OBJECTIVE_MISS)
            .answers(&OBJECTIVE),
        row(Method::Post, archived, archive::<R>)
            .description("Archives an objective of any status permanently. 409 if it is already archived.")
            .answers(&OBJECTIVE),
    ]
}

/// Routes of employee objectives.
pub(crate) const EMPLOYEES: RouteGroup =
    RouteGroup::new("Objectives", "Goals from proposal to outcome.", &rows::<OfEmployees>())
        .id(ObjectiveKind::PREFIX)
        .words(words)
        .events(&[EventFamily {
            carried: EventData::Objective,
            name: "ObjectiveEvent",
            data: &OBJECTIVE,
            about: "An objective was created or changed.",
        }]);

/// Routes of manager and organization objectives.
pub(crate) const MANAGERS: RouteGroup =
    RouteGroup::under_tag("Objectives", &rows::<OfManagers>()).id(ObjectiveKind::PREFIX);

handlers! {
    list<R: Resource> => objectives::list({R::FAMILY}, params);
    counts<R: Resource> => objectives::counts({R::FAMILY}, params);
    get<R: Resource> => objectives::get({R::FAMILY}, id, params);
    history<R: Resource> => objectives::history({R::FAMILY}, id, params);
    create<R: Resource> => objectives::create({R::FAMILY}, body);
    update<R: Resource> => objectives::update({R::FAMILY}, id, body);
    submit<R: Resource> => objectives::act({R::FAMILY}, id, {Verb::Submit}, body);
    approve<R: Resource> => objectives::act({R::FAMILY}, id, {Verb::Approve}, body);
    reject<R: Resource> => objectives::act({R::FAMILY}, id, {Verb::Reject}, body);
    complete<R: Resource> => objectives::act({R::FAMILY}, id, {Verb::Complete}, body);
    miss<R: Resource> => objectives::act({R::FAMILY}, id, {Verb::Miss}, body);
    archive<R: Resource> => objectives::act({R::FAMILY}, id, {Verb::Archive}, body);
}

const COUNTS: Schema = Schema::new("ObjectiveCounts", response_of::<GroupedCounts<ObjectiveCount>>)
    .example(|| json!({"data": [{"status": "approved", "count": 12}], "total": 12, "has_more": false}))
    .outcome("Number of objectives by group.");
pub(crate) const OBJECTIVE: Schema = Schema::resource("Objective", || {
    let expandable_fields = vec![
        field("owner", reference_to("Employee"), "Owner of the objective. Present with `expand=owner`."),
        field(
            "linked_summaries",
            array(&reference_to("Summary")),
            "The newest 100 linked summaries that are visible to the key. Present with `expand=linked_summaries`.",
        ),
        field(
            "parent",
            nullable(reference_to("Objective")),
            "Objective that this one supports. Null if there is none or the key cannot see it. Present with \
             `expand=parent`.",
        ),
    ];
    resource::<Objective, _>(|fields| objective::Draft::read(fields, Family::Employees), expandable_fields)
})
.example(example);
const EMPLOYEE_OBJECTIVE_CREATE: Schema = Schema::new("EmployeeObjectiveCreate", || {
    body_of::<Objective, _>(|input| objective::Draft::read(input, Family::Employees))
})
.example(example_of_create);
const MANAGER_OBJECTIVE_CREATE: Schema = Schema::new("ManagerObjectiveCreate", || {
    body_of::<Objective, _>(|input| objective::Draft::read(input, Family::Managers))
})
.example(example_of_create);
const OBJECTIVE_UPDATE: Schema =
    Schema::new("ObjectiveUpdate", || body_of::<Objective, _>(objective::Patch::read))
        .example(|| json!({"description": "Weekends excepted."}));
const OBJECTIVE_APPROVE: Schema =
    Schema::new("ObjectiveApprove", || body(|input| Action::read(input, Verb::Approve)))
        .example(|| json!({"comment": "Good."}));
const OBJECTIVE_REJECT: Schema =
    Schema::new("ObjectiveReject", || body(|input| Action::read(input, Verb::Reject)))
        .example(|| json!({"reason": "Which tickets?"}));
const OBJECTIVE_COMPLETE: Schema =
    Schema::new("ObjectiveComplete", || body(|input| Action::read(input, Verb::Complete)))
        .example(|| json!({"outcome": "All but three."}));
const OBJECTIVE_MISS: Schema = Schema::new("ObjectiveMiss", || body(|input| Action::read(input, Verb::Miss)))
    .example(|| json!({"reason": "Two people left."}));

fn words() -> Vec<Member> {
    let first: Vec<_> = FIRST_STATUSES.iter().map(|status| status.word()).collect();
    vec![
        enum_member::<objective::Scope>(
            "Scope of an objective: one person, the team of a manager, or the organization.",
        ),
        enum_member::<objective::Status>("Status of an objective."),
        status_filter::<objective::Status>("Filter of objectives by status."),
        enum_member::<objective::Metric>("Kind of values that a key result measures."),
        enum_member::<objective::ConfidenceFilter>("Filter of objectives by confidence, and their groups by it."),
        enum_member::<objective::ObjectiveGroup>("Members by which objectives are counted."),
        enum_member::<objective::Expand>("Related resources that an objective can include."),
        enumeration(FIRST_STATUSES_NAME, &first, "Statuses that an objective can be created with."),
        scopes_of(Family::Employees),
        scopes_of(Family::Managers),
        sort::<Objective>(),
    ]
}

fn scopes_of(family: Family) -> Member {
    let words: Vec<_> = family.scopes().iter().map(|scope| scope.word()).collect();
    enumeration(family.scopes_name(), &words, "Scopes of the objectives under these paths.")
}

pub(super) fn example() -> Value {
    json!({
        "id": OBJECTIVE_ID, "scope": "employee", "owner_id": EMPLOYEE_ID, "title": "Answer every ticket within a day",
        "description": null, "status": "proposed", "period_start": "2026-04-01", "period_end": "2026-06-30",
        "key_results": [{
            "id": KEY_RESULT_ID, "title": "Tickets answered within a day", "metric": "percent", "unit": null, "start": 0,
            "target": 100, "current": 12.5, "weight": 1, "progress": 12,
        }],
        "progress": 12, "confidence": "at_risk", "last_check_in_at": AT, "parent_id": null,
        "linked_summary_ids": [], "created_at": AT, "updated_at": AT, "submitted_at": null, "approved_at": null,
        "changed_since_approval": false,
        "completed_at": null, "metadata": {"review_cycle": "2026-h1"}, "external_id": null,
    })
}

fn example_of_create() -> Value {
    json!({
        "owner_id": EMPLOYEE_ID, "title": "Answer every ticket within a day",
        "period_start": "2026-04-01", "period_end": "2026-06-30",
        "key_results": [{"title": "Tickets answered within a day", "metric": "percent"}],
    })
}
