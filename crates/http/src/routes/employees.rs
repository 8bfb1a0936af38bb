//! Employees and their invitations (§4.3, decisions G).

use candor_service::{Shell, employees, invitations};

use crate::exchange::{AnonymousRequest, AuthenticatedRequest};
use crate::table::Work;

pub(crate) fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::list(shell, &it.call, it.params).await })
}

pub(crate) fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::get(shell, &it.call, it.id()?, it.params).await })
}

pub(crate) fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::create(shell, &it.call, it.body).await })
}

pub(crate) fn upload<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(employees::csv::upsert(shell, it.call, it.params, it.csv))
}

pub(crate) fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::update(shell, &it.call, it.id()?, it.body).await })
}

pub(crate) fn deactivate<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::deactivate(shell, &it.call, it.id()?).await })
}

pub(crate) fn reactivate<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::reactivate(shell, &it.call, it.id()?).await })
}

pub(crate) fn rehire<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::rehire(shell, &it.call, it.id()?, it.body).await })
}

pub(crate) fn invitation<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { invitations::get(shell, &it.call, it.id()?).await })
}

pub(crate) fn invite<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { invitations::invite(shell, &it.call, it.id()?).await })
}

pub(crate) fn accept(shell: &Shell, it: AnonymousRequest) -> Work<'_> {
    Box::pin(invitations::accept(shell, it.request, it.origin, it.body))
}
