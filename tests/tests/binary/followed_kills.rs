//! Tests that a copy made from the lists or from an export, and then from the feed, equals the stored data, although
//! the process is killed several times while clients write (decisions F9, H1).

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::support::{Client, Installation, PATIENCE, PrimaryAndStandby, Service, wait_until};

const KILLS: usize = 4;
const WRITERS: usize = 6;
/// Number of writes acknowledged per round before the kill. Further writes are in flight at the kill.
const WRITES: usize = 150;
/// Lists that the copy is made of. The test writes no resource with members that are derived from other resources.
const LISTS: [&str; 6] = [
    "employees?filter[status]=all",
    "observations?filter[archived]=all",
    "employee-objectives?filter[status]=all",
    "departments?filter[archived]=all",
    "attributes?filter[archived]=all",
    "conversations?filter[archived]=all",
];

/// The exported resources of these lists.
const EXPORT: &str =
    "exports?resources=employees,observations,employee_objectives,departments,attributes,conversations";

/// The way in which a copy gets its first state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Start {
    #[default]
    Lists,
    Export,
}

#[test]
fn followed_copy_survives_kills_on_sqlite() {
    follow_through_kills(&Installation::sqlite(), Start::Lists);
}

#[test]
fn followed_copy_survives_kills_on_postgres() {
    if let Some(place) = Installation::postgres() {
        follow_through_kills(&place, Start::Lists);
    }
}

#[test]
fn followed_export_survives_kills_on_sqlite() {
    follow_through_kills(&Installation::sqlite(), Start::Export);
}

#[test]
fn followed_export_survives_kills_on_postgres() {
    if let Some(place) = Installation::postgres() {
        follow_through_kills(&place, Start::Export);
    }
}

#[test]
fn followed_export_survives_kills_with_the_feed_of_a_standby() {
    let Some(pair) = PrimaryAndStandby::start() else { return };
    let place = Installation::with_database(&pair.primary.url());
    let key = place.key("*", &["--admin"]).secret;
    let place = place.with("CANDOR_DATABASE_REPLICA_URL", &pair.standby.url());
    follow_with_key(&place, &key, Start::Export);
}

fn follow_through_kills(place: &Installation, start: Start) {
    let key = place.key("*", &["--admin"]).secret;
    follow_with_key(place, &key, start);
}

fn follow_with_key(place: &Installation, key: &str, start: Start) {
    let ids = Ids::default();
    let mut copy = Replica { start, ..Replica::default() };
    for round in 0..KILLS {
        let service = Service::serve(place);
        // An export begins after the first round, so that it has rows.
        let follows = start == Start::Lists || round > 0;
        write_and_follow(service, key, (&ids, round), follows.then_some(&mut copy));
    }
    let service = Service::serve(place);
    let mut client = service.client(key);
    let rename_response =
        client.request("PATCH", "/v1/organization", &[], Some(&json!({"name": "The end"}))).unwrap();
    assert_eq!(rename_response.status, 200, "{}", rename_response.text());
    let caught_up = wait_until(PATIENCE, || {
        copy.follow(&mut client).unwrap();
        copy.rows.values().any(|row| row["name"] == "The end")
    });
    assert!(caught_up.is_some(), "the feed does not show the last write");
    copy.rows.retain(|id, _| !id.starts_with("org_"));
    let mut replica = Replica::default();
    replica.read_lists(&mut client).unwrap();
    assert!(replica.rows.len() > KILLS * WRITES / 4, "{} rows are too few for a proof", replica.rows.len());
    assert!(copy.changes > KILLS * WRITES / 2, "{} events are too few for a proof", copy.changes);
    assert_eq!(copy.rows.keys().collect::<Vec<_>>(), replica.rows.keys().collect::<Vec<_>>());
    for (id, row) in &replica.rows {
        assert_eq!(&copy.rows[id], row, "{id}");
    }
    service.stop();
}

/// Ids of acknowledged resources, by the path of their list.
#[derive(Default)]
struct Ids(Mutex<BTreeMap<&'static str, Vec<String>>>);

impl Ids {
    fn add(&self, list: &'static str, id: &str) {
        self.0.lock().unwrap().entry(list).or_default().push(id.to_owned());
    }

    fn nth(&self, list: &str, number: usize) -> Option<String> {
        let all = self.0.lock().unwrap();
        let ids = all.get(list)?;
        ids.get(number % ids.len()).cloned()
    }
}

/// Writes on several connections while the copy follows, until enough is acknowledged. Then kills the service.
fn write_and_follow(service: Service, key: &str, (ids, round): (&Ids, usize), copy: Option<&mut Replica>) {
    let (count, is_ending, address) = (AtomicUsize::new(0), AtomicBool::new(false), service.address);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (count, is_ending) = (&count, &is_ending);
            scope.spawn(move || {
                let mut client = Client::connect(address, key).unwrap();
                for number in 0.. {
                    if write(&mut client, ids, (round * WRITERS + writer, number)).is_err() {
                        assert!(is_ending.load(Ordering::SeqCst), "the service ended before the kill");
                        return;
                    }
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        if let Some(copy) = copy {
            scope.spawn(move || {
                let mut client = Client::connect(address, key).unwrap();
                // A kill in the middle of the first state leaves the copy empty: the next round starts it again.
                while copy.step(&mut client).is_ok() {}
            });
        }
        let enough = wait_until(PATIENCE, || count.load(Ordering::SeqCst) >= WRITES);
        is_ending.store(true, Ordering::SeqCst);
        service.kill();
        assert!(enough.is_some(), "only {count:?} writes");
    });
}

/// Sends one write: a create or a change of a known resource.
fn write(client: &mut Client, ids: &Ids, (writer, number): (usize, usize)) -> std::io::Result<()> {
    let text = format!("{writer}-{number}");
    let id_of = |list: &str| ids.nth(list, 7 * number + writer);
    let (method, path, body) = match (
        number % 10,
        id_of("employees"),
        id_of("observations"),
        id_of("employee-objectives"),
    ) {
        (1 | 6, Some(person), ..) => {
            let body = json!({"employee_id": person, "type": "strength", "observation": text});
            ("POST", "observations".to_owned(), body)
        }
        (2, Some(person), ..) => {
            let body = json!({"owner_id": person, "title": text, "period_start": "2026-01-01", "period_end": "2026-12-31"});
            ("POST", "employee-objectives".to_owned(), body)
        }
        (3, Some(person), ..) => {
            let changed_employee = json!({"last_name": text, "manager_id": id_of("employees")});
            (
                "PATCH",
                format!("employees/{person}"),
                if writer % 2 == 0 { json!({"last_name": text}) } else { changed_employee },
            )
        }
        (4, _, Some(observation), _) => {
            ("PATCH", format!("observations/{observation}"), json!({"observation": text, "metadata": {"n": text}}))
        }
        (5, _, Some(observation), _) => ("POST", format!("observations/{observation}/archive"), json!({})),
        (7, _, _, Some(objective)) => {
            ("PATCH", format!("employee-objectives/{objective}"), json!({"title": text}))
        }
        (8, ..) => ("POST", "departments".to_owned(), json!({"name": text})),
        (9, Some(one), ..) if ids.nth("employees", 0).is_some_and(|first| first != one) => (
            "POST",
            "conversations".to_owned(),
            json!({"title": text, "participant_ids": [ids.nth("employees", 0), one]}),
        ),
        _ => {
            let email = format!("{text}@example.com");
            ("POST", "employees".to_owned(), json!({"email": email, "first_name": "Ada", "last_name": "Example"}))
        }
    };
    let response = client.request(method, &format!("/v1/{path}"), &[], Some(&body))?;
    // Concurrent writers may meet: a person reports to themselves, or the observation is archived already.
    assert!(matches!(response.status, 200 | 201 | 409 | 422), "{method} {path}: {}", response.text());
    let list_name = ["employees", "observations", "employee-objectives"].into_iter().find(|list| *list == path);
    if let (201, Some(list)) = (response.status, list_name) {
        ids.add(list, response.json()["id"].as_str().unwrap());
    }
    Ok(())
}

/// Resources by id, each as GET shows it, and the cursor of the events that are applied.
#[derive(Default)]
struct Replica {
    start: Start,
    rows: BTreeMap<String, Value>,
    cursor: Option<String>,
    /// Number of applied events.
    changes: usize,
}

impl Replica {
    /// Starts the copy, or applies the next events.
    fn step(&mut self, client: &mut Client) -> std::io::Result<()> {
        if self.cursor.is_some() {
            return self.follow(client);
        }
        self.rows.clear();
        if self.start == Start::Export {
            self.cursor = self.export(client)?;
            return Ok(());
        }
        let cursor = page(client, "events?since=now")?["next_cursor"].as_str().unwrap().to_owned();
        self.read_lists(client)?;
        self.cursor = Some(cursor);
        Ok(())
    }

    /// Reads an export. Returns the cursor of the feed from before its first row, or `None` if the export broke off.
    fn export(&mut self, client: &mut Client) -> std::io::Result<Option<String>> {
        let response = client.get(&format!("/v1/{EXPORT}"))?;
        assert_eq!(response.status, 200, "{}", response.text());
        let (mut cursor, mut is_complete) = (None, false);
        for line in response.text().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            match line["type"].as_str() {
                Some("header") => cursor = line["events_cursor"].as_str().map(str::to_owned),
                Some("checkpoint") => {}
                Some("end") => is_complete = true,
                _ => self.add(&json!([line["data"]])),
            }
        }
        Ok(cursor.filter(|_| is_complete))
    }

    fn read_lists(&mut self, client: &mut Client) -> std::io::Result<()> {
        for list in LISTS {
            let mut cursor = String::new();
            loop {
                let page = page(client, &format!("{list}&limit=100{cursor}"))?;
                self.add(&page["data"]);
                if page["has_more"] == false {
                    break;
                }
                cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap());
            }
        }
        Ok(())
    }

    /// Applies one page of events. Repeats nothing: the cursor moves with the rows.
    fn follow(&mut self, client: &mut Client) -> std::io::Result<()> {
        let cursor = self.cursor.clone().unwrap();
        let page = page(client, &format!("events?cursor={cursor}&limit=100"))?;
        let events = page["data"].as_array().unwrap();
        self.changes += events.len();
        events.iter().for_each(|event| self.add(&json!([event["data"]])));
        self.cursor = page["next_cursor"].as_str().map(str::to_owned);
        Ok(())
    }

    fn add(&mut self, rows: &Value) {
        for row in rows.as_array().unwrap() {
            self.rows.insert(row["id"].as_str().unwrap().to_owned(), row.clone());
        }
    }
}

fn page(client: &mut Client, path: &str) -> std::io::Result<Value> {
    let response = client.get(&format!("/v1/{path}"))?;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    Ok(response.json())
}
