//! Renders pages: the list envelope of §1, and what a list inlines.

use candor_domain::access::Scope;
use candor_domain::decision::Resource;
use candor_domain::page::{Listed, Page, Position, cursor};
use candor_domain::params::ListRequest;
use serde::Serialize;

use crate::reply::Reply;
use crate::shell::render;
use crate::{Call, Error};

#[derive(Serialize)]
struct Envelope<V> {
    data: Vec<V>,
    next_cursor: Option<String>,
    has_more: bool,
}

/// Answers a page: `view` is what is shown of each entry.
///
/// # Errors
/// [`Error::Bug`] if an entry cannot be rendered.
pub fn page<'a, T, F, E, V>(
    request: &ListRequest<F, E>,
    page: &'a Page<T>,
    view: impl Fn(&'a T) -> V,
) -> Result<Reply, Error>
where
    T: Listed + Resource,
    V: Serialize,
{
    page_by(request, page, |it| it.id().to_bytes(), view)
}

/// Answers a page of what is no resource with an age of its own, such as the entries of a log; `id` breaks ties.
///
/// # Errors
/// [`Error::Bug`] if an entry cannot be rendered.
pub fn page_by<'a, T, F, E, V>(
    request: &ListRequest<F, E>,
    page: &'a Page<T>,
    id: impl Fn(&T) -> [u8; 16],
    view: impl Fn(&'a T) -> V,
) -> Result<Reply, Error>
where
    T: Listed,
    V: Serialize,
{
    let last = page.items.last().filter(|_| page.more);
    let position = |it: &T| Position { key: it.key(request.sort.by), id: id(it) };
    let next_cursor = last.map(|it| cursor(request.digest, &position(it)));
    let data = page.items.iter().map(view).collect();
    Ok(Reply::done(render(&Envelope { data, next_cursor, has_more: page.more })?, None))
}

/// Expanding another family's object needs that family's read scope (decision A12).
///
/// # Errors
/// [`Error::Refused`] naming the scope.
pub fn may_expand<E: PartialEq>(call: &Call, expand: &[E], path: &E, scope: Scope) -> Result<(), Error> {
    if expand.contains(path) { Ok(call.caller.require(scope)?) } else { Ok(()) }
}
