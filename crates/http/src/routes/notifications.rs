//! Notifications in the application (decisions G).

use candor_service::{Shell, notifications};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { notifications::list(shell, &it.call, it.params).await })
}

pub(crate) fn read<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { notifications::read(shell, &it.call, it.id()?).await })
}

pub(crate) fn read_all<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { notifications::read_all(shell, &it.call, it.body).await })
}
