//! The cursor of an export: the point at which its lines go on, and the position of the feed at its beginning.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::ExportedResource;
use crate::access::Tenant;
use crate::event::{FEED_DAYS, FeedRequest, oldest_in_feed};
use crate::fields::StringEnum;
use crate::page::{Key, ListDigest, Position};
use crate::problem::{Code, ValueError};
use crate::time::Timestamp;

/// First byte of the cursors of exports. It differs from the first byte of cursors of lists, so that neither is
/// read as the other.
const CURSOR_KIND: u8 = b'x';
/// Length of a cursor in bytes: kind, digest, time, position of the feed, resource, id.
const CURSOR_BYTES: usize = 1 + 8 + 8 + 8 + 16 + 1 + 16;

/// A place in the order of an export: a row, or the beginning of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct ExportPlace {
    pub resource: ExportedResource,
    /// Id of the row as bytes; zero before the first row of the resource.
    pub id: [u8; 16],
}

impl ExportPlace {
    /// Returns the place before the first row of a resource.
    #[must_use]
    pub const fn start_of(resource: ExportedResource) -> Self {
        Self { resource, id: [0; 16] }
    }
}

/// The point at which an export goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportCursor {
    /// Beginning of the export.
    pub started_at: Timestamp,
    /// Position of the feed before the first row was read.
    pub events: Position,
    /// The last row before the rest of the export.
    pub place: ExportPlace,
}

/// Returns the digest that binds a cursor to a data set and to the exported resources.
fn digest(tenant: Tenant, resources: &[ExportedResource]) -> ListDigest {
    let words: Vec<_> = resources.iter().map(|resource| resource.word()).collect();
    ListDigest::new(&format!("export\n{:?}\n{words:?}", tenant.to_bytes()))
}

impl ExportCursor {
    /// Returns the text of the cursor.
    #[must_use]
    pub fn to_text(&self, tenant: Tenant, resources: &[ExportedResource]) -> String {
        let rank = if let Key::Rank(rank) = self.events.key { rank } else { 0 };
        let mut bytes = Vec::with_capacity(CURSOR_BYTES);
        bytes.push(CURSOR_KIND);
        bytes.extend(digest(tenant, resources).to_bytes());
        bytes.extend(self.started_at.millis().to_be_bytes());
        bytes.extend(rank.to_be_bytes());
        bytes.extend(self.events.id);
        let index = ExportedResource::ALL.iter().position(|resource| *resource == self.place.resource);
        bytes.push(index.and_then(|index| u8::try_from(index).ok()).unwrap_or_default());
        bytes.extend(self.place.id);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a cursor of this data set with these resources.
    ///
    /// # Errors
    /// `invalid_format`; `out_of_range` if the feed no longer reaches back to the beginning of the export.
    pub fn read(
        text: &str,
        tenant: Tenant,
        resources: &[ExportedResource],
        now: Timestamp,
    ) -> Result<Self, ValueError> {
        let cursor = Self::decode(text, digest(tenant, resources))
            .filter(|cursor| resources.contains(&cursor.place.resource))
            .ok_or_else(|| {
                ValueError::format("the `cursor` of a checkpoint of this organization, with the same `resources`")
            })?;
        if cursor.started_at < oldest_in_feed(now) {
            let message = format!("must be from an export of the last {FEED_DAYS} days; begin a new export");
            return Err(ValueError::new(Code::OutOfRange, message));
        }
        Ok(cursor)
    }

    fn decode(text: &str, digest: ListDigest) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let rest = bytes.strip_prefix(&[CURSOR_KIND])?.strip_prefix(&digest.to_bytes())?;
        let (started_at, rest) = rest.split_first_chunk::<8>()?;
        let (rank, rest) = rest.split_first_chunk::<8>()?;
        let (event, rest) = rest.split_first_chunk::<16>()?;
        let (resource, id) = rest.split_first()?;
        Some(Self {
            started_at: Timestamp::from_millis(i64::from_be_bytes(*started_at)).printable()?,
            events: Position { key: Key::Rank(i64::from_be_bytes(*rank)), id: *event },
            place: ExportPlace {
                resource: *ExportedResource::ALL.get(usize::from(*resource))?,
                id: id.try_into().ok()?,
            },
        })
    }

    /// Returns the cursor of `GET /events` with which a client follows the changes since the beginning.
    #[must_use]
    pub fn events_cursor(&self) -> String {
        FeedRequest::unfiltered_cursor(&self.events)
    }
}
