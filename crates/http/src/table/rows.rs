//! The rows of the table, family by family.

use candor_domain::access::{QuotaClass, Scope};

use super::Access::{Admin, AnyKey, Scope as Needs};
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
    Route::get("/observations", Needs(Scope::ObservationsRead), observations::list)
        .named("listObservations", "List observations")
        .with(&queries::OBSERVATIONS)
        .answers("ObservationList"),
    Route::post("/observations", Needs(Scope::ObservationsWrite), observations::create)
        .named("createObservation", "Record an observation")
        .takes("ObservationCreate")
        .creates("Observation"),
    Route::get("/observations/{id}", Needs(Scope::ObservationsRead), observations::get)
        .named("getObservation", "Get an observation, also an archived one")
        .with(&queries::OBSERVATION)
        .answers("Observation"),
    Route::patch("/observations/{id}", Needs(Scope::ObservationsWrite), observations::update)
        .named("updateObservation", "Update an observation")
        .takes("ObservationUpdate")
        .answers("Observation"),
    Route::post("/observations/{id}/archive", Needs(Scope::ObservationsWrite), observations::archive)
        .named("archiveObservation", "Archive an observation")
        .answers("Observation"),
    Route::post("/observations/{id}/restore", Needs(Scope::ObservationsWrite), observations::restore)
        .named("restoreObservation", "Restore an archived observation")
        .answers("Observation"),
    // Objectives (§4.2)
    Route::get("/employee-objectives", Needs(Scope::ObjectivesRead), objectives::list::<OfEmployees>)
        .named("listEmployeeObjectives", "List employees' objectives")
        .with(&queries::OBJECTIVES)
        .answers("ObjectiveList"),
    Route::post("/employee-objectives", Needs(Scope::ObjectivesWrite), objectives::create::<OfEmployees>)
        .named("createEmployeeObjective", "Create an employee's objective")
        .takes("EmployeeObjectiveCreate")
        .creates("Objective"),
    Route::get("/employee-objectives/{id}", Needs(Scope::ObjectivesRead), objectives::get::<OfEmployees>)
        .named("getEmployeeObjective", "Get an employee's objective, also an archived one")
        .with(&queries::OBJECTIVE)
        .answers("Objective"),
    Route::patch("/employee-objectives/{id}", Needs(Scope::ObjectivesWrite), objectives::update::<OfEmployees>)
        .named("updateEmployeeObjective", "Update an employee's objective, or move it between approved and in_progress")
        .takes("ObjectiveUpdate")
        .answers("Objective"),
    Route::get("/employee-objectives/{id}/history", Needs(Scope::ObjectivesRead), objectives::history::<OfEmployees>)
        .named("listEmployeeObjectiveHistory", "List what was done with an employee's objective, newest first")
        .with(&queries::HISTORY)
        .answers("HistoryEntryList"),
    Route::post("/employee-objectives/{id}/submit", Needs(Scope::ObjectivesWrite), objectives::submit::<OfEmployees>)
        .named("submitEmployeeObjective", "Submit an employee's objective for review")
        .answers("Objective"),
    Route::post("/employee-objectives/{id}/approve", Needs(Scope::ObjectivesWrite), objectives::approve::<OfEmployees>)
        .named("approveEmployeeObjective", "Approve an employee's objective")
        .may_take("ObjectiveApprove")
        .answers("Objective"),
    Route::post("/employee-objectives/{id}/reject", Needs(Scope::ObjectivesWrite), objectives::reject::<OfEmployees>)
        .named("rejectEmployeeObjective", "Send an employee's objective back, with the reason")
        .takes("ObjectiveReject")
        .answers("Objective"),
    Route::post(
        "/employee-objectives/{id}/complete",
        Needs(Scope::ObjectivesWrite),
        objectives::complete::<OfEmployees>,
    )
    .named("completeEmployeeObjective", "Say that an employee's objective was reached")
    .may_take("ObjectiveComplete")
    .answers("Objective"),
    Route::post("/employee-objectives/{id}/miss", Needs(Scope::ObjectivesWrite), objectives::miss::<OfEmployees>)
        .named("missEmployeeObjective", "Say that an employee's objective was not reached")
        .may_take("ObjectiveMiss")
        .answers("Objective"),
    Route::post("/employee-objectives/{id}/archive", Needs(Scope::ObjectivesWrite), objectives::archive::<OfEmployees>)
        .named("archiveEmployeeObjective", "Archive an employee's objective")
        .answers("Objective"),
    Route::get("/manager-objectives", Needs(Scope::ObjectivesRead), objectives::list::<OfManagers>)
        .named("listManagerObjectives", "List managers' and org objectives")
        .with(&queries::OBJECTIVES)
        .answers("ObjectiveList"),
    Route::post("/manager-objectives", Needs(Scope::ObjectivesWrite), objectives::create::<OfManagers>)
        .named("createManagerObjective", "Create a manager's or org objective")
        .takes("ManagerObjectiveCreate")
        .creates("Objective"),
    Route::get("/manager-objectives/{id}", Needs(Scope::ObjectivesRead), objectives::get::<OfManagers>)
        .named("getManagerObjective", "Get a manager's or org objective, also an archived one")
        .with(&queries::OBJECTIVE)
        .answers("Objective"),
    Route::patch("/manager-objectives/{id}", Needs(Scope::ObjectivesWrite), objectives::update::<OfManagers>)
        .named(
            "updateManagerObjective",
            "Update a manager's or org objective, or move it between approved and in_progress",
        )
        .takes("ObjectiveUpdate")
        .answers("Objective"),
    Route::get("/manager-objectives/{id}/history", Needs(Scope::ObjectivesRead), objectives::history::<OfManagers>)
        .named("listManagerObjectiveHistory", "List what was done with a manager's or org objective, newest first")
        .with(&queries::HISTORY)
        .answers("HistoryEntryList"),
    Route::post("/manager-objectives/{id}/submit", Needs(Scope::ObjectivesWrite), objectives::submit::<OfManagers>)
        .named("submitManagerObjective", "Submit a manager's or org objective for review")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/approve", Needs(Scope::ObjectivesWrite), objectives::approve::<OfManagers>)
        .named("approveManagerObjective", "Approve a manager's or org objective")
        .may_take("ObjectiveApprove")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/reject", Needs(Scope::ObjectivesWrite), objectives::reject::<OfManagers>)
        .named("rejectManagerObjective", "Send a manager's or org objective back, with the reason")
        .takes("ObjectiveReject")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/complete", Needs(Scope::ObjectivesWrite), objectives::complete::<OfManagers>)
        .named("completeManagerObjective", "Say that a manager's or org objective was reached")
        .may_take("ObjectiveComplete")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/miss", Needs(Scope::ObjectivesWrite), objectives::miss::<OfManagers>)
        .named("missManagerObjective", "Say that a manager's or org objective was not reached")
        .may_take("ObjectiveMiss")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/archive", Needs(Scope::ObjectivesWrite), objectives::archive::<OfManagers>)
        .named("archiveManagerObjective", "Archive a manager's or org objective")
        .answers("Objective"),
    // Notifications
    Route::get("/notifications", Needs(Scope::NotificationsRead), notifications::list)
        .named("listNotifications", "List notifications")
        .with(&queries::NOTIFICATIONS)
        .answers("NotificationList"),
    Route::post("/notifications/{id}/read", Needs(Scope::NotificationsWrite), notifications::read)
        .named("readNotification", "Mark a notification as read")
        .answers("Notification"),
    Route::post("/notifications/read_all", Needs(Scope::NotificationsWrite), notifications::read_all)
        .named("readAllNotifications", "Mark everything that was sent to a person as read")
        .takes("NotificationsReadAll")
        .answers("NotificationsRead"),
    // Employees (§4.3)
    Route::get("/employees", Needs(Scope::EmployeesRead), employees::list)
        .named("listEmployees", "List employees")
        .with(&queries::EMPLOYEES)
        .answers("EmployeeList"),
    Route::post("/employees", Needs(Scope::EmployeesWrite), employees::create)
        .named("createEmployee", "Create an employee, invited or not")
        .takes("EmployeeCreate")
        .creates("Employee"),
    Route::post("/employees/csv", Needs(Scope::EmployeesWrite), employees::upload)
        .named("upsertEmployees", "Record and update the people of a CSV file")
        .takes_csv()
        .answers("CsvReport"),
    Route::get("/employees/{id}", Needs(Scope::EmployeesRead), employees::get)
        .named("getEmployee", "Get an employee")
        .with(&queries::EMPLOYEE)
        .answers("Employee"),
    Route::patch("/employees/{id}", Needs(Scope::EmployeesWrite), employees::update)
        .named("updateEmployee", "Update an employee")
        .takes("EmployeeUpdate")
        .answers("Employee"),
    Route::post("/employees/{id}/deactivate", Needs(Scope::EmployeesWrite), employees::deactivate)
        .named("deactivateEmployee", "Deactivate an employee")
        .answers("Employee"),
    Route::post("/employees/{id}/reactivate", Needs(Scope::EmployeesWrite), employees::reactivate)
        .named("reactivateEmployee", "Reactivate an employee")
        .answers("Employee"),
    Route::post("/employees/{id}/rehire", Needs(Scope::EmployeesWrite), employees::rehire)
        .named("rehireEmployee", "Rehire an employee, perhaps elsewhere in the organization")
        .may_take("EmployeeRehire")
        .answers("Employee"),
    Route::get("/employees/{id}/invitation", Needs(Scope::EmployeesRead), employees::invitation)
        .named("getInvitation", "Get the newest invitation of an employee")
        .answers("Invitation"),
    Route::post("/employees/{id}/invite", Needs(Scope::EmployeesWrite), employees::invite)
        .named("inviteEmployee", "Invite a pending employee again")
        .answers("InvitationSent"),
    Route::open(Method::Post, "/invitations/accept", employees::accept)
        .shows(invitation_page::asking)
        .named("acceptInvitation", "Accept an invitation with its token")
        .takes("InvitationAccept")
        .answers("InvitationAccepted"),
    // Departments
    Route::get("/departments", Needs(Scope::EmployeesRead), departments::list)
        .named("listDepartments", "List departments")
        .with(&queries::DEPARTMENTS)
        .answers("DepartmentList"),
    Route::post("/departments", Admin(Scope::EmployeesWrite), departments::create)
        .named("createDepartment", "Create a department")
        .takes("DepartmentCreate")
        .creates("Department"),
    Route::get("/departments/{id}", Needs(Scope::EmployeesRead), departments::get)
        .named("getDepartment", "Get a department, also an archived one")
        .answers("Department"),
    Route::patch("/departments/{id}", Admin(Scope::EmployeesWrite), departments::update)
        .named("updateDepartment", "Rename a department")
        .takes("DepartmentUpdate")
        .answers("Department"),
    Route::post("/departments/{id}/archive", Admin(Scope::EmployeesWrite), departments::archive)
        .named("archiveDepartment", "Archive a department without members")
        .answers("Department"),
    Route::post("/departments/{id}/restore", Admin(Scope::EmployeesWrite), departments::restore)
        .named("restoreDepartment", "Restore an archived department")
        .answers("Department"),
    // Attributes
    Route::get("/attributes", Needs(Scope::ObservationsRead), attributes::list)
        .named("listAttributes", "List attributes")
        .with(&queries::ATTRIBUTES)
        .answers("AttributeList"),
    Route::post("/attributes", Admin(Scope::ObservationsWrite), attributes::create)
        .named("createAttribute", "Create an attribute")
        .takes("AttributeCreate")
        .creates("Attribute"),
    Route::get("/attributes/{id}", Needs(Scope::ObservationsRead), attributes::get)
        .named("getAttribute", "Get an attribute, also an archived one")
        .answers("Attribute"),
    Route::patch("/attributes/{id}", Admin(Scope::ObservationsWrite), attributes::update)
        .named("updateAttribute", "Update an attribute")
        .takes("AttributeUpdate")
        .answers("Attribute"),
    Route::post("/attributes/{id}/archive", Admin(Scope::ObservationsWrite), attributes::archive)
        .named("archiveAttribute", "Archive an attribute")
        .answers("Attribute"),
    Route::post("/attributes/{id}/restore", Admin(Scope::ObservationsWrite), attributes::restore)
        .named("restoreAttribute", "Restore an archived attribute")
        .answers("Attribute"),
    // The organization and its keys
    Route::get("/me", AnyKey, keys::me).named("getMe", "Get what the key of this request is and may do").answers("Me"),
    Route::get("/organization", Needs(Scope::SettingsRead), settings::organization)
        .named("getOrganization", "Get the organization and its settings")
        .answers("Organization"),
    Route::patch("/organization", Admin(Scope::SettingsWrite), settings::update_organization)
        .named("updateOrganization", "Change the organization's settings")
        .takes("OrganizationUpdate")
        .answers("Organization"),
    Route::get("/api-keys", Admin(Scope::SettingsRead), keys::list)
        .named("listApiKeys", "List API keys")
        .with(&queries::API_KEYS)
        .answers("ApiKeyList")
        .live_only(),
    Route::post("/api-keys", Admin(Scope::SettingsWrite), keys::create)
        .named("createApiKey", "Create an API key; its secret is shown this once")
        .takes("ApiKeyCreate")
        .creates("ApiKeyWithSecret")
        .live_only(),
    Route::get("/api-keys/{id}", Admin(Scope::SettingsRead), keys::get)
        .named("getApiKey", "Get an API key")
        .answers("ApiKey")
        .live_only(),
    Route::patch("/api-keys/{id}", Admin(Scope::SettingsWrite), keys::update)
        .named("updateApiKey", "Change the name, scopes or end of an API key")
        .takes("ApiKeyUpdate")
        .answers("ApiKey")
        .live_only(),
    Route::post("/api-keys/{id}/rotate", Admin(Scope::SettingsWrite), keys::rotate)
        .named("rotateApiKey", "Give an API key a new secret; it is shown this once")
        .may_take("ApiKeyRotate")
        .answers("ApiKeyWithSecret")
        .live_only(),
    Route::post("/api-keys/{id}/revoke", Admin(Scope::SettingsWrite), keys::revoke)
        .named("revokeApiKey", "Revoke an API key")
        .answers("ApiKey")
        .live_only(),
    // Connectors
    Route::get("/connectors", Admin(Scope::SettingsRead), settings::connectors)
        .named("listConnectors", "List connectors to HR systems")
        .with(&queries::CONNECTORS)
        .answers("ConnectorList")
        .live_only(),
    Route::post("/connectors", Admin(Scope::SettingsWrite), settings::create_connector)
        .named("createConnector", "Connect an HR system")
        .takes("ConnectorCreate")
        .creates("Connector")
        .live_only(),
    Route::get("/connectors/{id}", Admin(Scope::SettingsRead), settings::connector)
        .named("getConnector", "Get a connector")
        .answers("Connector")
        .live_only(),
    Route::post("/connectors/{id}/release", Admin(Scope::SettingsWrite), settings::release)
        .named("releaseEmployees", "Give the records of some, or all, managed employees back")
        .may_take("ConnectorRelease")
        .answers("ConnectorReleased")
        .live_only(),
    // Webhooks (§4.4)
    Route::get("/webhooks", Needs(Scope::WebhooksRead), webhooks::list)
        .named("listWebhooks", "List webhook subscriptions")
        .with(&queries::WEBHOOKS)
        .answers("WebhookList")
        .full_sight(),
    Route::post("/webhooks", Needs(Scope::WebhooksWrite), webhooks::create)
        .named("createWebhook", "Subscribe a receiver to events; its secret is shown this once")
        .takes("WebhookCreate")
        .creates("WebhookWithSecret")
        .full_sight(),
    Route::get("/webhooks/{id}", Needs(Scope::WebhooksRead), webhooks::get)
        .named("getWebhook", "Get a webhook subscription")
        .answers("Webhook")
        .full_sight(),
    Route::patch("/webhooks/{id}", Needs(Scope::WebhooksWrite), webhooks::update)
        .named("updateWebhook", "Update a webhook subscription, pause it, or give it a new secret")
        .takes("WebhookUpdate")
        .answers("WebhookUpdated")
        .full_sight(),
    Route::delete("/webhooks/{id}", Needs(Scope::WebhooksWrite), webhooks::remove)
        .named("deleteWebhook", "Delete a webhook subscription and its log for good")
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries", Needs(Scope::WebhooksRead), webhooks::deliveries)
        .named("listDeliveries", "List the attempts of the last 30 days to deliver to a subscription")
        .with(&queries::DELIVERIES)
        .answers("DeliveryList")
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries/{delivery_id}", Needs(Scope::WebhooksRead), webhooks::delivery)
        .named("getDelivery", "Get one attempt to deliver to a subscription")
        .answers("Delivery")
        .full_sight(),
    Route::post("/webhooks/{id}/test", Needs(Scope::WebhooksWrite), webhooks::test)
        .named("testWebhook", "Send a test to a receiver, once")
        .counts_as(QuotaClass::WebhookTest)
        .answers("DeliveryPromised")
        .full_sight(),
    Route::post("/webhooks/{id}/deliveries/{delivery_id}/redeliver", Needs(Scope::WebhooksWrite), webhooks::redeliver)
        .named("redeliver", "Deliver the event of an attempt again, or now what is queued for later")
        .accepts("DeliveryPromised")
        .full_sight(),
    Route::post("/webhooks/{id}/replay", Needs(Scope::WebhooksWrite), webhooks::replay)
        .named("replayEvents", "Deliver the events of a time again")
        .takes("WebhookReplay")
        .accepts("WebhookReplayed")
        .full_sight(),
    // What happened
    Route::get("/events", Needs(Scope::EventsRead), events::feed)
        .named("listEvents", "Read the gap-free feed of events of the last 30 days, in commit order")
        .with(&queries::EVENTS)
        .answers("EventFeed")
        .full_sight(),
    Route::get("/events/{id}", Needs(Scope::EventsRead), events::get)
        .named("getEvent", "Get one event of the last 30 days")
        .answers("Event")
        .full_sight(),
    Route::get("/audit-log", Admin(Scope::AuditRead), events::audit_log)
        .named("listAuditLog", "List audit entries")
        .with(&queries::AUDIT_LOG)
        .answers("AuditEntryList"),
    Route::file("/openapi.json", openapi::rendered).named("getDocument", "Get this document").answers("Document"),
];
