//! Attributes (decisions G).

use candor_service::{Shell, library::attributes};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::list(shell, &it.call, it.params).await })
}

pub(crate) fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::get(shell, &it.call, it.id()?).await })
}

pub(crate) fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::create(shell, &it.call, it.body).await })
}

pub(crate) fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::update(shell, &it.call, it.id()?, it.body).await })
}

pub(crate) fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::archive(shell, &it.call, it.id()?).await })
}

pub(crate) fn restore<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::restore(shell, &it.call, it.id()?).await })
}
