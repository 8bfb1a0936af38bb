//! Observations (§4.1).

use candor_service::{Shell, observations};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::list(shell, &it.call, it.params).await })
}

pub(crate) fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::get(shell, &it.call, it.id()?, it.params).await })
}

pub(crate) fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::create(shell, &it.call, it.body).await })
}

pub(crate) fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::update(shell, &it.call, it.id()?, it.body).await })
}

pub(crate) fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::archive(shell, &it.call, it.id()?).await })
}

pub(crate) fn restore<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::restore(shell, &it.call, it.id()?).await })
}
