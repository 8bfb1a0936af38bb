//! Lists: a page at a time, or entry by entry across pages.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::request::{Core, Options, Spec, limit_setters};
use crate::response::ApiResponse;

/// One page of a list.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Page<T> {
    /// Entries of this page.
    pub data: Vec<T>,
    /// Position behind this page: store it, and pass it as `cursor` to continue later.
    pub next_cursor: Option<String>,
    /// `true` if there are more entries behind this page.
    #[serde(default)]
    pub has_more: bool,
}

/// A list. Awaiting it returns its first page; [`Pages::entries`] returns every entry.
#[must_use = "a list is read when it is awaited, or by its entries"]
pub struct Pages<T> {
    core: Arc<Core>,
    spec: Spec,
    options: Options,
    data: std::marker::PhantomData<fn() -> T>,
}

impl<T> Pages<T> {
    pub(crate) fn new(core: &Arc<Core>, spec: Spec) -> Self {
        Self { core: Arc::clone(core), spec, options: Options::default(), data: std::marker::PhantomData }
    }

    limit_setters!();

    /// Continues the list at a cursor, which replaces an earlier cursor and `since`.
    pub(crate) fn continue_at(mut self, cursor: &str) -> Self {
        self.spec.query.retain(|(name, _)| name != "cursor" && name != "since");
        self.spec.query.push(("cursor".to_owned(), cursor.to_owned()));
        self
    }
}

impl<T: DeserializeOwned + Send + 'static> Pages<T> {
    /// Reads the first page, together with status, headers, request id and quota.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn with_response(&self) -> Result<ApiResponse<Page<T>>, Error> {
        self.core.send(&self.spec, &self.options).await?.json()
    }

    /// Returns every page of the list, from the first one.
    #[must_use]
    pub fn pages(self) -> BoxStream<'static, Result<Page<T>, Error>> {
        let read = |list: Option<Self>| async move {
            let Some(list) = list else { return Ok(None) };
            let page = list.with_response().await?.data;
            let next = page.next_cursor.as_deref().filter(|_| page.has_more).map(str::to_owned);
            Ok(Some((page, next.map(|cursor| list.continue_at(&cursor)))))
        };
        stream::try_unfold(Some(self), read).boxed()
    }

    /// Returns every entry of the list, page by page.
    pub fn entries(self) -> Entries<T> {
        Entries { pages: self.pages(), ready: VecDeque::new() }
    }
}

impl<T: DeserializeOwned + Send + 'static> IntoFuture for Pages<T> {
    type Output = Result<Page<T>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.with_response().await?.data) })
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.spec.method, self.spec.path)
    }
}

/// Entries of a list across its pages, as a [`Stream`] and by [`Entries::next`]. The next page is read when all
/// entries of the current page are taken.
#[must_use = "pages are read as entries are taken"]
pub struct Entries<T> {
    pages: BoxStream<'static, Result<Page<T>, Error>>,
    ready: VecDeque<T>,
}

impl<T: Unpin> Entries<T> {
    /// Returns the next entry, or `None` at the end of the list.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        StreamExt::next(self).await.transpose()
    }

    /// Returns all remaining entries.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn collect(mut self) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        while let Some(entry) = self.next().await? {
            all.push(entry);
        }
        Ok(all)
    }
}

impl<T: Unpin> Stream for Entries<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(entry)));
            }
            match std::task::ready!(self.pages.as_mut().poll_next(context)) {
                Some(Ok(page)) => self.ready = page.data.into(),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}

impl<T> fmt::Debug for Entries<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("ready", &self.ready.len()).finish_non_exhaustive()
    }
}
