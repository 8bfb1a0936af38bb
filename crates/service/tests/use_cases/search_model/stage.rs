//! A service with a few people, on either store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::access::{BoundPerson, Caller, Environment, Tenant};
use candor_domain::id::{EmployeeId, ObservationId, OrganizationId};
use candor_domain::json::{Object, Value};
use candor_domain::observation::{Observation, Type};
use candor_domain::params::Params;
use candor_domain::receiver_url::{ReceiverUrl, Verdict};
use candor_domain::time::Timestamp;
use candor_domain::visibility::{RestrictedResource, Viewer};
use candor_port_clock::{Clock, ManualClock, SeededIds};
use candor_port_events::{Attempt, AttemptOutcome, WebhookRequest, WebhookTransport};
use candor_port_storage::search_index::IndexState;
use candor_port_storage::{Storage, StorageExt};
use candor_service::context::vault::Vault;
use candor_service::usecases::operator;
use candor_service::usecases::{employees, observations, search};
use candor_service::{Reply, RequestContext, ServiceSettings, Services};
use candor_store_postgres::{PostgresOptions, PostgresStore, distribute, migrate};
use candor_store_testkit::Random;
use candor_test_postgres::{TestDatabase, is_spread, template};

use crate::stores;
use crate::support::{KEY, NOON, call_of};

/// Number of shards per table on a cluster.
const SHARDS: u16 = 4;

/// Filters of a search request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    about: Option<EmployeeId>,
    below: Option<EmployeeId>,
    kind: Option<Type>,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
}

pub(crate) struct SearchTest {
    pub(crate) services: Arc<Services>,
    pub(crate) random: Random,
    /// People of the organization: the second and the third report to the first, the fourth to the second.
    pub(crate) people: Vec<EmployeeId>,
    store: Arc<dyn Storage>,
    clock: Arc<ManualClock>,
    tenant: Tenant,
    /// The database, declared last so that it is dropped last.
    _database: Box<dyn Send + Sync>,
}

impl SearchTest {
    pub(crate) async fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = stores::in_file(&folder.path().join("candor.db"));
        Self::on(Arc::new(store), Box::new(folder)).await
    }

    /// Creates the service on PostgreSQL. Prints a notice and returns `None` without a server.
    pub(crate) async fn on_postgres() -> Option<Self> {
        let migrate_at = |url: &str| {
            let options = PostgresOptions::new(url, 1);
            tokio::runtime::Runtime::new().unwrap().block_on(async {
                migrate(&options).await?;
                if is_spread() { distribute(&options, SHARDS).await.map(drop) } else { Ok(()) }
            })
        };
        let database = TestDatabase::create(&template("_search").unwrap(), migrate_at).unwrap()?;
        let options = PostgresOptions::new(database.url(), 6);
        let store = PostgresStore::connect(&options).await.unwrap();
        Some(Self::on(Arc::new(store), Box::new(database)).await)
    }

    async fn on(store: Arc<dyn Storage>, database: Box<dyn Send + Sync>) -> Self {
        let clock = Arc::new(ManualClock::starting_at(NOON));
        let services = instance(&store, &clock, 7);
        let organization = operator::create_organization(&services, "Acme").await.unwrap();
        let tenant = Tenant { organization, environment: Environment::Live };
        let mut stage =
            Self { services, random: Random::new(23), people: vec![], store, clock, tenant, _database: database };
        for (name, manager) in [("ada", None), ("bob", Some(0)), ("cleo", Some(0)), ("dan", Some(1))] {
            let mut person = serde_json::json!({
                "email": format!("{name}@example.com"), "first_name": name, "last_name": "Example",
            });
            if let Some(manager_index) = manager {
                let manager: EmployeeId = stage.people[manager_index];
                person["manager_id"] = manager.to_string().into();
            }
            let reply = employees::create(&stage.call(), object(&person)).await.unwrap();
            stage.people.push(json(&reply)["id"].as_str().unwrap().parse().unwrap());
        }
        stage
    }

    /// Creates a second service instance on the same database. `seed` determines the ids that it assigns.
    pub(crate) fn another_instance(&self, seed: u64) -> Arc<Services> {
        instance(&self.store, &self.clock, 1_000 + seed)
    }

    fn call(&self) -> RequestContext {
        self.call_for(None)
    }

    /// Returns a request with a key bound to a person, or with an unbound key.
    fn call_for(&self, person: Option<EmployeeId>) -> RequestContext {
        let call = call_of(&self.services, self.tenant);
        let person = person.map(|id| BoundPerson { id, is_org_admin: false });
        RequestContext { caller: Arc::new(Caller { person, ..Caller::clone(&call.caller) }), ..call }
    }

    /// Creates an observation, usually a millisecond or two after the previous one.
    pub(crate) async fn write(&self, about: EmployeeId, text: &str) -> Observation {
        self.clock.advance_millis(self.random.number_below(3) as i64);
        self.written_at_once(about, text).await
    }

    /// Creates an observation in the same millisecond as the previous one.
    pub(crate) async fn written_at_once(&self, about: EmployeeId, text: &str) -> Observation {
        let kind = if self.random.chance(50) { "strength" } else { "opportunity" };
        let (author, visibility) =
            (self.random.maybe(50, &self.people), self.random.pick(&["person", "managers"]));
        let body = serde_json::json!({
            "employee_id": about, "type": kind, "observation": text, "author_id": author, "visibility": visibility,
        });
        let reply = observations::create(&self.call(), object(&body)).await.unwrap();
        self.stored(json(&reply)["id"].as_str().unwrap().parse().unwrap()).await
    }

    pub(crate) async fn changed(&self, observation: &Observation, text: &str) -> Observation {
        let body = serde_json::json!({"observation": text});
        observations::update(&self.call(), observation.id, object(&body)).await.unwrap();
        self.stored(observation.id).await
    }

    pub(crate) async fn archived(&self, observation: &Observation) -> Observation {
        observations::archive(&self.call(), observation.id).await.unwrap();
        self.stored(observation.id).await
    }

    pub(crate) async fn restored(&self, observation: &Observation) -> Observation {
        observations::restore(&self.call(), observation.id).await.unwrap();
        self.stored(observation.id).await
    }

    async fn stored(&self, id: ObservationId) -> Observation {
        self.store.row::<Observation>(self.tenant, id).await.unwrap().unwrap().value
    }

    fn now_in(&self, millis: usize) -> Timestamp {
        Timestamp::from_millis(self.clock.now().millis() + millis as i64)
    }

    /// Returns random filters, which may match nothing.
    pub(crate) fn filter(&self) -> Filter {
        let end = self.now_in(1).millis() - NOON.millis();
        let time = || NOON.millis() + self.random.number_below(usize::try_from(end).unwrap()) as i64;
        let (one, other) = (time(), time());
        let time_bound = |time| self.random.chance(30).then_some(Timestamp::from_millis(time));
        Filter {
            about: self.random.maybe(30, &self.people),
            below: self.random.maybe(30, &self.people),
            kind: self.random.maybe(30, &[Type::Strength, Type::Opportunity]),
            from: time_bound(one.min(other)),
            to: time_bound(one.max(other)),
        }
    }

    /// Returns `true` if the person reports to the manager at any depth.
    fn is_below(&self, person: EmployeeId, manager: EmployeeId) -> bool {
        let place = |person: EmployeeId| self.people.iter().position(|other| *other == person).unwrap();
        match (place(manager), place(person)) {
            (0, below) => below > 0,
            (1, below) => below == 3,
            _ => false,
        }
    }

    /// Returns `true` if a key that acts for this person sees the observation.
    pub(crate) fn is_seen(&self, reader: Option<EmployeeId>, observation: &Observation) -> bool {
        let is_below = reader.is_some_and(|reader| self.is_below(observation.employee_id, reader));
        observation.is_visible_to(reader.map_or(Viewer::Everything, Viewer::Person), is_below)
    }

    pub(crate) fn lets_through(&self, filter: &Filter, observation: &Observation) -> bool {
        let is_below = |manager| self.is_below(observation.employee_id, manager);
        filter.about.is_none_or(|about| observation.employee_id == about)
            && filter.below.is_none_or(is_below)
            && filter.kind.is_none_or(|kind| observation.kind == kind)
            && filter.from.is_none_or(|from| observation.created_at >= from)
            && filter.to.is_none_or(|to| observation.created_at <= to)
    }

    fn params(&self, asked: &str, filter: &Filter, limit: u16, cursor: Option<&str>) -> Params {
        let mut all = vec![
            ("q".to_owned(), asked.to_owned()),
            ("types".to_owned(), "observations".to_owned()),
            ("limit".to_owned(), limit.to_string()),
        ];
        let kind =
            filter.kind.map(|kind| if kind == Type::Strength { "strength" } else { "opportunity" }.to_owned());
        let optional = [
            ("filter[employee_id]", filter.about.map(|id| id.to_string())),
            ("filter[manager_id]", filter.below.map(|id| id.to_string())),
            ("filter[type]", kind),
            ("filter[created_at][gte]", filter.from.map(|time| time.to_string())),
            ("filter[created_at][lte]", filter.to.map(|time| time.to_string())),
            ("cursor", cursor.map(ToOwned::to_owned)),
        ];
        all.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        Params::new(all)
    }

    /// Returns the ids that a search with this key finds, across all pages.
    pub(crate) async fn find(
        &self,
        reader: Option<EmployeeId>,
        asked: &str,
        filter: &Filter,
        limit: u16,
    ) -> Vec<String> {
        let (mut ids, mut cursor) = (vec![], None::<String>);
        loop {
            let params = self.params(asked, filter, limit, cursor.as_deref());
            let page = json(&search::search(&self.call_for(reader), params).await.unwrap());
            let hits = page["data"].as_array().unwrap();
            ids.extend(hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()));
            match page["next_cursor"].as_str() {
                Some(next) if hits.len() == usize::from(limit) => cursor = Some(next.to_owned()),
                Some(_) => panic!("a page that is not the last has {} of {limit}", hits.len()),
                None => return ids,
            }
        }
    }

    /// Returns the state of the index of observations.
    pub(crate) async fn index(&self) -> IndexState {
        self.store.index_state(self.tenant, "observations", 1_000).await.unwrap()
    }
}

/// A transport that accepts every receiver but is never used.
struct Receivers;

#[async_trait]
impl WebhookTransport for Receivers {
    async fn judge(&self, _: OrganizationId, _: &ReceiverUrl) -> Verdict {
        Verdict::Allowed
    }

    async fn send(&self, _: WebhookRequest) -> Attempt {
        let outcome = AttemptOutcome::Acknowledged;
        Attempt {
            response_status: 200,
            duration: Duration::ZERO,
            outcome,
            retry_after: None,
            failure_detail: None,
        }
    }
}

fn instance(store: &Arc<dyn Storage>, clock: &Arc<ManualClock>, seed: u64) -> Arc<Services> {
    let settings = ServiceSettings::with_public_url("http://localhost:8080".to_owned());
    let (store, clock) = (Arc::clone(store), Arc::clone(clock) as _);
    Arc::new(Services::new(
        store,
        clock,
        Arc::new(SeededIds::new(seed)),
        Vault::parse(KEY).unwrap(),
        Arc::new(Receivers),
        settings,
    ))
}

fn object(value: &serde_json::Value) -> Object {
    let Value::Object(members) = serde_json::from_str(&value.to_string()).unwrap() else {
        panic!("not an object")
    };
    members
}

fn json(reply: &Reply) -> serde_json::Value {
    serde_json::from_slice(&reply.body).unwrap()
}
