//! Ways through lists.

use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_domain::id::{AttributeId, EmployeeId};
use candor_domain::observation::{Filter, Observation};
use candor_domain::page::{Listed, PageRequest, Position, Sort, SortBy};
use candor_domain::params::Archived;
use candor_domain::people::Employee;
use candor_domain::time::Date;
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::{Row, Write};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;

use super::{database, save};
use crate::listing::team;
use crate::listing::ways::{self, Below, Lead, Tags};
use crate::listing::{led, rows};
use crate::sql::{Db, Sql};
use crate::table::value;

/// The one list that is asked for.
fn observations(filter: &Filter, sort: Sort, page: &PageRequest) -> Listing {
    candor_port_storage::rows::observations::list(filter, sort, page).parts()[0].clone()
}

struct Team {
    db: Db,
    tenant: Tenant,
    people: Vec<EmployeeId>,
    tags: Vec<AttributeId>,
}

/// Thirty people, each one's manager a third of the way up, with twenty observations each on five days.
fn team() -> Team {
    let (mut db, make) = (database(), Fixtures::new(7));
    let tenant = make.tenant();
    let mut people: Vec<EmployeeId> = vec![];
    for number in 0..30_usize {
        let manager_id = number.checked_sub(1).map(|it| people[it / 3]);
        let person = Employee { manager_id, ..make.employee() };
        people.push(person.id);
        save(&mut db, &make, tenant, vec![joins(person)]);
    }
    let attributes: Vec<_> = (0..3).map(|_| make.attribute()).collect();
    let tags: Vec<_> = attributes.iter().map(|it| it.id).collect();
    save(&mut db, &make, tenant, attributes.into_iter().map(|it| Write::put(&Row::new(it))).collect());
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

fn ways(listing: &Listing) -> Vec<Lead<'_>> {
    let mut ways = vec![Lead::Order];
    for condition in &listing.conditions {
        match condition {
            Condition::Within(column, manager) | Condition::Reach(column, manager) => {
                let below = Below::of(condition, column.name, *manager);
                ways.extend([Lead::Crowd(below), Lead::People(below)]);
                if listing.sort.name == "observation_date" {
                    ways.push(Lead::Newest(below));
                }
            }
            Condition::Tagged(side, tags) => ways.push(Lead::Tagged(Tags { condition, side: *side, tags })),
            Condition::Is(..)
            | Condition::OneOf(..)
            | Condition::AtLeast(..)
            | Condition::AtMost(..)
            | Condition::Without(..) => {}
        }
    }
    ways
}

/// Lets the statements ask who belongs to the crowd.
fn ask(db: &mut Db, tenant: Tenant, way: Lead<'_>) {
    if let Lead::Crowd(below) = way {
        let team = team::of(db, tenant, below.manager).unwrap();
        db.question().ask(team, usize::MAX);
    }
}

#[test]
fn every_way_through_a_list_meets_the_same_rows_in_the_same_order() {
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
    for (filter, (_, sort)) in filters.flat_map(|it| Observation::sorts().map(move |sort| (it.clone(), sort))) {
        let mut after = None;
        // Three pages, so that most of them start behind a place.
        for _ in 0..3 {
            let listing = observations(&filter, sort, &PageRequest { limit: 10, after: after.clone() });
            let mut pages = ways(&listing).into_iter().map(|way| {
                ask(&mut db, tenant, way);
                let rows = led(&mut db, tenant, &listing, way, value::<Observation>).unwrap();
                (rows, way)
            });
            let (first, _) = pages.next().unwrap();
            for (rows, way) in pages {
                assert_eq!(rows, first, "{way:?} {filter:?} {sort:?}");
            }
            after = first.get(9).map(|it| Position { key: it.key(sort.by).unwrap(), id: it.id.to_bytes() });
        }
    }
}

#[test]
fn the_number_of_people_decides_the_way() {
    let Team { mut db, tenant, people, .. } = team();
    let page = PageRequest { limit: 10, after: None };
    let mut way = |sort| {
        let filter = Filter { manager_id: Some(people[0]), ..Filter::default() };
        let listing = observations(&filter, sort, &page);
        format!("{:?}", ways::choose(&mut db, tenant, &listing).unwrap()).split('(').next().unwrap().to_owned()
    };
    assert_eq!(way(Sort::down(SortBy::ObservationDate)), "Newest");
    assert_eq!(way(Sort::down(SortBy::CreatedAt)), "People");
    let mut way_among = |size: i64| {
        grow(&mut db, tenant, people[0], size);
        let filter = Filter { manager_id: Some(people[0]), ..Filter::default() };
        let listing = observations(&filter, Sort::down(SortBy::ObservationDate), &page);
        format!("{:?}", ways::choose(&mut db, tenant, &listing).unwrap()).split('(').next().unwrap().to_owned()
    };
    assert_eq!([way_among(500), way_among(700), way_among(4_100)], ["Newest", "Crowd", "Order"]);
}

/// Puts so many people below a manager about whom nothing is known.
fn grow(db: &mut Db, tenant: Tenant, manager: EmployeeId, size: i64) {
    db.batch("PRAGMA foreign_keys = off").unwrap();
    db.batch("DELETE FROM reporting_lines WHERE descendant_id >= x'30' AND descendant_id < x'31'").unwrap();
    let crowd = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?3) \
        INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
        SELECT ?1, ?2, CAST(printf('%016d', i) AS BLOB), 1 FROM n";
    db.execute(&Sql::new(crowd).bind(tenant).bind(manager).bind(size)).unwrap();
}

#[test]
fn a_walk_past_too_many_rows_of_others_is_given_up() {
    let Team { db, tenant, people, .. } = team();
    let mut db = db.remembering(Arc::default());
    // The last person has nobody below; the first one's rows are the newest, and she is nobody's report.
    let manager = people[1];
    grow(&mut db, tenant, manager, 700);
    let copies = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) \
        INSERT INTO observations SELECT o.tenant_id, CAST(printf('%016d', i) AS BLOB), o.employee_id, o.author_id, o.type, \
        o.observation, o.impact, o.recommended_action, o.attribute_ids, 30000, o.created_at, o.updated_at, NULL, 0, \
        o.version FROM n CROSS JOIN (SELECT * FROM observations WHERE employee_id = ? LIMIT 1) o";
    assert_eq!(db.execute(&Sql::new(copies).bind(people[0])).unwrap(), 5_000);
    let filter = Filter { manager_id: Some(manager), ..Filter::default() };
    let page = PageRequest { limit: 10, after: None };
    let listing = observations(&filter, Sort::down(SortBy::ObservationDate), &page);
    let wanted = led(&mut db, tenant, &listing, Lead::Order, value::<Observation>).unwrap();
    assert_eq!(wanted.len(), 11);
    assert!(matches!(ways::choose(&mut db, tenant, &listing).unwrap(), Lead::Crowd(_)));
    assert_eq!(rows(&mut db, tenant, &listing, value::<Observation>).unwrap(), wanted);
    assert!(matches!(ways::choose(&mut db, tenant, &listing).unwrap(), Lead::Newest(_)), "once is enough");
    assert_eq!(rows(&mut db, tenant, &listing, value::<Observation>).unwrap(), wanted);
}

fn plan(db: &mut Db, tenant: Tenant, listing: &Listing, way: Lead<'_>) -> Vec<String> {
    let sql = crate::listing::statement(tenant, listing, way).explained();
    let step = |row: &mut dyn candor_port_storage::flat::Fetch| {
        let _ids = (row.int(), row.int(), row.int());
        Ok(row.text().unwrap().unwrap())
    };
    db.rows(sql, step).unwrap()
}

#[test]
fn a_page_of_observations_is_read_in_the_order_of_an_index() {
    let Team { mut db, tenant, people, .. } = team();
    let page = PageRequest {
        limit: 50,
        after: Some(Position { key: candor_domain::page::Key::Date(Date::from_epoch_days(20_002)), id: [7; 16] }),
    };
    let sort = Sort::down(SortBy::ObservationDate);
    let all = observations(&Filter::default(), sort, &page);
    assert_eq!(
        plan(&mut db, tenant, &all, Lead::Order),
        ["SEARCH t USING INDEX observations_by_date (tenant_id=? AND archived=? AND (observation_date,id)<(?,?))"]
    );
    let filter = Filter { employee_id: Some(people[3]), ..Filter::default() };
    assert_eq!(
        plan(&mut db, tenant, &observations(&filter, sort, &page), Lead::Order),
        [
            "SEARCH t USING INDEX observations_by_employee (tenant_id=? AND employee_id=? AND archived=? AND (observation_date,id)<(?,?))"
        ]
    );
    let filter = Filter { manager_id: Some(people[0]), ..Filter::default() };
    let below = observations(&filter, sort, &page);
    let ways = ways(&below);
    for way in &ways[..2] {
        ask(&mut db, tenant, *way);
        let steps = plan(&mut db, tenant, &below, *way);
        assert!(steps[0].contains("observations_by_date"), "{steps:?}");
        assert!(!steps.iter().any(|it| it.contains("TEMP B-TREE")), "{steps:?}");
    }
    for way in &ways[2..] {
        let steps = plan(&mut db, tenant, &below, *way);
        assert!(steps.iter().any(|it| it.contains("observations_by_employee")), "{way:?} {steps:?}");
        assert!(!steps.iter().any(|it| it.contains("observations_by_date")), "{way:?} {steps:?}");
    }
}
