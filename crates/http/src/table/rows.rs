//! The rows of the table, family by family.

use candor_domain::access::{Permission, QuotaClass};

use super::Access::{Admin, AnyKey, Permission as Needs};
use super::{Method, Route};
use crate::invitation_page;
use crate::openapi::{self, queries};
use crate::routes::objectives::{self, OfEmployees, OfManagers};
use crate::routes::{
    attributes, departments, employees, events, keys, notifications, observations, settings, webhooks,
};

/// Every route there is.
pub static ROUTES: &[Route] = &[
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
    // Employees (§4.3)
    Route::get("/employees", Needs(Permission::EmployeesRead), employees::list)
        .named("listEmployees", "List employees")
        .with(&queries::EMPLOYEES)
        .answers("EmployeeList"),
    Route::post("/employees", Needs(Permission::EmployeesWrite), employees::create)
        .named("createEmployee", "Create an employee, invited or not")
        .takes("EmployeeCreate")
        .creates("Employee"),
    Route::post("/employees/csv", Needs(Permission::EmployeesWrite), employees::upload)
        .named("upsertEmployees", "Record and update the people of a CSV file")
        .takes_csv()
        .answers("CsvReport"),
    Route::get("/employees/{id}", Needs(Permission::EmployeesRead), employees::get)
        .named("getEmployee", "Get an employee")
        .with(&queries::EMPLOYEE)
        .answers("Employee"),
    Route::patch("/employees/{id}", Needs(Permission::EmployeesWrite), employees::update)
        .named("updateEmployee", "Update an employee")
        .takes("EmployeeUpdate")
        .answers("Employee"),
    Route::post("/employees/{id}/deactivate", Needs(Permission::EmployeesWrite), employees::deactivate)
        .named("deactivateEmployee", "Deactivate an employee")
        .answers("Employee"),
    Route::post("/employees/{id}/reactivate", Needs(Permission::EmployeesWrite), employees::reactivate)
        .named("reactivateEmployee", "Reactivate an employee")
        .answers("Employee"),
    Route::post("/employees/{id}/rehire", Needs(Permission::EmployeesWrite), employees::rehire)
        .named("rehireEmployee", "Rehire an employee, perhaps elsewhere in the organization")
        .may_take("EmployeeRehire")
        .answers("Employee"),
    Route::get("/employees/{id}/invitation", Needs(Permission::EmployeesRead), employees::invitation)
        .named("getInvitation", "Get the newest invitation of an employee")
        .answers("Invitation"),
    Route::post("/employees/{id}/invite", Needs(Permission::EmployeesWrite), employees::invite)
        .named("inviteEmployee", "Invite a pending employee again")
        .answers("InvitationSent"),
    Route::open(Method::Post, "/invitations/accept", employees::accept)
        .shows(invitation_page::asking)
        .named("acceptInvitation", "Accept an invitation with its token")
        .takes("InvitationAccept")
        .answers("InvitationAccepted"),
    // Departments
    Route::get("/departments", Needs(Permission::EmployeesRead), departments::list)
        .named("listDepartments", "List departments")
        .with(&queries::DEPARTMENTS)
        .answers("DepartmentList"),
    Route::post("/departments", Admin(Permission::EmployeesWrite), departments::create)
        .named("createDepartment", "Create a department")
        .takes("DepartmentCreate")
        .creates("Department"),
    Route::get("/departments/{id}", Needs(Permission::EmployeesRead), departments::get)
        .named("getDepartment", "Get a department, also an archived one")
        .answers("Department"),
    Route::patch("/departments/{id}", Admin(Permission::EmployeesWrite), departments::update)
        .named("updateDepartment", "Rename a department")
        .takes("DepartmentUpdate")
        .answers("Department"),
    Route::post("/departments/{id}/archive", Admin(Permission::EmployeesWrite), departments::archive)
        .named("archiveDepartment", "Archive a department without members")
        .answers("Department"),
    Route::post("/departments/{id}/restore", Admin(Permission::EmployeesWrite), departments::restore)
        .named("restoreDepartment", "Restore an archived department")
        .answers("Department"),
    // Attributes
    Route::get("/attributes", Needs(Permission::ObservationsRead), attributes::list)
        .named("listAttributes", "List attributes")
        .with(&queries::ATTRIBUTES)
        .answers("AttributeList"),
    Route::post("/attributes", Admin(Permission::ObservationsWrite), attributes::create)
        .named("createAttribute", "Create an attribute")
        .takes("AttributeCreate")
        .creates("Attribute"),
    Route::get("/attributes/{id}", Needs(Permission::ObservationsRead), attributes::get)
        .named("getAttribute", "Get an attribute, also an archived one")
        .answers("Attribute"),
    Route::patch("/attributes/{id}", Admin(Permission::ObservationsWrite), attributes::update)
        .named("updateAttribute", "Update an attribute")
        .takes("AttributeUpdate")
        .answers("Attribute"),
    Route::post("/attributes/{id}/archive", Admin(Permission::ObservationsWrite), attributes::archive)
        .named("archiveAttribute", "Archive an attribute")
        .answers("Attribute"),
    Route::post("/attributes/{id}/restore", Admin(Permission::ObservationsWrite), attributes::restore)
        .named("restoreAttribute", "Restore an archived attribute")
        .answers("Attribute"),
    // The organization and its keys
    Route::get("/me", AnyKey, keys::me).named("getMe", "Get what the key of this request is and may do").answers("Me"),
    Route::get("/organization", Needs(Permission::SettingsRead), settings::organization)
        .named("getOrganization", "Get the organization and its settings")
        .answers("Organization"),
    Route::patch("/organization", Admin(Permission::SettingsWrite), settings::update_organization)
        .named("updateOrganization", "Change the organization's settings")
        .takes("OrganizationUpdate")
        .answers("Organization"),
    Route::get("/api-keys", Admin(Permission::SettingsRead), keys::list)
        .named("listApiKeys", "List API keys")
        .with(&queries::API_KEYS)
        .answers("ApiKeyList")
        .live_only(),
    Route::post("/api-keys", Admin(Permission::SettingsWrite), keys::create)
        .named("createApiKey", "Create an API key; its secret is shown this once")
        .takes("ApiKeyCreate")
        .creates("ApiKeyWithSecret")
        .live_only(),
    Route::get("/api-keys/{id}", Admin(Permission::SettingsRead), keys::get)
        .named("getApiKey", "Get an API key")
        .answers("ApiKey")
        .live_only(),
    Route::patch("/api-keys/{id}", Admin(Permission::SettingsWrite), keys::update)
        .named("updateApiKey", "Change the name, scopes or end of an API key")
        .takes("ApiKeyUpdate")
        .answers("ApiKey")
        .live_only(),
    Route::post("/api-keys/{id}/rotate", Admin(Permission::SettingsWrite), keys::rotate)
        .named("rotateApiKey", "Give an API key a new secret; it is shown this once")
        .may_take("ApiKeyRotate")
        .answers("ApiKeyWithSecret")
        .live_only(),
    Route::post("/api-keys/{id}/revoke", Admin(Permission::SettingsWrite), keys::revoke)
        .named("revokeApiKey", "Revoke an API key")
        .answers("ApiKey")
        .live_only(),
    // Connectors
    Route::get("/connectors", Admin(Permission::SettingsRead), settings::connectors)
        .named("listConnectors", "List connectors to HR systems")
        .with(&queries::CONNECTORS)
        .answers("ConnectorList")
        .live_only(),
    Route::post("/connectors", Admin(Permission::SettingsWrite), settings::create_connector)
        .named("createConnector", "Connect an HR system")
        .takes("ConnectorCreate")
        .creates("Connector")
        .live_only(),
    Route::get("/connectors/{id}", Admin(Permission::SettingsRead), settings::connector)
        .named("getConnector", "Get a connector")
        .answers("Connector")
        .live_only(),
    Route::post("/connectors/{id}/release", Admin(Permission::SettingsWrite), settings::release)
        .named("releaseEmployees", "Give the records of some, or all, managed employees back")
        .may_take("ConnectorRelease")
        .answers("ConnectorReleased")
        .live_only(),
    // Webhooks (§4.4)
    Route::get("/webhooks", Needs(Permission::WebhooksRead), webhooks::list)
        .named("listWebhooks", "List webhook subscriptions")
        .with(&queries::WEBHOOKS)
        .answers("WebhookList")
        .full_sight(),
    Route::post("/webhooks", Needs(Permission::WebhooksWrite), webhooks::create)
        .named("createWebhook", "Subscribe a receiver to events; its secret is shown this once")
        .takes("WebhookCreate")
        .creates("WebhookWithSecret")
        .full_sight(),
    Route::get("/webhooks/{id}", Needs(Permission::WebhooksRead), webhooks::get)
        .named("getWebhook", "Get a webhook subscription")
        .answers("Webhook")
        .full_sight(),
    Route::patch("/webhooks/{id}", Needs(Permission::WebhooksWrite), webhooks::update)
        .named("updateWebhook", "Update a webhook subscription, pause it, or give it a new secret")
        .takes("WebhookUpdate")
        .answers("WebhookUpdated")
        .full_sight(),
    Route::delete("/webhooks/{id}", Needs(Permission::WebhooksWrite), webhooks::remove)
        .named("deleteWebhook", "Delete a webhook subscription and its log for good")
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries", Needs(Permission::WebhooksRead), webhooks::deliveries)
        .named("listDeliveries", "List the attempts of the last 30 days to deliver to a subscription")
        .with(&queries::DELIVERIES)
        .answers("DeliveryList")
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries/{delivery_id}", Needs(Permission::WebhooksRead), webhooks::delivery)
        .named("getDelivery", "Get one attempt to deliver to a subscription")
        .answers("Delivery")
        .full_sight(),
    Route::post("/webhooks/{id}/test", Needs(Permission::WebhooksWrite), webhooks::test)
        .named("testWebhook", "Send a test to a receiver, once")
        .counts_as(QuotaClass::WebhookTest)
        .answers("DeliveryPromised")
        .full_sight(),
    Route::post(
        "/webhooks/{id}/deliveries/{delivery_id}/redeliver",
        Needs(Permission::WebhooksWrite),
        webhooks::redeliver,
    )
    .named("redeliver", "Deliver the event of an attempt again, or now what is queued for later")
    .accepts("DeliveryPromised")
    .full_sight(),
    Route::post("/webhooks/{id}/replay", Needs(Permission::WebhooksWrite), webhooks::replay)
        .named("replayEvents", "Deliver the events of a time again")
        .takes("WebhookReplay")
        .accepts("WebhookReplayed")
        .full_sight(),
    // What happened
    Route::get("/events", Needs(Permission::EventsRead), events::feed)
        .named("listEvents", "Read the gap-free feed of events of the last 30 days, in commit order")
        .with(&queries::EVENTS)
        .answers("EventFeed")
        .full_sight(),
    Route::get("/events/{id}", Needs(Permission::EventsRead), events::get)
        .named("getEvent", "Get one event of the last 30 days")
        .answers("Event")
        .full_sight(),
    Route::get("/audit-log", Admin(Permission::AuditRead), events::audit_log)
        .named("listAuditLog", "List audit entries")
        .with(&queries::AUDIT_LOG)
        .answers("AuditEntryList"),
    Route::file("/openapi.json", openapi::rendered).named("getDocument", "Get this document").answers("Document"),
];
