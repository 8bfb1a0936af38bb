//! Observations.

use candor_domain::fields::Word;
use candor_domain::id::{Id, ObservationKind};
use candor_domain::observation::{Filter, Observation};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::search::Searchable;

use super::column;
use crate::flat::{Cell, Cells, Index, MemberTable, Reader, Stored, Table, Type};
use crate::listing::{Condition, Listing, OBSERVATION_DATE, TypedListing, UPDATED_AT, sort_column};
use crate::store::StorageError;

/// The attributes of observations.
const TAGS: MemberTable =
    MemberTable { name: "observation_attributes", owner: "observation_id", member: "attribute_id" };

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("employee_id", Type::Id),
        column("author_id", Type::Id),
        column("type", Type::Text),
        column("observation", Type::Text),
        column("impact", Type::Text),
        column("recommended_action", Type::Text),
        column("attribute_ids", Type::Ids),
        column("observation_date", Type::Date),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("archived_at", Type::Time),
    ],
    derived: &[column("archived", Type::Flag)],
    members: Some(TAGS),
    indexes: &[
        Index::on(&["archived", "observation_date", "id", "employee_id"]),
        Index::on(&["archived", "created_at", "id", "employee_id"]),
        Index::on(&["archived", "updated_at", "id", "employee_id"]),
        Index::on(&["employee_id", "archived", "observation_date", "id"]).to_firsts(),
    ],
    shares_commits: true,
    ..Table::named("observations")
};

impl Stored for Observation {
    type Kind = ObservationKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.id(self.employee_id);
        out.opt_id(self.author_id);
        out.word(self.kind);
        out.text(&self.observation);
        out.opt_text(self.impact.as_ref());
        out.opt_text(self.recommended_action.as_ref());
        out.ids(&self.attribute_ids);
        out.put(Cell::Date(self.observation_date));
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.archived_at);
        out.put(Cell::Flag(self.archived_at.is_some()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        Ok(Self {
            id: row.id()?,
            employee_id: row.id()?,
            author_id: row.opt_id()?,
            kind: row.word()?,
            observation: row.text()?,
            impact: row.opt_text()?,
            recommended_action: row.opt_text()?,
            attribute_ids: row.ids()?,
            observation_date: row.date()?,
            created_at: row.time()?,
            updated_at: row.time()?,
            archived_at: row.opt_time()?,
        })
    }

    fn is_searched(&self) -> bool {
        Searchable::is_found(self)
    }

    fn members(&self) -> Vec<[u8; 16]> {
        self.attribute_ids.iter().map(|it| it.to_bytes()).collect()
    }
}

/// `GET /observations` (§4.1).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Observation> {
    let about = column("employee_id", Type::Id);
    let mut it = Listing::new::<Observation>(sort, page);
    it.archived(filter.archived);
    it.is(about, filter.employee_id);
    it.conditions.extend(filter.manager_id.map(|it| Condition::Within(about, it)));
    it.words(column("type", Type::Text), filter.kind.iter().map(|it| it.word()));
    it.tagged(TAGS, filter.attribute_ids.iter().map(|it| it.to_bytes()));
    it.within(OBSERVATION_DATE, filter.observation_date, Cell::Date);
    it.within(sort_column(SortBy::CreatedAt), filter.created_at, Cell::Time);
    it.within(UPDATED_AT, filter.updated_at, Cell::Time);
    it.alone()
}
