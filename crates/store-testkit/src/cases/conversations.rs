//! Messages update the time of their conversation, also under concurrency. Archived conversations accept no
//! messages.

use candor_domain::conversation::{self, Conversation, Joins, Message};
use candor_domain::event::EventType;
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::time::Timestamp;
use candor_domain::visibility::Viewer;
use candor_port_storage::{ChangeSet, CommitError, Row, StorageExt, Version, Write};
use candor_tables::rows;

use crate::Case;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(newest_message_time_counts_in_any_save_order),
        Case::new(conversation_update_keeps_the_last_message_time),
        Case::new(archived_conversation_refuses_messages),
        Case::new(concurrent_messages_are_all_saved),
        Case::new(concurrent_messages_fail_for_archived_conversations_only),
        Case::new(concurrent_new_conversations_are_all_saved),
        Case::new(conversation_of_another_tenant_is_not_changed),
    ]
}

/// Saves a conversation of two people.
async fn save_conversation(world: &CaseContext) -> Conversation {
    let people = vec![world.hire().await.id, world.hire().await.id];
    let it = world.make.conversation(people);
    world.save(vec![Write::put(&Row::new(it.clone()))]).await;
    it
}

fn message(world: &CaseContext, of: &Conversation, at: Timestamp) -> Vec<Write> {
    let it = Message { created_at: at, ..world.make.message(of.id, of.participant_ids[0]) };
    vec![Write::put(&Row::new(it)), Write::MessageAdded(of.id, at)]
}

async fn read_conversation(world: &CaseContext, conversation: &Conversation) -> (Conversation, Version) {
    let row = world.store.row::<Conversation>(world.tenant, conversation.id).await.unwrap().unwrap();
    (row.value, row.version)
}

async fn messages(world: &CaseContext, of: &Conversation) -> Vec<Message> {
    let page = PageRequest { limit: 100, after: None };
    let list =
        rows::conversations::messages(of.id, &Default::default(), Sort::ascending_by(SortBy::CreatedAt), &page);
    world.store.page(world.tenant, list).await.unwrap().items
}

async fn newest_message_time_counts_in_any_save_order(world: CaseContext) {
    let it = save_conversation(&world).await;
    assert_eq!(read_conversation(&world, &it).await, (it.clone(), Version::FIRST));
    let [early, late] = [world.make.tick(), world.make.tick()];
    for at in [late, early] {
        world.save(message(&world, &it, at)).await;
    }
    let conversation_after = Conversation { last_message_at: Some(late), ..it.clone() };
    assert_eq!(
        read_conversation(&world, &it).await,
        (conversation_after, Version::FIRST),
        "the version stays the same"
    );
    let other = save_conversation(&world).await;
    let order = async |sort| {
        let page = PageRequest { limit: 10, after: None };
        let list = rows::conversations::list(&conversation::Filter::default(), Viewer::Everything, sort, &page);
        world
            .store
            .page(world.tenant, list)
            .await
            .unwrap()
            .items
            .into_iter()
            .map(|item| item.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        order(Sort::descending_by(SortBy::ActiveAt)).await,
        [other.id, it.id],
        "without messages, its creation counts"
    );
    world.save(message(&world, &it, world.make.tick())).await;
    assert_eq!(order(Sort::descending_by(SortBy::ActiveAt)).await, [it.id, other.id]);
    assert_eq!(order(Sort::descending_by(SortBy::CreatedAt)).await, [other.id, it.id]);
}

async fn conversation_update_keeps_the_last_message_time(world: CaseContext) {
    let it = save_conversation(&world).await;
    let now = world.make.tick();
    world.save(message(&world, &it, now)).await;
    // The rename is decided on a read before the message. Its commit must not undo the time of the message.
    let joins = Joins::parse(&format!("{}={}", it.participant_ids[0], now.millis())).unwrap();
    let renamed_conversation = Conversation { title: "Renamed".to_owned(), joins, ..it.clone() };
    world.save(vec![Write::put(&Row::at_version(renamed_conversation.clone(), Version::FIRST))]).await;
    assert_eq!(
        read_conversation(&world, &it).await.0,
        Conversation { last_message_at: Some(now), ..renamed_conversation }
    );
}

async fn archived_conversation_refuses_messages(world: CaseContext) {
    let it = save_conversation(&world).await;
    let archived_conversation = Conversation { archived_at: Some(world.make.tick()), ..it.clone() };
    world.save(vec![Write::put(&Row::at_version(archived_conversation.clone(), Version::FIRST))]).await;
    let result = world.commit(world.make.change(message(&world, &it, world.make.tick()))).await;
    assert!(matches!(result, Err(CommitError::Stale)), "{result:?}");
    assert_eq!(
        (read_conversation(&world, &it).await.0, messages(&world, &it).await),
        (archived_conversation, vec![])
    );
}

async fn concurrent_messages_are_all_saved(world: CaseContext) {
    let it = save_conversation(&world).await;
    let times: Vec<_> = (0..30).map(|_| world.make.tick()).collect();
    let tasks = times.iter().map(|at| {
        let (world, change) = (world.clone(), world.make.change(message(&world, &it, *at)));
        async move { world.commit(change).await }
    });
    for saved in at_once(tasks).await {
        saved.unwrap();
    }
    let message_times: Vec<_> =
        messages(&world, &it).await.into_iter().map(|message| message.created_at).collect();
    assert_eq!(
        (message_times, read_conversation(&world, &it).await.0.last_message_at),
        (times.clone(), times.last().copied())
    );
}

async fn concurrent_messages_fail_for_archived_conversations_only(world: CaseContext) {
    let mut all = vec![];
    for _ in 0..5 {
        all.push(save_conversation(&world).await);
    }
    let archived_conversation = Conversation { archived_at: Some(world.make.tick()), ..all[2].clone() };
    world.save(vec![Write::put(&Row::at_version(archived_conversation, Version::FIRST))]).await;
    let times: Vec<_> = (0..60).map(|_| world.make.tick()).collect();
    let tasks = times.iter().enumerate().map(|(at, time)| {
        let (world, event) = (world.clone(), world.make.event(EventType::ConversationMessageCreated));
        let change = world.make.change(message(&world, &all[at % 5], *time));
        async move { world.commit(ChangeSet { events: vec![event], ..change }).await }
    });
    for (at, saved) in at_once(tasks).await.into_iter().enumerate() {
        let is_refused = matches!(saved, Err(CommitError::Stale));
        assert!(if at % 5 == 2 { is_refused } else { saved.is_ok() }, "{at}: {saved:?}");
    }
    for (number, it) in all.iter().enumerate() {
        let own: Vec<_> = times.iter().skip(number).step_by(5).copied().filter(|_| number != 2).collect();
        let message_times: Vec<_> =
            messages(&world, it).await.into_iter().map(|message| message.created_at).collect();
        assert_eq!(
            (&message_times, read_conversation(&world, it).await.0.last_message_at),
            (&own, own.last().copied()),
            "{number}"
        );
    }
}

async fn concurrent_new_conversations_are_all_saved(world: CaseContext) {
    let people = [world.hire().await.id, world.hire().await.id];
    let all: Vec<_> = (0..40).map(|_| world.make.conversation(people.to_vec())).collect();
    let tasks = all.iter().enumerate().map(|(at, message)| {
        let (world, replay) = (world.clone(), world.make.replay(&format!("begin-{}", at % 35)));
        let change = world.make.change(vec![Write::put(&Row::new(message.clone()))]);
        async move { world.commit(ChangeSet { replay: Some(replay), ..change }).await }
    });
    let results = at_once(tasks).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 35, "{results:?}");
    for (it, result) in all.iter().zip(&results) {
        let stored_row = world.store.row::<Conversation>(world.tenant, it.id).await.unwrap();
        match result {
            Ok(()) => assert_eq!(stored_row.map(|row| row.value).as_ref(), Some(it)),
            Err(refusal) => {
                assert!(matches!(refusal, CommitError::Replayed) && stored_row.is_none(), "{refusal:?}")
            }
        }
    }
}

async fn conversation_of_another_tenant_is_not_changed(world: CaseContext) {
    let it = save_conversation(&world).await;
    for other in [world.in_other_tenant(), world.test_environment()] {
        let foreign_result = other.try_save(Write::MessageAdded(it.id, world.make.tick())).await;
        assert!(matches!(foreign_result, Err(CommitError::Stale)), "{foreign_result:?}");
        let author = other.hire().await.id;
        let message_result = other.try_save(Write::put(&Row::new(world.make.message(it.id, author)))).await;
        assert!(matches!(message_result, Err(CommitError::Missing)), "{message_result:?}");
        let strangers = world.make.conversation(vec![author, it.participant_ids[0]]);
        let result = other.try_save(Write::put(&Row::new(strangers))).await;
        assert!(matches!(result, Err(CommitError::Missing)), "{result:?}");
    }
    assert_eq!(read_conversation(&world, &it).await.0, it);
}
