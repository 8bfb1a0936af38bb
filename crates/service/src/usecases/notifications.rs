//! Notifications in the application (decisions G).

use candor_domain::audit::{AuditDraft, Target};
use candor_domain::id::{EmployeeId, NotificationId};
use candor_domain::json::Object;
use candor_domain::notification::{Filter, MAX_READ_AT_ONCE, Notification, may_read_all, parse_read_all};
use candor_domain::page::{Page, PageRequest, Sort, SortBy};
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};
use candor_tables::rows;
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::ChangePlan;
use crate::context::error::Error;
use crate::context::list;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{or_not_found, render};
use crate::context::visible;

/// A person whose notifications were marked as read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotificationsRead {
    /// Recipient of the notifications.
    recipient_id: EmployeeId,
    /// Time at which they were marked as read.
    read_at: Timestamp,
    /// `true` if no unread notification is left. If `false`, send the request again to continue.
    complete: bool,
}

/// `GET /notifications`: lists notifications that the caller sees.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    let page = match request.filter.clone().seen_by(&context.caller) {
        Some(filter) => {
            context
                .services
                .store
                .page(context.caller.tenant, rows::notifications::list(&filter, request.sort, &request.page))
                .await?
        }
        None => Page { items: vec![], more: false },
    };
    let hidden_notifications = visible::find_hidden_targets(context, &page.items).await?;
    list::page(context, &request, page, |notification, out| {
        let is_target_visible = !hidden_notifications.contains(&notification.id);
        list::write(out, &notification.shown_to(&context.caller, is_target_visible))
    })
    .await
}

/// `POST /notifications/{id}/read`: marks a notification as read.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn read(context: &RequestContext, id: NotificationId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let notification_row = context.services.store.row::<Notification>(context.caller.tenant, id).await?;
        let notification = or_not_found(notification_row.filter(|row| row.value.is_seen_by(&context.caller)))?;
        context.check_preconditions(notification.version)?;
        let hidden_notifications =
            visible::find_hidden_targets(context, std::slice::from_ref(&notification.value)).await?;
        let is_target_visible = hidden_notifications.is_empty();
        let Some(read) = notification.value.read(at) else {
            return Ok(ChangePlan::Unchanged(Reply::ok(
                render(&notification.value.shown_to(&context.caller, is_target_visible))?,
                Some(notification.version),
            )));
        };
        let body = render(&read.shown_to(&context.caller, is_target_visible))?;
        let mut change = ChangeSet::new(context.audit(
            context.services.id(at),
            draft("notification.read", "notification", id),
            at,
        ));
        change.writes = vec![Write::put(&Row::at_version(read, notification.version))];
        Ok(ChangePlan::Commit(Box::new(change), Reply::ok(body, Some(notification.version.next()))))
    };
    context.change(plan).await
}

/// `POST /notifications/read_all`: marks the unread notifications of a person as read, at most
/// [`MAX_READ_AT_ONCE`].
///
/// # Errors
/// Invalid fields, another recipient than the caller's person, an unknown person; see [`Error`].
pub async fn read_all(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let recipient = parse_read_all(body, &context.caller);
    let plan = async |at: Timestamp| {
        let recipient = recipient.clone()?;
        may_read_all(&recipient, &context.caller)?;
        let person = match recipient.id {
            None => None,
            Some(id) => context.services.store.row::<Employee>(context.caller.tenant, id).await?,
        };
        let Some(person) = person else {
            return Err(DomainError::unprocessable("recipient_id", recipient.not_found()).into());
        };
        let id = person.value.id;
        let unread = Filter { recipient_id: Some(id), unread: Some(true) };
        let first = PageRequest { limit: MAX_READ_AT_ONCE, after: None };
        let unread = rows::notifications::list(&unread, Sort::ascending_by(SortBy::CreatedAt), &first);
        let unread = context.services.store.page(context.caller.tenant, unread).await?;
        let mut change = ChangeSet::new(context.audit(
            context.services.id(at),
            draft("notification.read_all", "employee", id),
            at,
        ));
        change.writes = vec![Write::NotificationsRead(id, at)];
        let body = render(&NotificationsRead { recipient_id: id, read_at: at, complete: !unread.more })?;
        Ok(ChangePlan::Commit(Box::new(change), Reply::ok(body, None)))
    };
    context.change(plan).await
}

fn draft(action: &'static str, kind: &str, id: impl ToString) -> AuditDraft {
    let target = Target { kind: kind.to_owned(), id: id.to_string() };
    AuditDraft { action, target, changes: Default::default(), comment: None }
}
