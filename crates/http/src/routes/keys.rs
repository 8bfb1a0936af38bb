//! API keys, and what the key of a request is (decision B7).

use candor_service::{Shell, keys};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::list(shell, &it.call, it.params).await })
}

pub(crate) fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::get(shell, &it.call, it.id()?).await })
}

pub(crate) fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::create(shell, &it.call, it.body).await })
}

pub(crate) fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::update(shell, &it.call, it.id()?, it.body).await })
}

pub(crate) fn rotate<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::rotate(shell, &it.call, it.id()?, it.body).await })
}

pub(crate) fn revoke<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::revoke(shell, &it.call, it.id()?).await })
}

pub(crate) fn me<'a>(_: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::me(&it.call) })
}
