//! Reporting lines of many people.

use std::collections::HashMap;

use candor_domain::people::Employee;
use candor_port_storage::{ReportingLineChange, Row, Write};
use candor_store_testkit::Fixtures;
use candor_tables::flat::CellReader;

use super::{database, save};
use crate::commit::lines::{beginnings, managers, read_lines_above};
use crate::sql::{Db, Sql};

fn plan(db: &mut Db, sql: Sql) -> String {
    let step = |row: &mut dyn CellReader| {
        let _numbers = (row.int(), row.int(), row.int());
        Ok(row.text().unwrap().unwrap())
    };
    db.rows(sql.into_explain_plan(), step).unwrap().join("\n")
}

#[test]
fn cycle_check_reads_only_the_people_concerned() {
    let (mut db, make) = (database(), Fixtures::new(1));
    let (tenant, people) = (make.tenant(), [(); 5].map(|()| make.employee().id));
    let pairs: Vec<_> = people.windows(2).map(|person| (person[0], person[1])).collect();
    for sql in [managers(tenant, &people.map(|person| person.to_bytes())), beginnings(tenant, &pairs)] {
        let plan = plan(&mut db, sql);
        assert!(
            plan.contains("SEARCH e USING INDEX sqlite_autoindex_employees_1 (tenant_id=? AND id=?)"),
            "{plan}"
        );
        assert!(!plan.contains("employees_by"), "{plan}");
    }
}

#[test]
fn many_new_people_have_lines_to_all_managers_above() {
    let (mut db, make) = (database(), Fixtures::new(2));
    let tenant = make.tenant();
    let mut people: Vec<Employee> = vec![make.employee()];
    for it in 1..150 {
        people.push(Employee { manager_id: Some(people[it / 3].id), ..make.employee() });
    }
    let new = |employee: &Employee| {
        Write::employee(
            &Row::new(employee.clone()),
            employee.manager_id.map(|_| ReportingLineChange { seen: None }),
        )
    };
    save(&mut db, &make, tenant, people.iter().map(new).collect());
    let managers: HashMap<_, _> =
        people.iter().filter_map(|person| Some((person.id, person.manager_id?))).collect();
    let mut depths = 0;
    for it in &people {
        let mut current_id = it.id;
        while let Some(manager) = managers.get(&current_id) {
            current_id = *manager;
            depths += 1;
        }
    }
    assert_eq!(db.number(Sql::new("SELECT count(*) FROM reporting_lines")).unwrap(), depths);
    let manager_ids = read_lines_above(&mut db, tenant, vec![people[149].id.to_bytes()]).unwrap();
    assert!(
        manager_ids.lines.len() > 3
            && manager_ids.lines.iter().all(|(person, manager)| managers[person] == *manager)
    );
    let all =
        read_lines_above(&mut db, tenant, people.iter().map(|person| person.id.to_bytes()).collect()).unwrap();
    assert_eq!(all.lines.into_iter().collect::<HashMap<_, _>>(), managers);
}
