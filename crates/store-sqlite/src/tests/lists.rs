//! Query plans of lists.

use candor_domain::access::Tenant;
use candor_domain::id::{AttributeId, EmployeeId};
use candor_domain::observation::{Filter, Observation};
use candor_domain::page::{PageRequest, Position, Sort, SortBy, Sortable};
use candor_domain::params::Archived;
use candor_domain::people::Employee;
use candor_domain::time::Date;
use candor_domain::visibility::Viewer;
use candor_port_storage::{Row, Write};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;
use candor_tables::flat::{Column, Type};
use candor_tables::listing::{Condition, Listing};
use candor_tables::plan::{RowFilter, RowSource, leads_to_firsts};

use super::{database, save};
use crate::listing::teams::TeamSource;
use crate::listing::{self, rows, rows_from};
use crate::sql::{Db, Sql};
use crate::table::value;

/// Returns the only listing of an observation list.
fn observations(filter: &Filter, sort: Sort, page: &PageRequest) -> Listing {
    candor_tables::rows::observations::list(filter, Viewer::Everything, sort, page).parts()[0].clone()
}

struct Team {
    db: Db,
    tenant: Tenant,
    people: Vec<EmployeeId>,
    tags: Vec<AttributeId>,
}

/// Creates thirty people, each with up to three later people as reports, and twenty observations about each person,
/// on five days in total.
fn team() -> Team {
    let (mut db, make) = (database(), Fixtures::new(7));
    let tenant = make.tenant();
    let mut people: Vec<EmployeeId> = vec![];
    for number in 0..30_usize {
        let manager_id = number.checked_sub(1).map(|index| people[index / 3]);
        let person = Employee { manager_id, ..make.employee() };
        people.push(person.id);
        save(&mut db, &make, tenant, vec![joins(person)]);
    }
    let attributes: Vec<_> = (0..3).map(|_| make.attribute()).collect();
    let tags: Vec<_> = attributes.iter().map(|attribute| attribute.id).collect();
    save(
        &mut db,
        &make,
        tenant,
        attributes.into_iter().map(|attribute| Write::put(&Row::new(attribute))).collect(),
    );
    for number in 0..600_usize {
        let plain = make.observation(people[number * 7 % 30]);
        let it = Observation {
            observation_date: Date::from_epoch_days(20_000 + i32::try_from(number * 11 % 5).unwrap()),
            attribute_ids: tags.iter().copied().take(number % 4).collect(),
            archived_at: (number % 3 == 0).then_some(plain.created_at),
            ..plain
        };
        save(&mut db, &make, tenant, vec![Write::put(&Row::new(it))]);
    }
    Team { db, tenant, people, tags }
}

/// Returns every possible row source of a list.
fn sources(listing: &Listing) -> Vec<RowSource> {
    let mut sources = vec![
        RowSource::Scan(RowFilter::default()),
        RowSource::Scan(RowFilter { hashed: vec![0] }),
        RowSource::Scan(RowFilter::hashing_all(listing)),
    ];
    for (at, condition) in listing.conditions.iter().enumerate() {
        match condition {
            Condition::Within(column, _) | Condition::Reach(column, _) => {
                sources.push(RowSource::Gather(at));
                if leads_to_firsts(listing, column) {
                    sources.push(RowSource::GatherFirsts(at));
                }
            }
            Condition::Tagged(..) => sources.push(RowSource::Gather(at)),
            Condition::Is(..)
            | Condition::IsNot(..)
            | Condition::OneOf(..)
            | Condition::AtLeast(..)
            | Condition::AtMost(..)
            | Condition::Without(..)
            | Condition::Among(..) => {}
        }
    }
    sources
}

#[test]
fn list_rows_are_equal_for_every_row_source() {
    let Team { mut db, tenant, people, tags } = team();
    let filters = [0, 1, 5, 29].into_iter().flat_map(|manager| {
        let manager_id = Some(people[manager]);
        [vec![], tags[2..].to_vec(), tags.clone()].into_iter().flat_map(move |attribute_ids| {
            [Archived::No, Archived::All].map(|archived| Filter {
                manager_id,
                attribute_ids: attribute_ids.clone(),
                archived,
                ..Filter::default()
            })
        })
    });
    for (filter, (_, sort)) in
        filters.flat_map(|filter| Observation::sorts().map(move |sort| (filter.clone(), sort)))
    {
        let mut position = None;
        // Three pages, so that most of them start after a cursor.
        for _ in 0..3 {
            let listing = observations(&filter, sort, &PageRequest { limit: 10, after: position.clone() });
            let teams = [TeamSource::Lines, TeamSource::People];
            let sources =
                sources(&listing).into_iter().flat_map(|source| teams.map(|teams| (source.clone(), teams)));
            let mut pages = sources.map(|(source, teams)| {
                let from = (&source, teams);
                let mut rows = rows_from(&mut db, tenant, &listing, from, value::<Observation>).unwrap();
                let place = |observation: &Observation| (observation.key(sort.by), observation.id);
                rows.sort_by(
                    |a, b| if sort.descending { place(b).cmp(&place(a)) } else { place(a).cmp(&place(b)) },
                );
                rows.truncate(11);
                (rows, (source, teams))
            });
            let (first, _) = pages.next().unwrap();
            for (rows, source) in pages {
                assert_eq!(rows, first, "{source:?} {filter:?} {sort:?}");
            }
            position = first.get(9).map(|row| Position { key: row.key(sort.by).unwrap(), id: row.id.to_bytes() });
        }
    }
}

#[test]
fn conditions_on_teams_are_equal_from_lines_and_people() {
    let Team { mut db, tenant, people, .. } = team();
    let employee_column = Column { name: "employee_id", kind: Type::Id, is_nullable: false };
    let page = PageRequest { limit: 700, after: None };
    let mut id_lists = vec![];
    for manager in people {
        for condition in [
            Condition::Within(employee_column, manager),
            Condition::Reach(employee_column, manager),
            Condition::Without(employee_column, manager),
        ] {
            let mut listing = observations(&Filter::default(), Sort::descending_by(SortBy::CreatedAt), &page);
            listing.conditions.push(condition.clone());
            for source in sources(&listing) {
                let mut ids = |teams| -> Vec<_> {
                    let rows =
                        rows_from(&mut db, tenant, &listing, (&source, teams), value::<Observation>).unwrap();
                    rows.into_iter().map(|row| row.id).collect()
                };
                let ids_from_lines = ids(TeamSource::Lines);
                assert_eq!(ids(TeamSource::People), ids_from_lines, "{source:?} {condition:?}");
                id_lists.push(ids_from_lines.len());
            }
        }
    }
    assert!(id_lists.iter().min() == Some(&0) && id_lists.iter().max() > Some(&350), "{id_lists:?}");
}

#[test]
fn row_source_depends_on_the_number_of_people() {
    let Team { mut db, tenant, people, .. } = team();
    let page = PageRequest { limit: 10, after: None };
    let filter = Filter { manager_id: Some(people[0]), ..Filter::default() };
    let listing = |by| observations(&filter, Sort::descending_by(by), &page);
    let by_day = listing(SortBy::ObservationDate);
    let mut source_among = |size: i64, listing: &Listing| {
        grow(&mut db, tenant, people[0], size);
        listing::plan::plan_list(&mut db, tenant, listing, TeamSource::Lines).unwrap().first
    };
    let scan = |hashed: &[usize]| RowSource::Scan(RowFilter { hashed: hashed.to_vec() });
    assert_eq!(source_among(1, &by_day), RowSource::GatherFirsts(0));
    assert_eq!(source_among(1, &listing(SortBy::CreatedAt)), RowSource::Gather(0));
    assert_eq!(source_among(700, &by_day), scan(&[0]));
    assert_eq!(source_among(4_100, &by_day), scan(&[]));
}

/// Replaces the lines of an earlier call by `size` lines below a manager, for people without any data.
fn grow(db: &mut Db, tenant: Tenant, manager: EmployeeId, size: i64) {
    db.batch("PRAGMA foreign_keys = off").unwrap();
    db.batch("DELETE FROM reporting_lines WHERE descendant_id >= x'30' AND descendant_id < x'31'").unwrap();
    let crowd = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?3) \
        INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
        SELECT ?1, ?2, CAST(printf('%016d', i) AS BLOB), 1 FROM n";
    db.execute(&Sql::new(crowd).bind(tenant).bind(manager).bind(size)).unwrap();
}

#[test]
fn scan_past_too_many_foreign_rows_is_abandoned() {
    let Team { mut db, tenant, people, .. } = team();
    // The newest rows belong to the first person, who reports to no one.
    let manager = people[1];
    let copies = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) \
        INSERT INTO observations SELECT o.tenant_id, CAST(printf('%016d', i) AS BLOB), o.employee_id, \
        o.author_id, o.type, o.observation, o.impact, o.recommended_action, o.attribute_ids, 30000, \
        o.created_at, o.updated_at, NULL, 0, o.version, o.visibility, o.requester_id, o.metadata, NULL \
        FROM n CROSS JOIN (SELECT * FROM observations WHERE employee_id = ? LIMIT 1) o";
    assert_eq!(db.execute(&Sql::new(copies).bind(people[0])).unwrap(), 100_000);
    let filter = Filter { manager_id: Some(manager), ..Filter::default() };
    let page = PageRequest { limit: 10, after: None };
    let listing = observations(&filter, Sort::descending_by(SortBy::ObservationDate), &page);
    for (size, then) in
        [(700, RowSource::GatherFirsts(0)), (4_100, RowSource::Scan(RowFilter { hashed: vec![0] }))]
    {
        grow(&mut db, tenant, manager, size);
        let plan = listing::plan::plan_list(&mut db, tenant, &listing, TeamSource::Lines).unwrap();
        assert_eq!(plan.then, Some(then));
        let expected_rows =
            rows_from(&mut db, tenant, &listing, (&plan.first, TeamSource::Lines), value::<Observation>).unwrap();
        assert_eq!(expected_rows.len(), 11);
        db.asked.clear();
        assert_eq!(rows(&mut db, tenant, &listing, value::<Observation>).unwrap(), expected_rows);
        let steps = "check of the lines, count of the people, abandoned scan, and read of the rows";
        assert_eq!(db.asked.len(), 4, "{steps}");
    }
}

fn plan(db: &mut Db, tenant: Tenant, listing: &Listing, source: &RowSource) -> Vec<String> {
    let run = listing::runs(listing).next().unwrap();
    let sql = listing::statement(tenant, listing, (source, TeamSource::Lines), run).into_explain_plan();
    let step = |row: &mut dyn candor_tables::flat::CellReader| {
        let _ids = (row.int(), row.int(), row.int());
        Ok(row.text().unwrap().unwrap())
    };
    db.rows(sql, step).unwrap()
}

#[test]
fn observation_page_is_read_in_index_order() {
    let Team { mut db, tenant, people, .. } = team();
    let page = PageRequest {
        limit: 50,
        after: Some(Position { key: candor_domain::page::Key::Date(Date::from_epoch_days(20_002)), id: [7; 16] }),
    };
    let sort = Sort::descending_by(SortBy::ObservationDate);
    let all = observations(&Filter::default(), sort, &page);
    assert_eq!(
        plan(&mut db, tenant, &all, &RowSource::Scan(RowFilter::default())),
        ["SEARCH t USING INDEX observations_by_date (tenant_id=? AND archived=? AND (observation_date,id)<(?,?))"]
    );
    let filter = Filter { employee_id: Some(people[3]), ..Filter::default() };
    assert_eq!(
        plan(&mut db, tenant, &observations(&filter, sort, &page), &RowSource::Scan(RowFilter::default())),
        ["SEARCH t USING INDEX observations_by_employee (tenant_id=? AND employee_id=? AND archived=? \
          AND (observation_date,id)<(?,?))"]
    );
    let filter = Filter { manager_id: Some(people[0]), ..Filter::default() };
    let team_list = observations(&filter, sort, &page);
    for source in sources(&team_list) {
        let steps = plan(&mut db, tenant, &team_list, &source);
        let uses = |index: &str| steps.iter().any(|step| step.contains(index));
        assert_eq!(uses("observations_by_employee"), source.is_gathered(), "{source:?} {steps:?}");
        assert_eq!(uses("observations_by_date"), !source.is_gathered(), "{source:?} {steps:?}");
        assert!(source.is_gathered() || !uses("TEMP B-TREE"), "{source:?} {steps:?}");
    }
}
