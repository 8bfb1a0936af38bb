//! Notifications in the application (decisions G).

use candor_domain::access::Permission;
use candor_service::{Shell, notifications};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::Permission as Needs;
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/notifications", Needs(Permission::NotificationsRead), list)
        .named("listNotifications", "List notifications")
        .with(&queries::NOTIFICATIONS)
        .answers("NotificationList"),
    Route::post("/notifications/{id}/read", Needs(Permission::NotificationsWrite), read)
        .named("readNotification", "Mark a notification as read")
        .answers("Notification"),
    Route::post("/notifications/read_all", Needs(Permission::NotificationsWrite), read_all)
        .named("readAllNotifications", "Mark everything that was sent to a person as read")
        .takes("NotificationsReadAll")
        .answers("NotificationsRead"),
];

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { notifications::list(shell, &it.call, it.params).await })
}

fn read<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { notifications::read(shell, &it.call, it.id()?).await })
}

fn read_all<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { notifications::read_all(shell, &it.call, it.body).await })
}
