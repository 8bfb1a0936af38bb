//! In-app notifications (decision G).

use candor_domain::access::{Access, Permission};
use candor_domain::id::{Kind, NotificationKind};
use candor_domain::notification::{self, Notification, VisibleNotification};
use candor_service::usecases::notifications::{self, NotificationsRead};
use serde_json::{Value, json};

use crate::contract::route::{Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, EMPLOYEE_ID, OBJECTIVE_ID, Schema, body, response_of};

const ROUTES: &[Route] = &[
    Route::get("/notifications", Access::scope(Permission::NotificationsRead), list)
        .with_name("listNotifications", "List notifications")
        .description(
            "Lists notifications, newest first. A key that acts for a person sees only the notifications of \
             that person. `title` and `body` are null without the read scope of the target, and without the admin \
             context that GET of the target needs.",
        )
        .lists(&NOTIFICATION, |input| drop(notification::Filter::read(input))),
    Route::post("/notifications/{id}/read", Access::scope(Permission::NotificationsWrite), mark_as_read)
        .with_name("readNotification", "Mark a notification as read")
        .description("Marks a notification as read. A repeated request changes nothing.")
        .answers(&NOTIFICATION),
    Route::post("/notifications/read_all", Access::scope(Permission::NotificationsWrite), mark_all_as_read)
        .with_name("readAllNotifications", "Mark all notifications of a person as read")
        .description("Marks the unread notifications that the person has at this time as read.")
        .takes(&NOTIFICATIONS_READ_ALL)
        .answers(&NOTIFICATIONS_READ),
];

/// The routes of notifications.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Notifications", "Notifications to people in the application.", ROUTES)
        .id(NotificationKind::PREFIX)
        .words(words);

handlers! {
    list => notifications::list(params);
    mark_as_read => notifications::read(id);
    mark_all_as_read => notifications::read_all(body);
}

const NOTIFICATION: Schema =
    Schema::resource("Notification", response_of::<VisibleNotification<'static>>).example(example);
const NOTIFICATIONS_READ: Schema = Schema::new("NotificationsRead", response_of::<NotificationsRead>)
    .example(|| json!({"recipient_id": EMPLOYEE_ID, "read_at": AT, "complete": true}))
    .outcome("The person, the time at which the notifications were marked as read, and whether all of them were.");
const NOTIFICATIONS_READ_ALL: Schema =
    Schema::new("NotificationsReadAll", || body(|fields| notification::read_read_all(fields, None)))
        .example(|| json!({"recipient_id": EMPLOYEE_ID}));

fn words() -> Vec<Member> {
    vec![enum_member::<notification::Type>("Type of a notification."), sort::<Notification>()]
}

fn example() -> Value {
    json!({
        "id": "ntf_01KJPWD6M24DF9HWRAYHFSFV52", "recipient_id": EMPLOYEE_ID, "type": "objective.rejected",
        "title": "Objective sent back: Answer every ticket within a day", "body": "Which tickets?",
        "target": {"type": "objective", "id": OBJECTIVE_ID}, "created_at": AT, "read_at": null,
    })
}
