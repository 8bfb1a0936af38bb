//! Renders pages: the list envelope of §1, and what a list inlines.

use std::future::Future;

use candor_domain::access::{Permission, Tenant};
use candor_domain::decision::Resource;
use candor_domain::page::{Listed, Page, Position, Sort, cursor};
use candor_domain::params::ListRequest;
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::{PIECE_BYTES, Turn};
use serde::Serialize;
use tokio::task::yield_now;

use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::Services;

/// About what a resource takes in a list, so that an answer is written without being moved.
const BYTES_OF_AN_ENTRY: usize = 1024;

/// About the largest page, in bytes (decision A16). One that has grown to this ends there, and the next one goes on.
pub(crate) const MAX_PAGE_BYTES: usize = 8_000_000;

/// A resource with what it refers to beside its own members (decision A12).
///
/// It is written by hand: a serializer that puts one struct into another handles every member of both as a map's, which
/// a page of fifty pays for fifty times.
pub(crate) struct JsonObjectWriter<'a>(&'a mut Vec<u8>);

impl<'a> JsonObjectWriter<'a> {
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

    /// Writes a list of resources as one more member, if it is wanted: the answer is not moved while it grows.
    pub(crate) fn list(&mut self, name: &'static str, items: Option<Vec<impl Serialize>>) -> Result<(), Error> {
        self.0.reserve(items.as_ref().map_or(0, Vec::len) * BYTES_OF_AN_ENTRY);
        self.member(name, items)
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
pub async fn page<'a, T, F, E, V>(
    services: &'a Services,
    context: &RequestContext,
    request: &ListRequest<F, E>,
    page: &'a Page<T>,
    view: impl Fn(&'a T) -> V,
) -> Result<Reply, Error>
where
    T: Listed + Resource,
    V: Serialize,
{
    page_by(services, context, request, page, |it| it.id().to_bytes(), view).await
}

/// Answers a page whose entries `show` writes with what `load` reads for so many of them at a time, so that no more is
/// read than has room in a page by far.
///
/// # Errors
/// Those of `load` and `show`.
pub(crate) async fn page_inlined<'a, T, F, E, I, Loaded>(
    (services, context): (&'a Services, &RequestContext),
    request: &ListRequest<F, E>,
    page: &'a Page<T>,
    at_a_time: usize,
    load: impl Fn(&'a [T]) -> Loaded,
    show: impl Fn(&I, &'a T, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<Reply, Error>
where
    T: Listed + Resource,
    Loaded: Future<Output = Result<I, Error>>,
{
    let mut envelope = Envelope::begin(services, context, page);
    for part in page.items.chunks(at_a_time.max(1)) {
        // Others go first while the store is asked.
        envelope.turn = None;
        let inlined = load(part).await?;
        for it in part {
            envelope.add(|out| show(&inlined, it, out))?;
            envelope.let_others_go_first().await?;
        }
        if envelope.is_full {
            break;
        }
    }
    envelope.end(request, |it| it.id().to_bytes())
}

/// Answers a page of what is no resource with an age of its own, such as the entries of a log; `id` breaks ties.
///
/// # Errors
/// [`Error::Bug`] if an entry cannot be rendered.
pub async fn page_by<'a, T, F, E, V>(
    services: &'a Services,
    context: &RequestContext,
    request: &ListRequest<F, E>,
    page: &'a Page<T>,
    id: impl Fn(&T) -> [u8; 16],
    view: impl Fn(&'a T) -> V,
) -> Result<Reply, Error>
where
    T: Listed,
    V: Serialize,
{
    let mut envelope = Envelope::begin(services, context, page);
    for it in &page.items {
        envelope.add(|out| write(out, &view(it)))?;
        envelope.let_others_go_first().await?;
    }
    envelope.end(request, id)
}

/// The list envelope of §1 while it is written: `{"data": […], "next_cursor": …, "has_more": …}`.
struct Envelope<'a, T> {
    large_work: &'a LargeWork,
    tenant: Tenant,
    page: &'a Page<T>,
    body: Vec<u8>,
    entries: usize,
    is_full: bool,
    /// Length of the body when the thread last turned to other requests.
    piece_begins: usize,
    /// The turn at large work that a page of several pieces has.
    turn: Option<Turn>,
}

impl<'a, T: Listed> Envelope<'a, T> {
    fn begin(services: &'a Services, context: &RequestContext, page: &'a Page<T>) -> Self {
        let mut body = Vec::with_capacity(BYTES_OF_AN_ENTRY * (page.items.len() + 1));
        body.extend_from_slice(b"{\"data\":[");
        let (large_work, tenant) = (&services.large_work, context.caller.tenant);
        Self { large_work, tenant, page, body, entries: 0, is_full: false, piece_begins: 0, turn: None }
    }

    /// Writes the next entry, unless it has no room any more. There is always room for one.
    fn add(&mut self, show: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> Result<(), Error> {
        if self.is_full {
            return Ok(());
        }
        let before = self.body.len();
        if self.entries > 0 {
            self.body.push(b',');
        }
        show(&mut self.body)?;
        self.is_full = self.body.len() > MAX_PAGE_BYTES;
        if self.is_full && self.entries > 0 {
            self.body.truncate(before);
        } else {
            self.entries += 1;
        }
        Ok(())
    }

    /// Lets the thread turn to other requests when another piece of the page was written, and goes on in the tenant's
    /// turn: large pages must not delay the small answers beside them, however many there are.
    async fn let_others_go_first(&mut self) -> Result<(), Error> {
        if self.body.len().saturating_sub(self.piece_begins) >= PIECE_BYTES {
            self.piece_begins = self.body.len();
            if self.turn.is_none() {
                self.turn = Some(self.large_work.turn(self.tenant).await?);
            }
            yield_now().await;
        }
        Ok(())
    }

    /// Closes it behind the last entry that was written; `id` breaks ties.
    fn end<F, E>(mut self, request: &ListRequest<F, E>, id: impl Fn(&T) -> [u8; 16]) -> Result<Reply, Error> {
        let more = self.page.more || self.entries < self.page.items.len();
        let last = self.page.items[..self.entries].last().filter(|_| more);
        let place = last.map(|it| place(it, request.sort, id(it))).transpose()?;
        let next_cursor = place.map(|it| cursor(request.digest, &it));
        self.body.extend_from_slice(b"],\"next_cursor\":");
        write(&mut self.body, &next_cursor)?;
        self.body.extend_from_slice(b",\"has_more\":");
        write(&mut self.body, &more)?;
        self.body.push(b'}');
        Ok(Reply::done(self.body.into(), None))
    }
}

/// The place of an entry in a list in this order; `id` breaks ties.
///
/// # Errors
/// [`Error::Bug`] if the list has no such order.
pub(crate) fn place<T: Listed>(entry: &T, sort: Sort, id: [u8; 16]) -> Result<Position, Error> {
    let key = entry.key(sort.by).ok_or_else(|| Error::Bug(format!("a list without an order by {:?}", sort.by)))?;
    Ok(Position { key, id })
}

/// Expanding another family's object needs that family's read scope (decision A12).
///
/// # Errors
/// [`Error::Refused`] naming the scope.
pub fn may_expand<E: PartialEq>(
    context: &RequestContext,
    expand: &[E],
    path: &E,
    scope: Permission,
) -> Result<(), Error> {
    if expand.contains(path) { Ok(context.caller.require(scope)?) } else { Ok(()) }
}
