//! Data migrations of existing rows.

use candor_domain::assignment::{Assignment, SubmissionStatus};
use candor_domain::id::{EmployeeId, ObservationId};
use candor_port_storage::{Row, Write};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;

use super::{database, save};
use crate::sql::Sql;

const VISIBILITY: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite/0017_visibility/up.sql"));

#[test]
fn submitted_observations_get_the_requester() {
    let (mut db, make) = (database(), Fixtures::new(17));
    let tenant = make.tenant();
    let [requester, reviewer, subject] = [make.employee(), make.employee(), make.employee()];
    let observations: Vec<_> = (0..40).map(|_| make.observation(subject.id)).collect();
    let ids: Vec<ObservationId> = observations.iter().map(|observation| observation.id).collect();
    let requests = [(Some(requester.id), &ids[..30]), (None, &ids[30..35])];
    let assignments = requests.map(|(requester_id, submitted)| {
        let mut asked = Assignment { requester_id, ..make.assignment(subject.id, vec![reviewer.id]) };
        asked.submissions[0].status = SubmissionStatus::Submitted;
        asked.submissions[0].observation_ids = submitted.to_vec();
        asked.submissions[0].submitted_at = Some(asked.created_at);
        Write::put(&Row::new(asked))
    });
    let requester_id = requester.id;
    save(&mut db, &make, tenant, [requester, reviewer, subject].map(joins).into());
    save(
        &mut db,
        &make,
        tenant,
        observations.into_iter().map(|observation| Write::put(&Row::new(observation))).collect(),
    );
    save(&mut db, &make, tenant, assignments.into());
    let backfill = VISIBILITY.split(';').find(|statement| statement.contains("UPDATE observations"));
    db.batch(backfill.unwrap()).unwrap();
    for (number, id) in ids.iter().enumerate() {
        let sql = Sql::new("SELECT requester_id FROM observations WHERE id = ?").bind(id.to_bytes());
        let stored = db.first(sql, |row| Ok(row.id().unwrap())).unwrap().flatten();
        let wanted = (number < 30).then_some(requester_id);
        assert_eq!(stored.map(EmployeeId::from_bytes), wanted, "{number}");
    }
}
