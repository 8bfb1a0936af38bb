//! What happened: the feed of events and the audit log (decisions F9, G).

use candor_service::{Shell, audit_log as log, events};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn feed<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { events::feed(shell, &it.call, it.params).await })
}

pub(crate) fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { events::get(shell, &it.call, it.id()?).await })
}

pub(crate) fn audit_log<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { log::list(shell, &it.call, it.params).await })
}
