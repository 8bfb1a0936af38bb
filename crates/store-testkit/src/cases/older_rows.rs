//! Rows from before a migration: columns that it added are null, and the row means the same as before.

use candor_domain::objective::Objective;
use candor_domain::organization::Organization;
use candor_domain::summary::Summary;
use candor_port_storage::{Row, StorageExt, Write};
use candor_subscriptions::{Subscription, Topic, Topics};

use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(older_subscription_sends_all_its_types),
        Case::new(older_summary_and_objective_have_no_changes_to_approve),
        Case::new(older_organization_shows_all_custom_fields),
    ]
}

async fn older_subscription_sends_all_its_types(world: CaseContext) {
    let narrow = Subscription {
        event_types: Topics::new([Topic::Every]),
        effective_event_types: Topics::new([]),
        ..world.make.subscription()
    };
    world.save(vec![Write::put(&Row::new(narrow.clone()))]).await;
    world.spoil("UPDATE webhooks SET effective_event_types = NULL").await;
    let id = narrow.id;
    let read = async || world.store.row::<Subscription>(world.tenant, id).await.unwrap().unwrap();
    let effective_event_types = narrow.event_types.clone();
    let older = Subscription { effective_event_types, keeps_all_types: true, ..narrow };
    let stored_row = read().await;
    assert_eq!(stored_row.value, older);
    let paused_webhook = Subscription { active: false, ..older };
    world.save(vec![Write::put(&Row::at_version(paused_webhook.clone(), stored_row.version))]).await;
    assert_eq!(read().await.value, paused_webhook, "a change of another field chooses no types");
}

async fn older_summary_and_objective_have_no_changes_to_approve(world: CaseContext) {
    let person = world.hire().await;
    let summary = Summary {
        edited_by: Some(person.id),
        editor_ids: vec![person.id, world.make.id()],
        past_editor_ids: vec![world.make.id()],
        ..world.make.summary(person.id)
    };
    let objective = Objective { changed_since_approval: true, ..world.make.objective(person.id) };
    world.save(vec![Write::put(&Row::new(summary.clone())), Write::put(&Row::new(objective.clone()))]).await;
    let read = async || {
        let summary = world.store.row::<Summary>(world.tenant, summary.id).await.unwrap().unwrap().value;
        let objective = world.store.row::<Objective>(world.tenant, objective.id).await.unwrap().unwrap().value;
        (summary, objective)
    };
    assert_eq!(read().await, (summary.clone(), objective.clone()));
    world.spoil("UPDATE summaries SET edited_by = NULL, editor_ids = NULL, past_editor_ids = NULL").await;
    world.spoil("UPDATE objectives SET changed_since_approval = NULL").await;
    let older = Summary { edited_by: None, editor_ids: vec![], past_editor_ids: vec![], ..summary };
    let unmarked_objective = Objective { changed_since_approval: false, ..objective };
    assert_eq!(read().await, (older, unmarked_objective));
}

async fn older_organization_shows_all_custom_fields(world: CaseContext) {
    let id = world.tenant.organization;
    world.save(vec![Write::put(&Row::new(world.make.organization(id)))]).await;
    let read = async || world.store.row::<Organization>(world.tenant, id).await.unwrap().unwrap().value;
    assert!(!read().await.shows_custom_field("salary"));
    world.spoil("UPDATE organizations SET visible_custom_fields = NULL").await;
    assert!(read().await.shows_custom_field("salary"));
}
