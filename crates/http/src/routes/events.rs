//! What happened: the feed of events and the audit log (decisions F9, G).

use candor_domain::access::Permission;
use candor_service::{Shell, audit_log as log, events};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::{Admin, Permission as Needs};
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/events", Needs(Permission::EventsRead), feed)
        .named("listEvents", "Read the gap-free feed of events of the last 30 days, in commit order")
        .with(&queries::EVENTS)
        .answers("EventFeed")
        .full_sight(),
    Route::get("/events/{id}", Needs(Permission::EventsRead), get)
        .named("getEvent", "Get one event of the last 30 days")
        .answers("Event")
        .full_sight(),
    Route::get("/audit-log", Admin(Permission::AuditRead), audit_log)
        .named("listAuditLog", "List audit entries")
        .with(&queries::AUDIT_LOG)
        .answers("AuditEntryList"),
];

fn feed<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { events::feed(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { events::get(shell, &it.call, it.id()?).await })
}

fn audit_log<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { log::list(shell, &it.call, it.params).await })
}
