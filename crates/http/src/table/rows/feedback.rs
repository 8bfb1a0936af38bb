//! What people say of each other, and where they talk about it.

use candor_domain::access::Permission;

use crate::openapi::queries;
use crate::routes::objectives::{self, OfEmployees, OfManagers};
use crate::routes::{assignments, conversations, notifications, observations};
use crate::table::Access::Permission as Needs;
use crate::table::Route;

pub(super) const ROUTES: &[Route] = &[
    // Observations (§4.1)
    Route::get("/observations", Needs(Permission::ObservationsRead), observations::list)
        .named("listObservations", "List observations")
        .with(&queries::OBSERVATIONS)
        .answers("ObservationList"),
    Route::post("/observations", Needs(Permission::ObservationsWrite), observations::create)
        .named("createObservation", "Record an observation")
        .takes("ObservationCreate")
        .creates("Observation"),
    Route::get("/observations/{id}", Needs(Permission::ObservationsRead), observations::get)
        .named("getObservation", "Get an observation, also an archived one")
        .with(&queries::OBSERVATION)
        .answers("Observation"),
    Route::patch("/observations/{id}", Needs(Permission::ObservationsWrite), observations::update)
        .named("updateObservation", "Update an observation")
        .takes("ObservationUpdate")
        .answers("Observation"),
    Route::post("/observations/{id}/archive", Needs(Permission::ObservationsWrite), observations::archive)
        .named("archiveObservation", "Archive an observation")
        .answers("Observation"),
    Route::post("/observations/{id}/restore", Needs(Permission::ObservationsWrite), observations::restore)
        .named("restoreObservation", "Restore an archived observation")
        .answers("Observation"),
    // Objectives (§4.2)
    Route::get("/employee-objectives", Needs(Permission::ObjectivesRead), objectives::list::<OfEmployees>)
        .named("listEmployeeObjectives", "List employees' objectives")
        .with(&queries::OBJECTIVES)
        .answers("ObjectiveList"),
    Route::post("/employee-objectives", Needs(Permission::ObjectivesWrite), objectives::create::<OfEmployees>)
        .named("createEmployeeObjective", "Create an employee's objective")
        .takes("EmployeeObjectiveCreate")
        .creates("Objective"),
    Route::get("/employee-objectives/{id}", Needs(Permission::ObjectivesRead), objectives::get::<OfEmployees>)
        .named("getEmployeeObjective", "Get an employee's objective, also an archived one")
        .with(&queries::OBJECTIVE)
        .answers("Objective"),
    Route::patch("/employee-objectives/{id}", Needs(Permission::ObjectivesWrite), objectives::update::<OfEmployees>)
        .named("updateEmployeeObjective", "Update an employee's objective, or move it between approved and in_progress")
        .takes("ObjectiveUpdate")
        .answers("Objective"),
    Route::get(
        "/employee-objectives/{id}/history",
        Needs(Permission::ObjectivesRead),
        objectives::history::<OfEmployees>,
    )
    .named("listEmployeeObjectiveHistory", "List what was done with an employee's objective, newest first")
    .with(&queries::HISTORY)
    .answers("HistoryEntryList"),
    Route::post(
        "/employee-objectives/{id}/submit",
        Needs(Permission::ObjectivesWrite),
        objectives::submit::<OfEmployees>,
    )
    .named("submitEmployeeObjective", "Submit an employee's objective for review")
    .answers("Objective"),
    Route::post(
        "/employee-objectives/{id}/approve",
        Needs(Permission::ObjectivesWrite),
        objectives::approve::<OfEmployees>,
    )
    .named("approveEmployeeObjective", "Approve an employee's objective")
    .may_take("ObjectiveApprove")
    .answers("Objective"),
    Route::post(
        "/employee-objectives/{id}/reject",
        Needs(Permission::ObjectivesWrite),
        objectives::reject::<OfEmployees>,
    )
    .named("rejectEmployeeObjective", "Send an employee's objective back, with the reason")
    .takes("ObjectiveReject")
    .answers("Objective"),
    Route::post(
        "/employee-objectives/{id}/complete",
        Needs(Permission::ObjectivesWrite),
        objectives::complete::<OfEmployees>,
    )
    .named("completeEmployeeObjective", "Say that an employee's objective was reached")
    .may_take("ObjectiveComplete")
    .answers("Objective"),
    Route::post("/employee-objectives/{id}/miss", Needs(Permission::ObjectivesWrite), objectives::miss::<OfEmployees>)
        .named("missEmployeeObjective", "Say that an employee's objective was not reached")
        .may_take("ObjectiveMiss")
        .answers("Objective"),
    Route::post(
        "/employee-objectives/{id}/archive",
        Needs(Permission::ObjectivesWrite),
        objectives::archive::<OfEmployees>,
    )
    .named("archiveEmployeeObjective", "Archive an employee's objective")
    .answers("Objective"),
    Route::get("/manager-objectives", Needs(Permission::ObjectivesRead), objectives::list::<OfManagers>)
        .named("listManagerObjectives", "List managers' and org objectives")
        .with(&queries::OBJECTIVES)
        .answers("ObjectiveList"),
    Route::post("/manager-objectives", Needs(Permission::ObjectivesWrite), objectives::create::<OfManagers>)
        .named("createManagerObjective", "Create a manager's or org objective")
        .takes("ManagerObjectiveCreate")
        .creates("Objective"),
    Route::get("/manager-objectives/{id}", Needs(Permission::ObjectivesRead), objectives::get::<OfManagers>)
        .named("getManagerObjective", "Get a manager's or org objective, also an archived one")
        .with(&queries::OBJECTIVE)
        .answers("Objective"),
    Route::patch("/manager-objectives/{id}", Needs(Permission::ObjectivesWrite), objectives::update::<OfManagers>)
        .named(
            "updateManagerObjective",
            "Update a manager's or org objective, or move it between approved and in_progress",
        )
        .takes("ObjectiveUpdate")
        .answers("Objective"),
    Route::get(
        "/manager-objectives/{id}/history",
        Needs(Permission::ObjectivesRead),
        objectives::history::<OfManagers>,
    )
    .named("listManagerObjectiveHistory", "List what was done with a manager's or org objective, newest first")
    .with(&queries::HISTORY)
    .answers("HistoryEntryList"),
    Route::post(
        "/manager-objectives/{id}/submit",
        Needs(Permission::ObjectivesWrite),
        objectives::submit::<OfManagers>,
    )
    .named("submitManagerObjective", "Submit a manager's or org objective for review")
    .answers("Objective"),
    Route::post(
        "/manager-objectives/{id}/approve",
        Needs(Permission::ObjectivesWrite),
        objectives::approve::<OfManagers>,
    )
    .named("approveManagerObjective", "Approve a manager's or org objective")
    .may_take("ObjectiveApprove")
    .answers("Objective"),
    Route::post(
        "/manager-objectives/{id}/reject",
        Needs(Permission::ObjectivesWrite),
        objectives::reject::<OfManagers>,
    )
    .named("rejectManagerObjective", "Send a manager's or org objective back, with the reason")
    .takes("ObjectiveReject")
    .answers("Objective"),
    Route::post(
        "/manager-objectives/{id}/complete",
        Needs(Permission::ObjectivesWrite),
        objectives::complete::<OfManagers>,
    )
    .named("completeManagerObjective", "Say that a manager's or org objective was reached")
    .may_take("ObjectiveComplete")
    .answers("Objective"),
    Route::post("/manager-objectives/{id}/miss", Needs(Permission::ObjectivesWrite), objectives::miss::<OfManagers>)
        .named("missManagerObjective", "Say that a manager's or org objective was not reached")
        .may_take("ObjectiveMiss")
        .answers("Objective"),
    Route::post(
        "/manager-objectives/{id}/archive",
        Needs(Permission::ObjectivesWrite),
        objectives::archive::<OfManagers>,
    )
    .named("archiveManagerObjective", "Archive a manager's or org objective")
    .answers("Objective"),
    // Assignments (decision G)
    Route::get("/assignments", Needs(Permission::AssignmentsRead), assignments::list)
        .named("listAssignments", "List assignments")
        .with(&queries::ASSIGNMENTS)
        .answers("AssignmentList"),
    Route::post("/assignments", Needs(Permission::AssignmentsWrite), assignments::create)
        .named("createAssignment", "Ask reviewers for feedback about a person")
        .takes("AssignmentCreate")
        .creates("Assignment"),
    Route::get("/assignments/{id}", Needs(Permission::AssignmentsRead), assignments::get)
        .named("getAssignment", "Get an assignment with its submissions")
        .answers("Assignment"),
    Route::post("/assignments/{id}/submissions", Needs(Permission::AssignmentsWrite), assignments::submit)
        .named("submitFeedback", "Submit the feedback of one reviewer")
        .takes("SubmissionCreate")
        .answers("Assignment"),
    Route::post("/assignments/{id}/cancel", Needs(Permission::AssignmentsWrite), assignments::cancel)
        .named("cancelAssignment", "Cancel an open assignment")
        .answers("Assignment"),
    // Conversations (decision G)
    Route::get("/conversations", Needs(Permission::ConversationsRead), conversations::list)
        .named("listConversations", "List conversations")
        .with(&queries::CONVERSATIONS)
        .answers("ConversationList"),
    Route::post("/conversations", Needs(Permission::ConversationsWrite), conversations::create)
        .named("createConversation", "Begin a conversation")
        .takes("ConversationCreate")
        .creates("Conversation"),
    Route::get("/conversations/{id}", Needs(Permission::ConversationsRead), conversations::get)
        .named("getConversation", "Get a conversation, also an archived one")
        .answers("Conversation"),
    Route::patch("/conversations/{id}", Needs(Permission::ConversationsWrite), conversations::update)
        .named("updateConversation", "Change the title and the people of a conversation")
        .takes("ConversationUpdate")
        .answers("Conversation"),
    Route::post("/conversations/{id}/archive", Needs(Permission::ConversationsWrite), conversations::archive)
        .named("archiveConversation", "Archive a conversation")
        .answers("Conversation"),
    Route::get("/conversations/{id}/messages", Needs(Permission::ConversationsRead), conversations::messages)
        .named("listMessages", "List the messages of a conversation")
        .with(&queries::MESSAGES)
        .answers("MessageList"),
    Route::post("/conversations/{id}/messages", Needs(Permission::ConversationsWrite), conversations::add)
        .named("createMessage", "Write in a conversation")
        .takes("MessageCreate")
        .creates("Message"),
    Route::get(
        "/conversations/{id}/messages/{message_id}",
        Needs(Permission::ConversationsRead),
        conversations::message,
    )
    .named("getMessage", "Get one message of a conversation")
    .answers("Message"),
    // Notifications
    Route::get("/notifications", Needs(Permission::NotificationsRead), notifications::list)
        .named("listNotifications", "List notifications")
        .with(&queries::NOTIFICATIONS)
        .answers("NotificationList"),
    Route::post("/notifications/{id}/read", Needs(Permission::NotificationsWrite), notifications::read)
        .named("readNotification", "Mark a notification as read")
        .answers("Notification"),
    Route::post("/notifications/read_all", Needs(Permission::NotificationsWrite), notifications::read_all)
        .named("readAllNotifications", "Mark everything that was sent to a person as read")
        .takes("NotificationsReadAll")
        .answers("NotificationsRead"),
];
