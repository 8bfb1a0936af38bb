//! Webhook subscriptions, their log, and what is to be sent once more (§4.4, decisions F).

use candor_service::{Shell, webhooks};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::list(shell, &it.call, it.params).await })
}

pub(crate) fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::get(shell, &it.call, it.id()?).await })
}

pub(crate) fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::create(shell, &it.call, it.body).await })
}

pub(crate) fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::update(shell, &it.call, it.id()?, it.body).await })
}

pub(crate) fn remove<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::remove(shell, &it.call, it.id()?).await })
}

pub(crate) fn deliveries<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::deliveries(shell, &it.call, it.id()?, it.params).await })
}

pub(crate) fn delivery<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::delivery(shell, &it.call, it.id()?, it.second_id()?).await })
}

pub(crate) fn test<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::test(shell, &it.call, it.id()?).await })
}

pub(crate) fn redeliver<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::redeliver(shell, &it.call, it.id()?, it.second_id()?).await })
}

pub(crate) fn replay<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::replay(shell, &it.call, it.id()?, it.body).await })
}
