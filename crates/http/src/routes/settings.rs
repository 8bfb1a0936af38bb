//! The organization and its connectors (decisions C10, G).

use candor_service::{Shell, connectors as hr, organization as org, test_data};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn organization<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { org::get(shell, &it.call).await })
}

pub(crate) fn update_organization<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { org::update(shell, &it.call, it.body).await })
}

pub(crate) fn reset_test_data<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { test_data::reset(shell, &it.call).await })
}

pub(crate) fn connectors<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::list(shell, &it.call, it.params).await })
}

pub(crate) fn connector<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::get(shell, &it.call, it.id()?).await })
}

pub(crate) fn create_connector<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::create(shell, &it.call, it.body).await })
}

pub(crate) fn release<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::release(shell, &it.call, it.id()?, it.body).await })
}
