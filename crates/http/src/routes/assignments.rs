//! Assignments and their submissions (decision G).

use candor_service::{Shell, assignments};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::list(shell, &it.call, it.params).await })
}

pub(crate) fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::get(shell, &it.call, it.id()?).await })
}

pub(crate) fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::create(shell, &it.call, it.body).await })
}

pub(crate) fn cancel<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::cancel(shell, &it.call, it.id()?).await })
}

pub(crate) fn submit<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::submit(shell, &it.call, it.id()?, it.body).await })
}
