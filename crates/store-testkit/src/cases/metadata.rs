//! Metadata and external ids: the rules are the same for each resource that has them (decision D11).

use candor_domain::assignment::{self, Assignment};
use candor_domain::id::EmployeeId;
use candor_domain::keyed::{KeyedMap, Metadata};
use candor_domain::objective::{self, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::summary::{self, Summary};
use candor_domain::visibility::Viewer;
use candor_port_storage::{CommitError, Row, StorageExt, Unique, Version, Write};
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;
use candor_tables::read::LookupColumn;
use candor_tables::rows;

use super::rows::TEXTS;
use crate::Case;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(metadata_and_external_ids_round_trip),
        Case::new(metadata_filter_follows_every_update),
        Case::new(one_of_concurrent_uses_of_an_external_id_wins),
        Case::new(update_to_a_taken_external_id_is_refused),
        Case::new(external_id_belongs_to_one_tenant),
    ]
}

const FIRST: PageRequest = PageRequest { limit: 10, after: None };

/// A resource with metadata and an external id.
trait HasMetadata: Stored + Clone + PartialEq + std::fmt::Debug {
    const UNIQUE: Unique;
    const BY_EXTERNAL_ID: LookupColumn<Self>;

    /// Creates a resource about this person.
    fn new(world: &CaseContext, person: EmployeeId) -> Self;

    /// Sets the metadata and the external id.
    fn describe(&mut self, metadata: Metadata, external_id: Option<String>);

    /// Returns the list with these filters.
    fn list(metadata: Vec<[u8; 16]>, external_id: Option<String>) -> TypedListing<Self>;
}

/// Implements [`HasMetadata`] for a resource from its modules in the domain and in `rows`. The list is sorted by
/// creation time.
macro_rules! described {
    ($resource:ident, $module:ident, $rows:ident, $unique:ident, $new:expr, $filter:expr) => {
        impl HasMetadata for $resource {
            const UNIQUE: Unique = Unique::$unique;
            const BY_EXTERNAL_ID: LookupColumn<Self> = rows::$rows::BY_EXTERNAL_ID;

            fn new(world: &CaseContext, person: EmployeeId) -> Self {
                let new: fn(&CaseContext, EmployeeId) -> Self = $new;
                new(world, person)
            }

            fn describe(&mut self, metadata: Metadata, external_id: Option<String>) {
                (self.metadata, self.external_id) = (metadata, external_id);
            }

            fn list(metadata: Vec<[u8; 16]>, external_id: Option<String>) -> TypedListing<Self> {
                let filter = $module::Filter { metadata, external_id, ..$filter };
                rows::$rows::list(&filter, Viewer::Everything, Sort::ascending_by(SortBy::CreatedAt), &FIRST)
            }
        }
    };
}

described!(
    Observation,
    observation,
    observations,
    ObservationExternalId,
    |world, person| world.make.observation(person),
    observation::Filter::default()
);
described!(
    Objective,
    objective,
    objectives,
    ObjectiveExternalId,
    |world, person| world.make.objective(person),
    super::objectives::everything()
);
described!(
    Summary,
    summary,
    summaries,
    SummaryExternalId,
    |world, person| world.make.summary(person),
    summary::Filter::default()
);
described!(
    Assignment,
    assignment,
    assignments,
    AssignmentExternalId,
    |world, person| world.make.assignment(person, vec![person]),
    assignment::Filter::default()
);

fn with<T: HasMetadata>(mut resource: T, metadata: Metadata, external_id: Option<&str>) -> T {
    resource.describe(metadata, external_id.map(str::to_owned));
    resource
}

fn cycle(word: &str) -> Metadata {
    Metadata([("cycle".to_owned(), word.to_owned()), ("source".to_owned(), "import".to_owned())].into())
}

/// Returns the entries of the list with these filters.
async fn list_by<T: HasMetadata>(world: &CaseContext, metadata: &Metadata, external_id: Option<&str>) -> Vec<T> {
    let list = T::list(metadata.digests(), external_id.map(str::to_owned));
    world.store.page(world.tenant, list).await.unwrap().items
}

async fn metadata_and_external_ids_round_trip(world: CaseContext) {
    async fn round_trip<T: HasMetadata>(world: &CaseContext) {
        let person = world.hire().await;
        let keys = TEXTS.iter().enumerate().map(|(at, text)| (format!("{text}{at}"), (*text).to_owned()));
        for text in TEXTS {
            let resource = with(T::new(world, person.id), Metadata(keys.clone().collect()), Some(text));
            world.save(vec![Write::put(&Row::new(resource.clone()))]).await;
            let stored_row = world.store.row::<T>(world.tenant, resource.key()).await.unwrap();
            assert_eq!(stored_row.map(|row| row.value), Some(resource.clone()), "{text:?}");
            let by_id = world.store.id_by(world.tenant, T::BY_EXTERNAL_ID, text.to_owned()).await.unwrap();
            assert_eq!(by_id, Some(resource.key()), "{text:?}");
            assert_eq!(list_by::<T>(world, &Metadata::default(), Some(text)).await, [resource], "{text:?}");
        }
    }
    round_trip::<Observation>(&world).await;
    round_trip::<Objective>(&world).await;
    round_trip::<Summary>(&world).await;
    round_trip::<Assignment>(&world).await;
}

async fn metadata_filter_follows_every_update(world: CaseContext) {
    async fn follows<T: HasMetadata>(world: &CaseContext) {
        let base = T::new(world, world.hire().await.id);
        let mut version = None;
        for metadata in [cycle("h1"), cycle("h2"), Metadata::default(), cycle("h1"), cycle("h1")] {
            let value = with(base.clone(), metadata.clone(), None);
            let row = Row { value: value.clone(), seen: version };
            version = Some(version.map_or(Version::FIRST, Version::next));
            world.save(vec![Write::put(&row)]).await;
            for filter in [cycle("h1"), cycle("h2"), Metadata([("cycle".to_owned(), "h".to_owned())].into())] {
                let expected_rows = if filter == metadata { vec![value.clone()] } else { vec![] };
                assert_eq!(list_by::<T>(world, &filter, None).await, expected_rows, "{metadata:?} by {filter:?}");
            }
        }
    }
    follows::<Observation>(&world).await;
    follows::<Objective>(&world).await;
    follows::<Summary>(&world).await;
    follows::<Assignment>(&world).await;
}

async fn one_of_concurrent_uses_of_an_external_id_wins(world: CaseContext) {
    async fn one_wins<T: HasMetadata>(world: &CaseContext) {
        let person = world.hire().await.id;
        for round in 0..4 {
            let external_id = format!("crm-{round}");
            let tasks = (0..6).map(|_| {
                let resource = with(T::new(world, person), Metadata::default(), Some(&external_id));
                let world = world.clone();
                async move { world.try_save(Write::put(&Row::new(resource))).await }
            });
            let results = at_once(tasks).await;
            let is_taken = |result: &&Result<(), CommitError>| match result {
                Err(CommitError::Taken(unique)) => *unique == T::UNIQUE,
                _ => false,
            };
            assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
            assert_eq!(results.iter().filter(is_taken).count(), 5, "{results:?}");
        }
        // External ids are case-sensitive, and several rows may have none.
        for external_id in [Some("CRM-0"), None, None] {
            let resource = with(T::new(world, person), Metadata::default(), external_id);
            world.save(vec![Write::put(&Row::new(resource))]).await;
        }
    }
    one_wins::<Observation>(&world).await;
    one_wins::<Objective>(&world).await;
    one_wins::<Summary>(&world).await;
    one_wins::<Assignment>(&world).await;
}

async fn update_to_a_taken_external_id_is_refused(world: CaseContext) {
    async fn is_refused<T: HasMetadata>(world: &CaseContext) {
        let person = world.hire().await.id;
        let [holder, other] = [Some("crm-1"), None].map(|own| with(T::new(world, person), cycle("h1"), own));
        world.save([&holder, &other].map(|row| Write::put(&Row::new(row.clone()))).to_vec()).await;
        let stolen = with(other.clone(), cycle("h1"), Some("crm-1"));
        let result = world.try_save(Write::put(&Row::at_version(stolen, Version::FIRST))).await;
        assert!(matches!(&result, Err(CommitError::Taken(unique)) if *unique == T::UNIQUE), "{result:?}");
        // The holder keeps its external id. Another row may have the id after the holder gives it up.
        world.save(vec![Write::put(&Row::at_version(holder.clone(), Version::FIRST))]).await;
        let resource_without_id = with(holder, cycle("h1"), None);
        world.save(vec![Write::put(&Row::at_version(resource_without_id, Version::FIRST.next()))]).await;
        let resource_with_id = with(other, cycle("h1"), Some("crm-1"));
        world.save(vec![Write::put(&Row::at_version(resource_with_id, Version::FIRST))]).await;
    }
    is_refused::<Observation>(&world).await;
    is_refused::<Objective>(&world).await;
    is_refused::<Summary>(&world).await;
    is_refused::<Assignment>(&world).await;
}

async fn external_id_belongs_to_one_tenant(world: CaseContext) {
    async fn belongs<T: HasMetadata>(world: &CaseContext) {
        let mut resources = vec![];
        for other in [world, &world.in_other_tenant(), &world.test_environment()] {
            let person = other.hire().await.id;
            let resource = with(T::new(other, person), cycle("h1"), Some("crm-1"));
            other.save(vec![Write::put(&Row::new(resource.clone()))]).await;
            assert_eq!(list_by::<T>(other, &cycle("h1"), Some("crm-1")).await, std::slice::from_ref(&resource));
            resources.push((other.tenant, resource.key()));
        }
        for (tenant, id) in resources {
            let found_id = world.store.id_by(tenant, T::BY_EXTERNAL_ID, "crm-1".to_owned()).await.unwrap();
            assert_eq!(found_id, Some(id));
        }
    }
    belongs::<Observation>(&world).await;
    belongs::<Objective>(&world).await;
    belongs::<Summary>(&world).await;
    belongs::<Assignment>(&world).await;
}
