//! Renders pages: the list envelope of §1 with the inlined resources.

use std::collections::VecDeque;

use candor_domain::access::Tenant;
use candor_domain::page::{Page, Position, Sort, Sortable, cursor};
use candor_domain::params::ListRequest;
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::{PIECE_BYTES, Turn};
use candor_tables::flat::Stored;
use serde::Serialize;
use tokio::task::yield_now;

use crate::context::error::Error;
use crate::context::expand::{self, Expandable};
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::Services;

/// Estimated size of a list entry in bytes, so that the response buffer rarely reallocates.
const BYTES_OF_AN_ENTRY: usize = 1024;

/// Approximate maximum size of a page in bytes (decision A16). A page that reaches it ends there; the next page
/// continues.
pub(crate) const MAX_PAGE_BYTES: usize = 8_000_000;

/// Writes a resource followed by its inlined members (decision A12).
///
/// Written by hand, because serde's `flatten` serializes every member of both structs through a map, for each
/// entry of a page.
pub(crate) struct JsonObjectWriter<'a>(&'a mut Vec<u8>);

impl<'a> JsonObjectWriter<'a> {
    /// Writes the resource without the closing brace of its object.
    pub(crate) fn begin(out: &'a mut Vec<u8>, resource: &impl Serialize) -> Result<Self, Error> {
        write(out, resource)?;
        match out.pop() {
            Some(b'}') => Ok(Self(out)),
            _ => Err(Error::Bug("a resource is not an object".to_owned())),
        }
    }

    /// Writes one more member if `value` is `Some`.
    pub(crate) fn member(&mut self, name: &'static str, value: Option<impl Serialize>) -> Result<(), Error> {
        let Some(value) = value else { return Ok(()) };
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        write(self.0, &value)
    }

    /// Writes a list of resources as one more member if `items` is `Some`. Reserves space first, so that the
    /// buffer does not reallocate.
    pub(crate) fn list(&mut self, name: &'static str, items: Option<Vec<impl Serialize>>) -> Result<(), Error> {
        self.0.reserve(items.as_ref().map_or(0, Vec::len) * BYTES_OF_AN_ENTRY);
        self.member(name, items)
    }

    /// Writes one more member: a list. `items` is the JSON of its entries, with commas between them.
    pub(crate) fn written_list(&mut self, name: &'static str, items: &[u8]) {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":[");
        self.0.extend_from_slice(items);
        self.0.push(b']');
    }

    /// Ends the object with its brace.
    pub(crate) fn end(self) {
        self.0.push(b'}');
    }
}

/// Appends the JSON form of a value.
pub(crate) fn write(out: &mut Vec<u8>, value: &impl Serialize) -> Result<(), Error> {
    serde_json::to_writer(out, value).map_err(|error| Error::Bug(error.to_string()))
}

/// Returns a page of stored entries; `show` writes one of them.
///
/// # Errors
/// [`Error::Bug`] if an entry cannot be rendered; [`Error::TooManyLargeReads`] if too much data of the organization waits
/// to be written.
pub async fn page<T, F, E>(
    context: &RequestContext,
    request: &ListRequest<F, E>,
    page: Page<T>,
    show: impl Fn(&T, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<Reply, Error>
where
    T: Sortable + Stored,
{
    page_by(context, request, page, |entry| Stored::key(entry).to_bytes(), show).await
}

/// Returns a page whose entries are written with the resources that `expand` inlines. These resources are read for
/// `at_a_time` entries at once, so that little more is read than fits into the page.
///
/// # Errors
/// Errors of the store; [`Error::Bug`] if an entry cannot be rendered; [`Error::TooManyLargeReads`] if too much data of the
/// organization waits to be written.
pub(crate) async fn page_inlined<T: Expandable, F>(
    context: &RequestContext,
    request: &ListRequest<F, T::Path>,
    page: Page<T>,
) -> Result<Reply, Error> {
    let paths = &*request.expand;
    let at_a_time = T::at_a_time(paths).min(page.items.len()).max(1);
    let mut envelope = Envelope::new(context, &page);
    let mut entries = VecDeque::from(page.items);
    while !envelope.is_full && !entries.is_empty() {
        envelope.pieces.release();
        let part = entries.make_contiguous();
        let part = part.get(..at_a_time).unwrap_or(part);
        let inlined_resources = T::find(context, paths, part).await?;
        let covered_count = T::count_covered(&inlined_resources, part).max(1);
        for entry in entries.drain(..covered_count.min(entries.len())).collect::<Vec<_>>() {
            envelope.add(entry, |entry, out| expand::show(&inlined_resources, entry, out))?;
            envelope.let_others_go_first().await?;
        }
    }
    envelope.end(request, |entry| entry.id().to_bytes())
}

/// Returns a page of entries that are not stored, such as hits of a search; `id` breaks ties.
///
/// # Errors
/// [`Error::Bug`] if an entry cannot be rendered; [`Error::TooManyLargeReads`] if too much data of the organization waits
/// to be written.
pub async fn page_by<T, F, E>(
    context: &RequestContext,
    request: &ListRequest<F, E>,
    page: Page<T>,
    id: impl Fn(&T) -> [u8; 16],
    show: impl Fn(&T, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<Reply, Error>
where
    T: Sortable,
{
    let mut envelope = Envelope::new(context, &page);
    for entry in page.items {
        envelope.add(entry, &show)?;
        envelope.let_others_go_first().await?;
    }
    envelope.end(request, id)
}

/// Writer of the list envelope of §1: `{"data": […], "next_cursor": …, "has_more": …}`.
struct Envelope<'a, T> {
    /// Number of entries that the page would have without the size limit.
    available: usize,
    /// `true` if the list has entries after those of the page.
    more: bool,
    body: Vec<u8>,
    entries: usize,
    /// The entry written last. Entries are dropped one at a time: freeing the strings of a large page at once
    /// blocks the thread for milliseconds.
    last: Option<T>,
    is_full: bool,
    pieces: Pieces<'a>,
}

/// Divides the work on a large page into pieces, so that it does not delay small responses.
pub(crate) struct Pieces<'a> {
    large_work: &'a LargeWork,
    tenant: Tenant,
    /// Length of the body when the task last yielded.
    begins: usize,
    /// Permit for large work, held by a page of several pieces.
    turn: Option<Turn>,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(services: &'a Services, tenant: Tenant) -> Self {
        Self { large_work: &services.large_work, tenant, begins: 0, turn: None }
    }

    /// Releases the permit while the store is queried, so that other requests can use it.
    pub(crate) fn release(&mut self) {
        self.turn = None;
    }

    /// Yields to other tasks if the body has grown by a piece since the last time, and takes a permit for large work
    /// first. `length` is the present length of the body, and `held_bytes` about the size of the data that stays in
    /// memory until the permit comes.
    pub(crate) async fn let_others_go_first(&mut self, length: usize, held_bytes: usize) -> Result<(), Error> {
        if length.saturating_sub(self.begins) >= PIECE_BYTES {
            self.begins = length;
            if self.turn.is_none() {
                self.turn = Some(self.large_work.turn_with(self.tenant, held_bytes).await?);
            }
            yield_now().await;
        }
        Ok(())
    }
}

impl<'a, T: Sortable> Envelope<'a, T> {
    fn new(context: &'a RequestContext, page: &Page<T>) -> Self {
        let mut body = Vec::with_capacity(BYTES_OF_AN_ENTRY * (page.items.len() + 1));
        body.extend_from_slice(b"{\"data\":[");
        Self {
            available: page.items.len(),
            more: page.more,
            body,
            entries: 0,
            last: None,
            is_full: false,
            pieces: Pieces::new(&context.services, context.caller.tenant),
        }
    }

    /// Writes the next entry if the page has room for it. The first entry always fits.
    fn add(&mut self, entry: T, show: impl FnOnce(&T, &mut Vec<u8>) -> Result<(), Error>) -> Result<(), Error> {
        if self.is_full {
            return Ok(());
        }
        let length_before = self.body.len();
        if self.entries > 0 {
            self.body.push(b',');
        }
        show(&entry, &mut self.body)?;
        self.is_full = self.body.len() > MAX_PAGE_BYTES;
        if self.is_full && self.entries > 0 {
            self.body.truncate(length_before);
        } else {
            self.entries += 1;
            self.last = Some(entry);
        }
        Ok(())
    }

    /// Yields to other tasks after each piece of the page. Estimates the size of all entries by the mean size of the
    /// written ones.
    async fn let_others_go_first(&mut self) -> Result<(), Error> {
        let length = self.body.len();
        let held_bytes = length / self.entries.max(1) * self.available;
        self.pieces.let_others_go_first(length, held_bytes).await
    }

    /// Closes the envelope after the last entry; `id` breaks ties.
    fn end<F, E>(mut self, request: &ListRequest<F, E>, id: impl Fn(&T) -> [u8; 16]) -> Result<Reply, Error> {
        let more = self.more || self.entries < self.available;
        let last = self.last.as_ref().filter(|_| more);
        let position = last.map(|entry| place(entry, request.sort, id(entry))).transpose()?;
        let next_cursor = position.map(|position| cursor(request.digest, &position));
        self.body.extend_from_slice(b"],\"next_cursor\":");
        write(&mut self.body, &next_cursor)?;
        self.body.extend_from_slice(b",\"has_more\":");
        write(&mut self.body, &more)?;
        self.body.push(b'}');
        Ok(Reply::ok(self.body.into(), None))
    }
}

/// Returns the cursor position of an entry in this order; `id` breaks ties.
///
/// # Errors
/// [`Error::Bug`] if the list has no such order.
pub(crate) fn place<T: Sortable>(entry: &T, sort: Sort, id: [u8; 16]) -> Result<Position, Error> {
    let key = entry.key(sort.by).ok_or_else(|| Error::Bug(format!("a list without an order by {:?}", sort.by)))?;
    Ok(Position { key, id })
}
