//! Summaries (decisions G).

use candor_domain::summary::ActionKind;
use candor_service::{Shell, summaries};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::list(shell, &it.call, it.params).await })
}

pub(crate) fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::get(shell, &it.call, it.id()?, it.params).await })
}

pub(crate) fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::create(shell, &it.call, it.body).await })
}

pub(crate) fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::update(shell, &it.call, it.id()?, it.body).await })
}

pub(crate) fn submit<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Submit)
}

pub(crate) fn approve<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Approve)
}

pub(crate) fn send_back<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Return)
}

pub(crate) fn share<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Share)
}

pub(crate) fn feedback<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Feedback)
}

pub(crate) fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Archive)
}

fn act<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>, what: ActionKind) -> Work<'a> {
    Box::pin(async move { summaries::act(shell, &it.call, it.id()?, what, it.body).await })
}
