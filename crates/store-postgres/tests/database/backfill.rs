//! Data migrations: their effect on existing rows.

use candor_domain::assignment::{Assignment, SubmissionStatus};
use candor_domain::id::ObservationId;
use candor_domain::observation::Observation;
use candor_port_storage::Storage;
use candor_port_storage::{Row, StorageExt, Write};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;

use crate::support;

const VISIBILITY: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/postgres/0017_visibility/up.sql"));

#[tokio::test(flavor = "multi_thread")]
async fn submitted_observations_get_the_requester() {
    let Some(database) = support::database() else { return };
    let (store, make) = (support::store(&database, None).await, Fixtures::new(17));
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
    store.commit(tenant, make.change([requester, reviewer, subject].map(joins).into())).await.unwrap();
    let writes = observations.into_iter().map(|observation| Write::put(&Row::new(observation)));
    store.commit(tenant, make.change(writes.chain(assignments).collect())).await.unwrap();
    let backfill = VISIBILITY.split(';').find(|statement| statement.contains("UPDATE observations"));
    support::client(database.url()).await.batch_execute(backfill.unwrap()).await.unwrap();
    for (number, id) in ids.into_iter().enumerate() {
        let stored = store.row::<Observation>(tenant, id).await.unwrap().unwrap().value;
        assert_eq!(stored.requester_id, (number < 30).then_some(requester_id), "{number}");
    }
}
