//! Mapping of webhook subscriptions, and their lists.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_domain::fields::Word;
use candor_domain::id::{Id, WebhookKind};
use candor_domain::page::{PageRequest, Sort};
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Filter, SealedSecret, Streak, Subscription, Topics};
use serde::{Deserialize, Serialize};

use super::column;
use crate::error::Corrupt;
use crate::flat::{BackgroundWorker, Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::listing::{Listing, TypedListing};

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("url", Type::Text),
        column("event_types", Type::Text),
        column("active", Type::Flag),
        column("description", Type::Text),
        column("secrets", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
    ],
    // Selected event types as bits, 0 while inactive; queried for every event.
    derived: &[column("wanted", Type::Int)],
    recorded: &[
        column("last_delivery_at", Type::Time),
        column("last_delivery_status", Type::Text),
        column("failures", Type::Int),
        column("failing_since", Type::Time),
    ],
    indexes: &[Index::on(&["created_at", "id"]), Index::on(&["updated_at", "id"])],
    wakes: Some(BackgroundWorker::Delivery),
    ..Table::named("webhooks")
};

/// A sealed secret in its stored form.
#[derive(Serialize, Deserialize)]
struct Sealed {
    sealed: String,
    ends_at: Option<i64>,
}

fn seals(secrets: &[SealedSecret]) -> Vec<Sealed> {
    let seal =
        |it: &SealedSecret| Sealed { sealed: STANDARD.encode(&it.sealed), ends_at: it.ends_at.map(|it| it.millis()) };
    secrets.iter().map(seal).collect()
}

fn secrets(text: &str) -> Option<Vec<SealedSecret>> {
    let seals: Vec<Sealed> = serde_json::from_str(text).ok()?;
    let secret = |it: Sealed| {
        Some(SealedSecret { sealed: STANDARD.decode(it.sealed).ok()?, ends_at: it.ends_at.map(Timestamp::from_millis) })
    };
    seals.into_iter().map(secret).collect()
}

impl Stored for Subscription {
    type Kind = WebhookKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        let topics: Vec<_> = self.event_types.as_slice().iter().map(|it| it.word()).collect();
        out.id(self.id);
        out.text(&self.url);
        out.text(topics.join(" "));
        out.put(Cell::Flag(self.active));
        out.opt_text(self.description.as_ref());
        out.json(&seals(&self.secrets));
        out.time(self.created_at);
        out.time(self.updated_at);
        out.put(Cell::Int(if self.active { self.event_types.bits() } else { 0 }));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let mut it = Self {
            id: row.id()?,
            url: row.text()?,
            event_types: row.parse(|text| Topics::from_words(text.split(' ')).ok())?,
            active: row.flag()?,
            description: row.opt_text()?,
            secrets: row.parse(secrets)?,
            created_at: row.time()?,
            updated_at: row.time()?,
            last_delivery_at: None,
            last_delivery_status: None,
            streak: Streak::default(),
        };
        it.last_delivery_at = row.opt_time()?;
        it.last_delivery_status = row.opt_parse(|text| Word::from_word(text).ok())?;
        it.streak = Streak { failures: row.opt_small()?.unwrap_or_default(), since: row.opt_time()? };
        Ok(it)
    }
}

/// List of `GET /webhooks` (§4.4).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Subscription> {
    Listing::changed::<Subscription>(filter.updated_at, sort, page).alone()
}
