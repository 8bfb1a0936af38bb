//! Lists as flat conditions, so that a store needs to know how a condition is written and nothing about resources.

use std::collections::BTreeSet;

use candor_domain::audit::{self, AuditEntry};
use candor_domain::decision::Resource;
use candor_domain::fields::Word;
use candor_domain::id::{ConnectorId, EmployeeId, WebhookId};
use candor_domain::library::{attribute, department};
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{self, Family, Objective, Scope, Sight, Status};
use candor_domain::observation;
use candor_domain::page::{Key, Listed, Page, PageRequest, Sort, SortBy};
use candor_domain::params::{Archived, Bounds};
use candor_domain::people;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{self, Delivery, DeliveryFilter, Subscription};

use crate::flat::{Cell, Column, MemberTable, Stored, Table, Type};
use crate::rows::{scope_status, shelf};

/// A page of a list.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Which rows.
    pub table: &'static Table,
    /// The column that leads every index of the list, and the values wanted of it. A store reads one ordered run per
    /// value and merges them, so that no index is needed for every combination.
    pub runs: Option<(Column, Vec<Cell>)>,
    /// All of these must hold.
    pub conditions: Vec<Condition>,
    /// What orders the rows; the id breaks ties.
    pub sort: Column,
    /// Largest first.
    pub descending: bool,
    /// Only rows behind this place.
    pub after: Option<(Cell, [u8; 16])>,
    /// So many rows, and one more to see whether there are more.
    pub limit: u16,
}

/// One condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// The column has this value.
    Is(Column, Cell),
    /// The column has one of these values.
    OneOf(Column, Vec<Cell>),
    /// The column is not less.
    AtLeast(Column, Cell),
    /// The column is not more.
    AtMost(Column, Cell),
    /// The column names a direct or indirect report of this person.
    Within(Column, EmployeeId),
    /// The column names this person, or a direct or indirect report of theirs.
    Reach(Column, EmployeeId),
    /// The row has any of these tags.
    Tagged(MemberTable, Vec<[u8; 16]>),
}

/// The column a list is ordered by.
#[must_use]
pub const fn column(by: SortBy) -> Column {
    match by {
        SortBy::CreatedAt => Column::new("created_at", Type::Time),
        SortBy::UpdatedAt => UPDATED_AT,
        SortBy::ObservationDate => OBSERVATION_DATE,
        SortBy::PeriodEnd => Column::new("period_end", Type::Date),
        SortBy::LastName => Column::new("last_name_key", Type::Text),
        SortBy::FirstName => Column::new("first_name_key", Type::Text),
        SortBy::Name => NAME_KEY,
        SortBy::OccurredAt => OCCURRED_AT,
        SortBy::Commit => Column::new("position", Type::Int),
    }
}

/// Values of a filter that are read as runs of their own; each number of runs is another statement to keep.
const MOST_RUNS: usize = 8;

const UPDATED_AT: Column = Column::new("updated_at", Type::Time);
const OBSERVATION_DATE: Column = Column::new("observation_date", Type::Date);
const NAME_KEY: Column = Column::new("name_key", Type::Text);
const OCCURRED_AT: Column = Column::new("occurred_at", Type::Time);
const ARCHIVED: Column = Column::new("archived", Type::Flag);
const STATUS: Column = Column::new("status", Type::Text);
const EMPLOYEE_ID: Column = Column::new("employee_id", Type::Id);

impl Listing {
    fn new<T: Stored>(sort: Sort, page: &PageRequest) -> Self {
        let after = page.after.as_ref().map(|it| (cell(&it.key), it.id));
        Self {
            table: T::TABLE,
            runs: None,
            conditions: vec![],
            sort: column(sort.by),
            descending: sort.descending,
            after,
            limit: page.limit,
        }
    }

    fn is(&mut self, column: Column, value: Option<Cell>) {
        self.conditions.extend(value.map(|it| Condition::Is(column, it)));
    }

    fn words(&mut self, column: Column, words: Vec<&'static str>) {
        self.one_of(column, words.into_iter().map(|it| Cell::Text(it.to_owned())).collect());
    }

    fn one_of(&mut self, column: Column, values: Vec<Cell>) {
        if !values.is_empty() {
            self.conditions.push(Condition::OneOf(column, values));
        }
    }

    fn within<T: Copy>(&mut self, column: Column, bounds: Bounds<T>, cell: impl Fn(T) -> Cell) {
        self.conditions.extend(bounds.gte.map(|it| Condition::AtLeast(column, cell(it))));
        self.conditions.extend(bounds.lte.map(|it| Condition::AtMost(column, cell(it))));
    }

    fn archived(&mut self, archived: Archived) {
        let values: &[bool] = match archived {
            Archived::No => &[false],
            Archived::Yes => &[true],
            Archived::All => &[false, true],
        };
        self.runs = Some((ARCHIVED, values.iter().map(|it| Cell::Flag(*it)).collect()));
    }

    /// A list of one table that only the time of the last change narrows (decision D10).
    #[must_use]
    pub fn changed<T: Stored>(within: Bounds<Timestamp>, sort: Sort, page: &PageRequest) -> Self {
        let mut it = Self::new::<T>(sort, page);
        it.within(UPDATED_AT, within, Cell::Time);
        it
    }

    /// `GET /observations` (§4.1).
    #[must_use]
    pub fn observations(filter: &observation::Filter, sort: Sort, page: &PageRequest) -> Self {
        let mut it = Self::new::<observation::Observation>(sort, page);
        it.archived(filter.archived);
        it.is(EMPLOYEE_ID, filter.employee_id.map(|it| Cell::Id(it.to_bytes())));
        it.conditions.extend(filter.manager_id.map(|it| Condition::Within(EMPLOYEE_ID, it)));
        it.words(Column::new("type", Type::Text), filter.kind.iter().map(|it| it.word()).collect());
        if let (false, Some(members)) = (filter.attribute_ids.is_empty(), observation::Observation::TABLE.members) {
            it.conditions
                .push(Condition::Tagged(members, filter.attribute_ids.iter().map(|it| it.to_bytes()).collect()));
        }
        it.within(OBSERVATION_DATE, filter.observation_date, Cell::Date);
        it.within(column(SortBy::CreatedAt), filter.created_at, Cell::Time);
        it.within(UPDATED_AT, filter.updated_at, Cell::Time);
        it
    }

    /// `GET /employees` (§4.3).
    #[must_use]
    pub fn employees(filter: &people::Filter, sort: Sort, page: &PageRequest) -> Self {
        let mut it = Self::new::<people::Employee>(sort, page);
        it.runs = Some((STATUS, filter.status.statuses().iter().map(|it| Cell::Text(it.word().to_owned())).collect()));
        it.is(Column::new("email_key", Type::Text), filter.email.clone().map(Cell::Text));
        it.is(Column::new("external_id", Type::Text), filter.external_id.clone().map(Cell::Text));
        it.is(Column::new("manager_id", Type::Id), filter.manager_id.map(|it| Cell::Id(it.to_bytes())));
        it.is(Column::new("department_id", Type::Id), filter.department_id.map(|it| Cell::Id(it.to_bytes())));
        it.words(Column::new("role", Type::Text), filter.roles.iter().map(|it| it.word()).collect());
        if let Some(members) = people::Employee::TABLE.members {
            it.conditions.extend(filter.custom.iter().map(|digest| Condition::Tagged(members, vec![*digest])));
        }
        it.within(UPDATED_AT, filter.updated_at, Cell::Time);
        it
    }

    /// `GET /employee-objectives` and `GET /manager-objectives` (§4.2, decision B5): the lists that, merged by
    /// [`merge`], are what the caller sees.
    ///
    /// A person sees what they and the people below them own, and what the whole organization has; no objective is in
    /// both of these lists.
    #[must_use]
    pub fn objectives(filter: &objective::Filter, sight: Sight, sort: Sort, page: &PageRequest) -> Vec<Self> {
        let owner = Column::new("owner_id", Type::Id);
        let list = |scopes: &[Scope]| {
            let mut it = Self::new::<Objective>(sort, page);
            it.runs = Some(objective_runs(filter, scopes, filter.owner_id.is_some()));
            it.is(owner, filter.owner_id.map(|it| Cell::Id(it.to_bytes())));
            it.within(Column::new("period_start", Type::Date), filter.period_start, Cell::Date);
            it.within(column(SortBy::PeriodEnd), filter.period_end, Cell::Date);
            it.within(UPDATED_AT, filter.updated_at, Cell::Time);
            it
        };
        let Sight::Of(person) = sight else {
            return if filter.scopes.is_empty() { vec![] } else { vec![list(&filter.scopes)] };
        };
        let (everyones, personal): (Vec<_>, Vec<_>) = filter.scopes.iter().partition(|it| **it == Scope::Org);
        let mut lists = vec![];
        if !personal.is_empty() {
            let mut theirs = list(&personal);
            // Met one after the other and looked up, they are better in one run, past those of the organization.
            if let Some(shelves) = shelves(filter, filter.scopes.as_slice()).filter(|_| filter.owner_id.is_none()) {
                theirs.runs = Some(shelves);
                if !everyones.is_empty() {
                    theirs.words(Column::new("scope", Type::Text), personal.iter().map(|it| it.word()).collect());
                }
            }
            theirs.conditions.push(Condition::Reach(owner, person));
            lists.push(theirs);
        }
        if !everyones.is_empty() {
            lists.push(list(&everyones));
        }
        lists
    }

    /// Whether it is put together from several runs.
    #[must_use]
    pub fn is_several_runs(&self) -> bool {
        self.runs.as_ref().is_some_and(|(_, values)| values.len() > 1)
    }

    /// `GET /notifications` (decisions G).
    #[must_use]
    pub fn notifications(filter: &notification::Filter, sort: Sort, page: &PageRequest) -> Self {
        let mut it = Self::new::<Notification>(sort, page);
        let values = filter.unread.map_or(vec![true, false], |it| vec![it]);
        it.runs = Some((Column::new("unread", Type::Flag), values.into_iter().map(Cell::Flag).collect()));
        it.is(Column::new("recipient_id", Type::Id), filter.recipient_id.map(|it| Cell::Id(it.to_bytes())));
        it
    }

    /// The org admins who work there, in the order of their ids.
    #[must_use]
    pub fn org_admins(most: u16) -> Self {
        let status = Cell::Text(people::Status::Active.word().to_owned());
        Self {
            table: people::Employee::TABLE,
            runs: Some((STATUS, vec![status])),
            conditions: vec![Condition::Is(
                Column::new("role", Type::Text),
                Cell::Text(people::Role::OrgAdmin.word().to_owned()),
            )],
            sort: Column::new("id", Type::Id),
            descending: false,
            after: None,
            limit: most,
        }
    }

    /// `GET /departments` (decisions G).
    #[must_use]
    pub fn departments(filter: &department::Filter, sort: Sort, page: &PageRequest) -> Self {
        let mut it = Self::new::<department::Department>(sort, page);
        it.archived(filter.archived);
        it.is(NAME_KEY, filter.name.clone().map(Cell::Text));
        it.within(UPDATED_AT, filter.updated_at, Cell::Time);
        it
    }

    /// `GET /attributes` (decisions G).
    #[must_use]
    pub fn attributes(filter: &attribute::Filter, sort: Sort, page: &PageRequest) -> Self {
        let mut it = Self::new::<attribute::Attribute>(sort, page);
        it.archived(filter.archived);
        it.is(NAME_KEY, filter.name.clone().map(Cell::Text));
        it.is(Column::new("category", Type::Text), filter.category.clone().map(Cell::Text));
        it.words(Column::new("tone", Type::Text), filter.tones.iter().map(|it| it.word()).collect());
        it.within(UPDATED_AT, filter.updated_at, Cell::Time);
        it
    }

    /// `GET /audit-log` (decisions G).
    #[must_use]
    pub fn audit(filter: &audit::Filter, sort: Sort, page: &PageRequest) -> Self {
        let mut it = Self::new::<AuditEntry>(sort, page);
        it.is(Column::new("target_id", Type::Text), filter.target_id.clone().map(Cell::Text));
        it.is(Column::new("actor_id", Type::Text), filter.actor_id.clone().map(Cell::Text));
        let actions: BTreeSet<&String> = filter.actions.iter().collect();
        let actions: Vec<_> = actions.into_iter().cloned().map(Cell::Text).collect();
        let column = Column::new("action", Type::Text);
        let is_led = filter.target_id.is_some() || filter.actor_id.is_some();
        // No stored text has a zero, and stores have their own ways to compare with one.
        let is_plain = !filter.actions.iter().any(|it| it.contains('\0'));
        if is_led || !is_plain || actions.is_empty() || actions.len() > MOST_RUNS {
            it.one_of(column, actions);
        } else {
            // An index has the entries of each action in the order of their time.
            it.runs = Some((column, actions));
        }
        it.within(OCCURRED_AT, filter.occurred_at, Cell::Time);
        it
    }

    /// `GET /webhooks` (§4.4).
    #[must_use]
    pub fn webhooks(filter: &webhook::Filter, sort: Sort, page: &PageRequest) -> Self {
        Self::changed::<Subscription>(filter.updated_at, sort, page)
    }

    /// `GET /webhooks/{id}/deliveries` (§4.4).
    #[must_use]
    pub fn deliveries(webhook: WebhookId, filter: &DeliveryFilter, sort: Sort, page: &PageRequest) -> Self {
        let mut it = Self::new::<Delivery>(sort, page);
        it.is(Column::new("webhook_id", Type::Id), Some(Cell::Id(webhook.to_bytes())));
        let statuses = webhook::Status::ALL.iter().filter(|it| filter.status.is_none_or(|wanted| wanted == **it));
        it.runs = Some((STATUS, statuses.map(|it| Cell::Text(it.word().to_owned())).collect()));
        it.is(Column::new("event_type", Type::Text), filter.event_type.map(|it| Cell::Text(it.word().to_owned())));
        it.is(Column::new("event_id", Type::Id), filter.event_id.map(|it| Cell::Id(it.to_bytes())));
        it
    }

    /// The people whom a connector manages, in the order of their ids.
    #[must_use]
    pub fn managed_by(connector: ConnectorId, after: Option<EmployeeId>, limit: u16) -> Self {
        let sort = Column::new("id", Type::Id);
        Self {
            table: people::Employee::TABLE,
            runs: None,
            conditions: vec![Condition::Is(Column::new("connector_id", Type::Id), Cell::Id(connector.to_bytes()))],
            sort,
            descending: false,
            after: after.map(|it| (Cell::Id(it.to_bytes()), it.to_bytes())),
            limit,
        }
    }
}

/// The runs of a list of objectives: one for everything in a family that is not archived, else one per scope and status.
/// The index that leads to the objectives of one person has them by scope and status, so these are always several runs.
fn objective_runs(filter: &objective::Filter, scopes: &[Scope], of_one_person: bool) -> (Column, Vec<Cell>) {
    if let Some(shelves) = shelves(filter, scopes).filter(|_| !of_one_person) {
        return shelves;
    }
    let pairs = scopes.iter().flat_map(|scope| filter.statuses.iter().map(|status| scope_status(*scope, *status)));
    (Column::new("scope_status", Type::Text), pairs.map(Cell::Text).collect())
}

/// The runs of a whole family; none if some of it is not wanted.
fn shelves(filter: &objective::Filter, scopes: &[Scope]) -> Option<(Column, Vec<Cell>)> {
    let open = Status::ALL.iter().filter(|it| **it != Status::Archived).all(|it| filter.statuses.contains(it));
    let family = Family::ALL.into_iter().find(|it| open && it.scopes() == scopes)?;
    let archived = filter.statuses.contains(&Status::Archived);
    let shelves = [false, true].into_iter().filter(|it| !*it || archived);
    let cells = shelves.map(|it| Cell::Text(shelf(family.default_scope(), it))).collect();
    Some((Column::new("shelf", Type::Text), cells))
}

/// The first entries of several lists in the same order that have no entry in common.
#[must_use]
pub fn merge<T: Listed + Resource>(pages: Vec<Page<T>>, sort: Sort, limit: u16) -> Page<T> {
    let more = pages.iter().any(|it| it.more);
    let mut items: Vec<_> = pages.into_iter().flat_map(|it| it.items).collect();
    let place = |it: &T| (it.key(sort.by), it.id());
    items.sort_by(|a, b| if sort.descending { place(b).cmp(&place(a)) } else { place(a).cmp(&place(b)) });
    let page = Page::of(items, limit);
    Page { more: page.more || more, ..page }
}

fn cell(key: &Key) -> Cell {
    match key {
        Key::Time(it) => Cell::Time(*it),
        Key::Date(it) => Cell::Date(*it),
        Key::Text(it) => Cell::Text(it.clone()),
        Key::Rank(it) => Cell::Int(*it),
    }
}
