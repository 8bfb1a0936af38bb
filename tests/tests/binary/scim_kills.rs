//! Tests a sync of an identity provider with two threads, during which the process is killed several times. Each
//! person exists once afterwards, with the acknowledged values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use candor_test_explore::size;
use serde_json::{Value, json};

use crate::support::{Client, Installation, Service, wait_until};

/// Number of people in the gate, and in an exploration.
const PEOPLE: [usize; 2] = [200, 10_000];
const KILLS: usize = 4;
const PATIENCE: Duration = Duration::from_secs(300);
/// Attributes that the threads change: each thread has its own, so that its last value is known.
const ATTRIBUTES: [&str; 2] = ["title", "nickName"];

#[test]
fn provider_sync_survives_kills_on_sqlite() {
    sync_through_kills(&Installation::sqlite(), size(PEOPLE[0], PEOPLE[1]));
}

#[test]
fn provider_sync_survives_kills_on_postgres() {
    if let Some(place) = Installation::postgres() {
        sync_through_kills(&place, size(PEOPLE[0], PEOPLE[1]));
    }
}

/// Syncs this number of people. Both threads sync all people in the same order, so that they meet at the same
/// person.
fn sync_through_kills(place: &Installation, people: usize) {
    let admin = place.key("*", &["--admin"]);
    let service = Service::serve(place);
    let body = json!({"type": "scim", "hris_source": "okta"});
    let connector = service.client(&admin.secret).post("/v1/connectors", &body).unwrap().json();
    let connector = connector["id"].as_str().unwrap();
    service.stop();
    let options = ["--connector", connector, "--scim-per-minute", "1000000"];
    let key = place.key_of(&admin.organization, "scim", &options).secret;
    let mut threads = [ProviderThread::new(0, people), ProviderThread::new(1, people)];
    for _ in 0..KILLS {
        sync_until_kill(Service::serve(place), &key, &mut threads);
    }
    let service = Service::serve(place);
    let mut client = service.client(&key);
    // A provider repeats its sync after an outage. The repeated sync must end without an error.
    for number in 0..people {
        threads[0].sync(&mut client, number).unwrap();
    }
    let stored_users = users(&mut client);
    let names: BTreeSet<_> =
        stored_users.iter().map(|user| user["userName"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), stored_users.len(), "a person is stored twice");
    assert_eq!(names, (0..people).map(user_name).collect());
    for user in &stored_users {
        for thread in &threads {
            thread.check(user);
        }
    }
    service.stop();
}

/// Runs both threads until enough requests are acknowledged. Then kills the service while other requests are in flight.
fn sync_until_kill(service: Service, key: &str, threads: &mut [ProviderThread; 2]) {
    // Each person is synced with two requests by each thread, so the last kill comes at the end of the sync.
    let enough = 4 * threads[0].people / KILLS;
    let (count, is_ending, address) = (AtomicUsize::new(0), AtomicBool::new(false), service.address);
    thread::scope(|scope| {
        for provider in threads {
            let (count, is_ending) = (&count, &is_ending);
            scope.spawn(move || {
                let mut client = Client::connect(address, key).unwrap();
                loop {
                    if provider.sync(&mut client, provider.next % provider.people).is_err() {
                        assert!(is_ending.load(Ordering::SeqCst), "the service ended before the kill");
                        return;
                    }
                    provider.next += 1;
                    count.fetch_add(2, Ordering::SeqCst);
                }
            });
        }
        let is_reached = wait_until(PATIENCE, || count.load(Ordering::SeqCst) >= enough);
        is_ending.store(true, Ordering::SeqCst);
        service.kill();
        assert!(is_reached.is_some(), "only {count:?} requests");
    });
}

fn user_name(number: usize) -> String {
    format!("p{number}@example.com")
}

/// A thread of the provider, with the values that it sent and those that were acknowledged.
struct ProviderThread {
    number: usize,
    /// Ids in responses, by `userName`.
    ids: BTreeMap<String, String>,
    /// Values that the service may have stored, by `userName`: the last acknowledged one, and later ones without
    /// an acknowledgement.
    values: BTreeMap<String, Vec<Value>>,
    sent: usize,
    people: usize,
    /// Number of the next person to sync.
    next: usize,
}

impl ProviderThread {
    fn new(number: usize, people: usize) -> Self {
        Self { number, ids: BTreeMap::new(), values: BTreeMap::new(), sent: 0, people, next: 0 }
    }

    /// Looks a person up, then creates or changes them, as identity providers do.
    fn sync(&mut self, client: &mut Client, number: usize) -> std::io::Result<()> {
        let name = user_name(number);
        let Some(user) = find(client, &name)? else { return self.create(client, number) };
        self.sees(&name, &user);
        self.check(&user);
        let path = format!("/scim/v2/Users/{}", user["id"].as_str().unwrap());
        self.sent += 1;
        let value = json!(format!("{}-{}", self.number, self.sent));
        self.values.entry(name.clone()).or_insert_with(|| vec![Value::Null]).push(value.clone());
        let operation = json!({"op": "replace", "path": ATTRIBUTES[self.number], "value": value});
        let response = client.request("PATCH", &path, &[], Some(&json!({"Operations": [operation]})))?;
        assert_eq!(response.status, 200, "{}", response.text());
        self.values.insert(name.clone(), vec![value]);
        self.sees(&name, &response.json());
        self.check(&response.json());
        Ok(())
    }

    fn create(&mut self, client: &mut Client, number: usize) -> std::io::Result<()> {
        let name = user_name(number);
        assert!(!self.ids.contains_key(&name), "{name} was acknowledged and is absent");
        let body = json!({"userName": name, "externalId": format!("x-{number}"), "active": true,
                          "name": {"givenName": "Ada", "familyName": "Example"}});
        let response = client.post("/scim/v2/Users", &body)?;
        match response.status {
            201 => self.sees(&name, &response.json()),
            // The other thread created the person first, or this thread did before the kill.
            409 => {
                let user = find(client, &name)?;
                self.sees(&name, &user.unwrap_or_else(|| panic!("{name} is refused and absent")));
            }
            _ => panic!("{}: {}", response.status, response.text()),
        }
        Ok(())
    }

    fn sees(&mut self, name: &str, user: &Value) {
        let id = user["id"].as_str().unwrap().to_owned();
        let known_id = self.ids.entry(name.to_owned()).or_insert_with(|| id.clone());
        assert_eq!(*known_id, id, "{name} has a second id");
    }

    /// Asserts that a user has the last acknowledged value of this thread, or a later one that it sent.
    fn check(&self, user: &Value) {
        let name = user["userName"].as_str().unwrap();
        let Some(values) = self.values.get(name) else { return };
        let stored_value = &user[ATTRIBUTES[self.number]];
        assert!(values.contains(stored_value), "{name} has {stored_value} instead of one of {values:?}");
    }
}

fn find(client: &mut Client, name: &str) -> std::io::Result<Option<Value>> {
    let response = client.get(&format!("/scim/v2/Users?filter=userName%20eq%20%22{name}%22"))?;
    assert_eq!(response.status, 200, "{}", response.text());
    let list = response.json();
    let users = list["Resources"].as_array().unwrap();
    assert!(users.len() < 2, "{name} is stored twice: {list}");
    Ok(users.first().cloned())
}

fn users(client: &mut Client) -> Vec<Value> {
    let (mut all, mut cursor) = (vec![], String::new());
    loop {
        let page = client.get(&format!("/scim/v2/Users?cursor={cursor}")).unwrap().json();
        all.extend(page["Resources"].as_array().unwrap().iter().cloned());
        let Some(next) = page["nextCursor"].as_str() else { return all };
        next.clone_into(&mut cursor);
    }
}
