//! Notifications in the application (decisions G).

use candor_domain::audit::{AuditDraft, Target};
use candor_domain::id::NotificationId;
use candor_domain::json::Object;
use candor_domain::notification::{Filter, Notification, may_read_all, parse_read_all};
use candor_domain::page::Page;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::refusal::Refusal;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};
use candor_tables::rows;

use crate::context::call::Call;
use crate::context::error::Error;
use crate::context::list;
use crate::context::reply::Reply;
use crate::context::shell::{ChangePlan, Shell, or_not_found, render};

/// `GET /notifications`
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    let page = match request.filter.clone().seen_by(&call.caller) {
        Some(filter) => {
            shell
                .store
                .page(call.caller.tenant, rows::notifications::list(&filter, request.sort, &request.page))
                .await?
        }
        None => Page { items: vec![], more: false },
    };
    list::page(shell, call, &request, &page, |it| it).await
}

/// `POST /notifications/{id}/read`
///
/// # Errors
/// Not found; see [`Error`].
pub async fn read(shell: &Shell, call: &Call, id: NotificationId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = shell.store.row::<Notification>(call.caller.tenant, id).await?;
        let stored = or_not_found(stored.filter(|it| it.value.is_seen_by(&call.caller)))?;
        call.check(stored.version)?;
        let Some(read) = stored.value.read(at) else {
            return Ok(ChangePlan::Unchanged(Reply::done(render(&stored.value)?, Some(stored.version))));
        };
        let body = render(&read)?;
        let mut change = ChangeSet::new(call.audit(shell.id(at), draft("notification.read", "notification", id), at));
        change.writes = vec![Write::put(&Row::seen(read, stored.version))];
        Ok(ChangePlan::Commit(Box::new(change), Reply::done(body, Some(stored.version.next()))))
    };
    shell.change(call, plan).await
}

/// `POST /notifications/read_all`: everything that a person has not read yet.
///
/// # Errors
/// Invalid fields, another person than the caller acts for, a person who is not there; see [`Error`].
pub async fn read_all(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let recipient = parse_read_all(body.clone(), &call.caller)?;
        may_read_all(&recipient, &call.caller)?;
        let person = match recipient.id {
            None => None,
            Some(id) => shell.store.row::<Employee>(call.caller.tenant, id).await?,
        };
        let Some(person) = person else {
            return Err(Refusal::unprocessable("recipient_id", recipient.not_found()).into());
        };
        let id = person.value.id;
        let mut change = ChangeSet::new(call.audit(shell.id(at), draft("notification.read_all", "employee", id), at));
        change.writes = vec![Write::NotificationsRead(id, at)];
        let body = render(&serde_json::json!({ "recipient_id": id, "read_at": at }))?;
        Ok(ChangePlan::Commit(Box::new(change), Reply::done(body, None)))
    };
    shell.change(call, plan).await
}

fn draft(action: &'static str, kind: &str, id: impl ToString) -> AuditDraft {
    let target = Target { kind: kind.to_owned(), id: id.to_string() };
    AuditDraft { action, target, changes: Default::default(), comment: None }
}
