//! Identity providers (decision B9).

use candor_domain::identity::{EmailDomain, IdentityProvider};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::params::Bounds;
use candor_port_storage::{Require, Row, StorageExt, Version, Versioned, Write};
use candor_tables::rows;

use super::rows::TEXTS;
use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new(identity_provider_round_trips), Case::new(identity_providers_are_listed_and_limited_by_tenant)]
}

async fn identity_provider_round_trips(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    for text in TEXTS {
        let provider = make.identity_provider();
        let domain = EmailDomain { txt_record: text.to_owned(), ..EmailDomain::new(provider.id, text.to_owned()) };
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
        world.commit(candor_port_storage::ChangeSet { requires, ..make.change(vec![]) }).await.is_ok()
    };
    assert!(holds(4).await && !holds(3).await);
}
