//! Calls every route with keys of all relations and compares the answers with the tables of
//! [`super::relations`] (decision B5). The test fails for a route without an entry there.

use std::collections::BTreeSet;

use candor_http::table::{Method, ROUTES, Route};

use super::relations::{BoundPeople, Entry, Fixture, KINDS, Kind, READS, Relation, VisibleResources, WRITES};
use crate::resources::{Resources, method, routes_of_v1};
use crate::stores::every_store;
use crate::support::TestApi;

fn entry(route: &Route) -> Entry {
    let entry = READS.iter().find(|(operation, _)| *operation == route.operation);
    entry
        .unwrap_or_else(|| panic!("{} needs an entry in READS with the resources that it shows", route.operation))
        .1
}

/// Returns the paths to call for a route, each with every query string of `shown`. A path with an id is called
/// once for each resource that the route can show.
fn paths(route: &Route, shown: &VisibleResources, fixture: &Fixture, resources: &Resources) -> Vec<String> {
    let path = format!("/v1{}", route.path);
    let path_of = |kind: Kind| path.replace("{id}", fixture.id(kind));
    let single: Vec<String> = match shown.roots {
        _ if !path.contains("{id}") => vec![path],
        [] => vec![resources.path(route)],
        [Kind::Message] => vec![path_of(Kind::Talk).replace("{message_id}", fixture.id(Kind::Message))],
        roots => roots.iter().copied().map(path_of).collect(),
    };
    single.iter().flat_map(|path| shown.queries.iter().map(move |query| format!("{path}{query}"))).collect()
}

/// Returns the resources that a relation may see in an answer: visible roots and their visible contents, at
/// most `depth` levels down.
fn expected(shown: &VisibleResources, relation: Relation) -> BTreeSet<Kind> {
    let sees = |kind: &&Kind| kind.readers().contains(&relation);
    let mut all: BTreeSet<Kind> = shown.roots.iter().filter(sees).copied().collect();
    let mut level = all.clone();
    for _ in 0..shown.depth {
        level = level.iter().flat_map(|kind| kind.contents()).filter(sees).copied().collect();
        all.extend(level.iter().copied());
    }
    all
}

#[tokio::test]
async fn read_shows_each_relation_only_visible_ids() {
    for shared in every_store().await {
        let world = &shared.world;
        let resources = Resources::make(world, &world.admin).await;
        let cast = BoundPeople::gather(world).await;
        let fixture = Fixture::make(world, &cast).await;
        for route in routes_of_v1().filter(|route| route.method == Method::Get) {
            let entry = entry(route);
            for (relation, key) in cast.callers() {
                let what = format!("{}: {} × {relation:?}", shared.name, route.operation);
                let is_admitted = match entry {
                    Entry::Shows(_) => true,
                    Entry::Refused => relation.sees_everything(),
                    Entry::ForOrganization => relation == Relation::Organization,
                };
                let Entry::Shows(shown) = entry else {
                    let response = world.bare("GET", &resources.path(route)).key(key).send().await;
                    assert_eq!(response.status != 403, is_admitted, "{what}: {}", response.text());
                    continue;
                };
                let mut kinds = BTreeSet::new();
                for path in paths(route, &shown, &fixture, &resources) {
                    let response = world.bare("GET", &path).key(key).send().await;
                    assert!(matches!(response.status, 200 | 403 | 404), "{what} {path}: {}", response.text());
                    kinds.extend(fixture.kinds_in(&response.text()));
                }
                if shown.is_partial {
                    let leaked_kinds: Vec<_> =
                        kinds.iter().filter(|kind| !kind.readers().contains(&relation)).collect();
                    assert!(leaked_kinds.is_empty(), "{what}: {leaked_kinds:?}");
                } else {
                    assert_eq!(kinds, expected(&shown, relation), "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn hidden_id_as_filter_value_matches_nothing() {
    const FILTERS: [(&str, &str, &[Kind]); 3] = [
        ("summaries", "included_observation_id", &[Kind::Observation, Kind::Managers, Kind::Foreign]),
        ("summaries", "included_objective_id", &[Kind::Objective]),
        ("conversations", "about_id", &[Kind::Draft, Kind::Objective]),
    ];
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let fixture = Fixture::make(world, &cast).await;
        for (list, filter, kinds) in FILTERS {
            for kind in kinds {
                for (relation, key) in cast.callers() {
                    let path = format!("/v1/{list}?filter[{filter}]={}", fixture.id(*kind));
                    let response = world.bare("GET", &path).key(key).send().await;
                    let what = format!("{}: {filter} {kind:?} × {relation:?}", shared.name);
                    assert_eq!(response.status, 200, "{what}: {}", response.text());
                    let is_found = response.json()["data"].as_array().is_some_and(|data| !data.is_empty());
                    let containers = KINDS.iter().filter(|container| container.contents().contains(kind));
                    let is_listed = |container: &Kind| match list {
                        "summaries" => matches!(container, Kind::Draft | Kind::Shared),
                        _ => matches!(container, Kind::Talk | Kind::GoalTalk),
                    };
                    let sees = |kind: &Kind| kind.readers().contains(&relation);
                    let is_expected = sees(kind)
                        && containers.copied().any(|container| is_listed(&container) && sees(&container));
                    assert_eq!(is_found, is_expected, "{what}: {}", response.text());
                }
            }
        }
    }
}

#[tokio::test]
async fn write_is_allowed_only_to_its_relations() {
    const FAMILIES: [&str; 6] =
        ["observations", "employee-objectives", "manager-objectives", "summaries", "conversations", "assignments"];
    let world = TestApi::new().await;
    let cast = BoundPeople::gather(&world).await;
    for route in ROUTES.iter().filter(|route| route.method != Method::Get) {
        if !FAMILIES.contains(&crate::resources::family(route)) {
            continue;
        }
        let writes: Vec<_> = WRITES.iter().filter(|write| write.operation == route.operation).collect();
        assert!(
            !writes.is_empty(),
            "{} needs an entry in WRITES with the relations that may perform it",
            route.operation
        );
        for write in writes {
            let Some(kind) = write.target else { continue };
            let mut first_state = None;
            for (relation, key) in cast.callers() {
                // Stays below the write quota of a token.
                world.clock.advance_seconds(2);
                let fixture = match first_state.take() {
                    Some(fixture) => fixture,
                    None => Fixture::prepared(&world, &cast, kind, write.before).await,
                };
                let path = format!("/v1{}", route.path.replace("{id}", fixture.id(kind)));
                let body = write.body(&cast, relation);
                let send = |path: String| world.bare(method(route), &path).key(key).json(&body).send();
                let dry = send(format!("{path}?dry_run=true")).await;
                let response = send(path).await;
                let what = format!("{} of {kind:?} × {relation:?}: {}", write.operation, response.text());
                if !kind.readers().contains(&relation) {
                    assert_eq!(response.status, 404, "{what}");
                } else if write.open_to.contains(&relation) {
                    assert!(matches!(response.status, 200 | 201), "{what}");
                } else {
                    assert!(matches!(response.status, 403 | 422), "{what}");
                }
                assert_eq!(dry.status < 300, response.status < 300, "{what}: the dry run: {}", dry.text());
                for text in [response.text(), dry.text()] {
                    let kinds = fixture.kinds_in(&text);
                    let leaked_kinds: Vec<_> =
                        kinds.iter().filter(|kind| !kind.readers().contains(&relation)).collect();
                    assert!(leaked_kinds.is_empty(), "{leaked_kinds:?} in {what}: {text}");
                }
                first_state = (response.status >= 400).then_some(fixture);
            }
        }
    }
}
