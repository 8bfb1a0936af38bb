use std::collections::HashMap;
use std::sync::Mutex;

use candor_client::types::{Employee, Event, ListEmployeesFilter, ListEmployeesQuery, ListEventsQuery};
use candor_client::{Candor, Error, FollowOptions};

/// Keeps a copy of all employees current until its future is dropped.
pub async fn replicate(candor: &Candor, people: &Mutex<HashMap<String, Employee>>) -> Result<(), Error> {
    let store = |person: Employee| people.lock().map(|mut people| people.insert(person.id.clone(), person)).ok();
    // The position first: changes during the list are then in the feed.
    let position = candor.events().list(ListEventsQuery::new().since("now")).await?.next_cursor;
    let everyone = ListEmployeesQuery::new().filter(ListEmployeesFilter::new().status("all"));
    let mut employees = candor.employees().list(everyone).entries();
    while let Some(person) = employees.next().await? {
        store(person);
    }
    let mut feed = candor.events().follow(FollowOptions::new().cursor(position));
    loop {
        if let Event::Employee(event) = feed.next().await? {
            store(event.data);
        }
    }
}
