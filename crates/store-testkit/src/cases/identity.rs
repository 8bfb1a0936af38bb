//! Identity providers (decision B9).

use candor_domain::page::{PageRequest, Sortable};
use candor_domain::params::Bounds;
use candor_port_storage::erasing::ErasureChange;
use candor_port_storage::{ChangeSet, CommitError, Require, Row, StorageExt, Unique, Version, Versioned, Write};
use candor_sign_in::{EmailDomain, IdentityLink, IdentityProof, IdentityProvider, ProvableValue};
use candor_tables::flat::{SqlValue, Stored};
use candor_tables::read::ID;
use candor_tables::rows;

use super::rows::TEXTS;
use crate::Case;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(identity_provider_round_trips),
        Case::new(identity_providers_are_listed_and_limited_by_tenant),
        Case::new(account_and_person_have_one_link_of_a_provider),
        Case::new(link_of_a_changed_provider_is_refused),
        Case::new(value_is_proven_for_one_tenant_of_the_installation),
    ]
}

async fn identity_provider_round_trips(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    for text in TEXTS {
        let provider = make.identity_provider();
        let domain =
            EmailDomain { txt_record: text.to_owned(), ..EmailDomain::new(tenant.organization, text.to_owned()) };
        let provider = IdentityProvider {
            name: text.to_owned(),
            client_id: text.to_owned(),
            audiences: TEXTS.map(str::to_owned).to_vec(),
            authorized_parties: vec![text.to_owned()],
            subject_claim: text.to_owned(),
            email_domains: vec![text.to_owned()],
            domains: vec![domain],
            proven_audiences: vec![text.to_owned()],
            ..provider
        };
        let bare = IdentityProvider {
            id: make.id(),
            client_secret: None,
            required_acr: None,
            disabled_at: None,
            last_sign_in_at: None,
            email_domains: vec![],
            domains: vec![],
            ..provider.clone()
        };
        for provider in [provider, bare] {
            world.save(vec![Write::put(&Row::new(provider.clone()))]).await;
            let provider_row = store.row::<IdentityProvider>(*tenant, provider.id).await.unwrap();
            assert_eq!(provider_row, Some(Versioned { value: provider, version: Version::FIRST }), "{text:?}");
        }
    }
}

async fn identity_providers_are_listed_and_limited_by_tenant(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let organization = make.organization(world.tenant.organization);
    world.save(vec![Write::put(&Row::new(organization))]).await;
    let other = world.in_other_tenant();
    let providers = [make.identity_provider(), make.identity_provider(), make.identity_provider()];
    world.save(providers.iter().map(|provider| Write::put(&Row::new(provider.clone()))).collect()).await;
    let ids = async |world: &CaseContext| {
        let request = PageRequest::ALL;
        let list = rows::identity_providers::list(Bounds::default(), IdentityProvider::DEFAULT, &request);
        let page = world.store.page(world.tenant, list).await.unwrap();
        page.items.into_iter().map(|provider| provider.id).collect::<Vec<_>>()
    };
    let mut expected_ids = providers.map(|provider| provider.id).to_vec();
    expected_ids.sort_unstable_by(|one, other| other.cmp(one));
    let mut listed_ids = ids(&world).await;
    listed_ids.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(listed_ids, expected_ids);
    assert_eq!(ids(&other).await, []);
    let holds = async |most| {
        let requires = vec![Require::rows_below::<IdentityProvider>(most)];
        world.commit(ChangeSet { requires, ..make.change(vec![]) }).await.is_ok()
    };
    assert!(holds(4).await && !holds(3).await);
}

async fn account_and_person_have_one_link_of_a_provider(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let (ada, bo) = (world.hire().await.id, world.hire().await.id);
    let providers = [make.identity_provider().id, make.identity_provider().id];
    let link = |provider, person, subject: &str| make.identity_link(provider, person, subject);
    let first = link(providers[0], ada, "é\"1");
    for added in [first.clone(), link(providers[1], ada, "é\"1"), link(providers[0], bo, "2")] {
        world.save(vec![Write::put(&Row::new(added.clone()))]).await;
        let link_row = store.row::<IdentityLink>(*tenant, added.id).await.unwrap();
        assert_eq!(link_row, Some(Versioned { value: added, version: Version::FIRST }));
    }
    let same_account = world.try_save(Write::put(&Row::new(link(providers[0], bo, "é\"1")))).await;
    assert!(matches!(same_account, Err(CommitError::Taken(_))), "{same_account:?}");
    let same_person = world.try_save(Write::put(&Row::new(link(providers[0], ada, "3")))).await;
    assert!(matches!(same_person, Err(CommitError::Taken(Unique::IdentityLinkPerson))), "{same_person:?}");
    let key = IdentityLink::person_key(providers[0], ada);
    let find_linked = async || store.row_by(*tenant, rows::identity_links::BY_PERSON, key.clone()).await.unwrap();
    assert_eq!(find_linked().await.map(|row| row.value.id), Some(first.id));
    let removed_at = Some(make.tick());
    let removed_link = IdentityLink { removed_at, tokens_after: removed_at, ..first.clone() };
    world.save(vec![Write::put(&Row::at_version(removed_link.clone(), Version::FIRST))]).await;
    assert_eq!(find_linked().await, None);
    world.save(vec![Write::put(&Row::new(link(providers[0], ada, "3")))]).await;
    let page = PageRequest::ALL;
    let count = async |list| store.page(*tenant, list).await.unwrap().items.len();
    assert_eq!(count(rows::identity_links::list(providers[0], IdentityLink::DEFAULT, &page)).await, 2);
    assert_eq!(count(rows::identity_links::list_removed(providers[0], &page)).await, 1);
    assert_eq!(count(rows::identity_links::of_person(ada, &page)).await, 3);
    let elsewhere = world.in_other_tenant();
    let foreign_links = store.page(elsewhere.tenant, rows::identity_links::of_person(ada, &page)).await.unwrap();
    assert_eq!(foreign_links.items, []);
}

async fn link_of_a_changed_provider_is_refused(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let person = world.hire().await.id;
    let provider = make.identity_provider();
    world.save(vec![Write::put(&Row::new(provider.clone()))]).await;
    let link = async |subject: &str, version| {
        let write = Write::put(&Row::new(make.identity_link(provider.id, person, subject)));
        let requires = vec![Require::has_version::<IdentityProvider>(provider.id, version)];
        world.commit(ChangeSet { requires, ..make.change(vec![write]) }).await
    };
    let early = link("1", Version(2)).await;
    assert!(matches!(early, Err(CommitError::Broken(_))), "{early:?}");
    link("1", Version::FIRST).await.unwrap();
    world.save(vec![Write::put(&Row::at_version(provider.clone(), Version::FIRST))]).await;
    let late = link("2", Version::FIRST).await;
    assert!(matches!(late, Err(CommitError::Broken(_))), "{late:?}");
}

async fn value_is_proven_for_one_tenant_of_the_installation(world: CaseContext) {
    let CaseContext { make, store, .. } = &world;
    let other = world.in_other_tenant();
    let name = format!("d{}.example", make.identity_provider().id);
    let id = ProvableValue::Domain(&name).proof_id();
    let proof = || IdentityProof { id, identity_provider_id: make.id(), proven_at: make.tick() };
    let holder = async || store.row_in_any_tenant(rows::identity_proofs::BY_ID, id).await.unwrap();
    assert_eq!(holder().await, None);
    let tasks = [world.clone(), other.clone(), world.clone(), other.clone()].map(|world| {
        let write = Write::put(&Row::new(proof()));
        async move { world.try_save(write).await }
    });
    let results = at_once(tasks).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    let is_taken = |result: &Result<(), CommitError>| matches!(result, Ok(()) | Err(CommitError::Taken(_)));
    assert!(results.iter().all(is_taken), "{results:?}");
    let (tenant, stored) = holder().await.unwrap();
    let (first, second) = if tenant == world.tenant { (&world, &other) } else { (&other, &world) };
    let delete = |world: &CaseContext| {
        let values = vec![SqlValue::from(id)];
        let deletion = ErasureChange::Delete { table: IdentityProof::TABLE.name, by: ID, values };
        world.make.change(vec![Write::Erase(vec![deletion])])
    };
    second.commit(delete(second)).await.unwrap();
    assert_eq!(holder().await.map(|(_, proof)| proof.value), Some(stored.value), "another tenant ends no proof");
    first.commit(delete(first)).await.unwrap();
    assert_eq!(holder().await, None);
    second.save(vec![Write::put(&Row::new(proof()))]).await;
    assert_eq!(holder().await.map(|(tenant, _)| tenant), Some(second.tenant));
}
