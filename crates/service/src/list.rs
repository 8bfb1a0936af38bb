//! Renders pages: the list envelope of §1, and what a list inlines.

use candor_domain::access::Scope;
use candor_domain::decision::Resource;
use candor_domain::page::{Listed, Page, Position, cursor};
use candor_domain::params::ListRequest;
use serde::Serialize;

use crate::reply::Reply;
use crate::{Call, Error};

/// About what a page's entry takes, so that a page is written without being moved.
const BYTES_OF_AN_ENTRY: usize = 1024;

/// A resource with what it refers to beside its own members (decision A12).
///
/// It is written by hand: a serializer that puts one struct into another handles every member of both as a map's, which
/// a page of fifty pays for fifty times.
pub(crate) struct Beside<'a>(&'a mut Vec<u8>);

impl<'a> Beside<'a> {
    /// Writes the resource, and leaves its object open.
    pub(crate) fn of(out: &'a mut Vec<u8>, resource: &impl Serialize) -> Result<Self, Error> {
        write(out, resource)?;
        match out.pop() {
            Some(b'}') => Ok(Self(out)),
            _ => Err(Error::Bug("a resource is not an object".to_owned())),
        }
    }

    /// Writes one more member, if it is wanted.
    pub(crate) fn member(&mut self, name: &'static str, value: Option<impl Serialize>) -> Result<(), Error> {
        let Some(value) = value else { return Ok(()) };
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        write(self.0, &value)
    }

    /// Closes the object.
    pub(crate) fn end(self) {
        self.0.push(b'}');
    }
}

/// Writes the JSON form of a value.
pub(crate) fn write(out: &mut Vec<u8>, value: &impl Serialize) -> Result<(), Error> {
    serde_json::to_writer(out, value).map_err(|it| Error::Bug(it.to_string()))
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

/// Answers a page whose entries `show` writes.
///
/// # Errors
/// Those of `show`.
pub(crate) fn page_written<T, F, E>(
    request: &ListRequest<F, E>,
    page: &Page<T>,
    show: impl Fn(&T, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<Reply, Error>
where
    T: Listed + Resource,
{
    envelope(request, page, |it| it.id().to_bytes(), show)
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
    envelope(request, page, id, |it, out| write(out, &view(it)))
}

/// The list envelope of §1: `{"data": […], "next_cursor": …, "has_more": …}`.
fn envelope<'a, T: Listed, F, E>(
    request: &ListRequest<F, E>,
    page: &'a Page<T>,
    id: impl Fn(&T) -> [u8; 16],
    show: impl Fn(&'a T, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<Reply, Error> {
    let last = page.items.last().filter(|_| page.more);
    let position = |it: &T| Position { key: it.key(request.sort.by), id: id(it) };
    let next_cursor = last.map(|it| cursor(request.digest, &position(it)));
    let mut body = Vec::with_capacity(BYTES_OF_AN_ENTRY * (page.items.len() + 1));
    body.extend_from_slice(b"{\"data\":[");
    for (at, it) in page.items.iter().enumerate() {
        if at > 0 {
            body.push(b',');
        }
        show(it, &mut body)?;
    }
    body.extend_from_slice(b"],\"next_cursor\":");
    write(&mut body, &next_cursor)?;
    body.extend_from_slice(b",\"has_more\":");
    write(&mut body, &page.more)?;
    body.push(b'}');
    Ok(Reply::done(body.into(), None))
}

/// Expanding another family's object needs that family's read scope (decision A12).
///
/// # Errors
/// [`Error::Refused`] naming the scope.
pub fn may_expand<E: PartialEq>(call: &Call, expand: &[E], path: &E, scope: Scope) -> Result<(), Error> {
    if expand.contains(path) { Ok(call.caller.require(scope)?) } else { Ok(()) }
}
