//! Objectives (§4.2): two resources that share shape and lifecycle.

use candor_domain::objective::{Family, Verb};
use candor_service::{Shell, objectives};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

/// Which of the two resources a route belongs to.
pub(crate) trait Resource {
    /// What stands in it.
    const FAMILY: Family;
}

/// `/employee-objectives`
pub(crate) struct OfEmployees;

/// `/manager-objectives`
pub(crate) struct OfManagers;

impl Resource for OfEmployees {
    const FAMILY: Family = Family::Employees;
}

impl Resource for OfManagers {
    const FAMILY: Family = Family::Managers;
}

pub(crate) fn list<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::list(shell, &it.call, R::FAMILY, it.params).await })
}

pub(crate) fn get<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::get(shell, &it.call, R::FAMILY, it.id()?, it.params).await })
}

pub(crate) fn history<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::history(shell, &it.call, R::FAMILY, it.id()?, it.params).await })
}

pub(crate) fn create<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::create(shell, &it.call, R::FAMILY, it.body).await })
}

pub(crate) fn update<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::update(shell, &it.call, R::FAMILY, it.id()?, it.body).await })
}

pub(crate) fn submit<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Submit)
}

pub(crate) fn approve<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Approve)
}

pub(crate) fn reject<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Reject)
}

pub(crate) fn complete<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Complete)
}

pub(crate) fn miss<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Miss)
}

pub(crate) fn archive<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Archive)
}

fn act<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>, what: Verb) -> Work<'a> {
    Box::pin(async move { objectives::act(shell, &it.call, R::FAMILY, it.id()?, what, it.body).await })
}
