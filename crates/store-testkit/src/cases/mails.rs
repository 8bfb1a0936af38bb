//! The email queue: a due email goes to one worker, and its result is dropped if the invitation has changed.

use std::collections::BTreeSet;

use candor_domain::access::Tenant;
use candor_domain::people::invitation::{MailCounter, MailFailure, MailStatus};
use candor_domain::people::{Employee, Invitation};
use candor_domain::time::Timestamp;
use candor_port_storage::mail_queue::{MailKey, MailResult};
use candor_port_storage::queue::{Lease, QueueState};
use candor_port_storage::{ChangeSet, CommitError, Require, Row, StorageExt, Version, Versioned, Write};

use super::queue::just_before;
use crate::Case;
use crate::worker::{END, LEASE_SECONDS, Worker};
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(mail_is_queued_with_its_invitation_or_not_at_all),
        Case::new(oldest_due_mails_are_claimed_first_across_tenants),
        Case::new(mails_of_left_out_tenants_stay_due),
        Case::new(claimed_mail_is_exclusive_until_the_lease_ends),
        Case::new(concurrent_workers_never_claim_the_same_mail),
        Case::new(sent_mail_is_not_due_and_its_token_is_erased),
        Case::new(failed_mail_is_due_again_at_its_retry_time),
        Case::new(mail_result_is_recorded_only_under_its_lease),
        Case::new(mail_result_is_recorded_only_for_the_unchanged_invitation),
        Case::new(released_mail_keeps_its_due_time),
        Case::new(mail_of_a_revoked_or_accepted_invitation_is_not_due),
        Case::new(mail_results_of_many_tenants_are_recorded_together),
        Case::new(mails_to_a_recipient_are_counted_up_to_the_limit),
    ]
}

impl CaseContext {
    /// Saves an invitation of a new person. The email of the invitation is due now.
    async fn invite(&self) -> Invitation {
        let person = self.hire().await;
        let invitation = self.make.invitation(person.id).by_mail(self.make.bytes32().to_vec(), self.now());
        self.save(vec![Write::put(&Row::new(invitation.clone()))]).await;
        invitation
    }

    async fn invitation(&self, key: MailKey) -> Versioned<Invitation> {
        self.store.row::<Invitation>(key.0, key.1).await.unwrap().unwrap()
    }

    const fn mail(&self, of: &Invitation) -> MailKey {
        (self.tenant, of.id)
    }

    /// Returns the result to record for an attempt.
    async fn attempt_result(&self, key: MailKey, outcome: Result<(), MailFailure>, at: Timestamp) -> MailResult {
        let Versioned { value, version } = self.invitation(key).await;
        MailResult::Changed(Box::new(Versioned { value: value.mail_attempted(outcome, at), version }))
    }
}

impl Worker {
    async fn mails(&self, world: &CaseContext, now: Timestamp, most: u16) -> Vec<MailKey> {
        world.store.claim_mails(self.lease(now), now, most, &[]).await.unwrap()
    }

    /// Records results and returns the keys of the dropped ones.
    async fn records_mails(&self, world: &CaseContext, results: Vec<(MailKey, MailResult)>) -> Vec<MailKey> {
        world.store.record_mails(self.id, results).await.unwrap()
    }
}

async fn mails_to_a_recipient_are_counted_up_to_the_limit(world: CaseContext) {
    let (one, other) = (MailCounter(world.make.bytes32()), MailCounter(world.make.bytes32()));
    let today = world.now().date();
    let count = async |counter, day| world.store.count_mail(counter, day, 5).await.unwrap();
    let mail_count = async |counter, day| world.store.counted_mails(counter, day).await.unwrap();
    assert_eq!(mail_count(one, today).await, 0);
    let (store, mut tasks) = (world.store.clone(), vec![]);
    for _ in 0..12 {
        let store = store.clone();
        tasks.push(async move { store.count_mail(one, today, 5).await.unwrap() });
    }
    let granted_count = at_once(tasks).await.into_iter().filter(|granted| *granted).count();
    assert_eq!((granted_count, mail_count(one, today).await), (5, 5));
    assert!(
        count(other, today).await && count(one, today.next()).await,
        "each address and day has a count of its own"
    );
    assert_eq!(
        (mail_count(one, today).await, mail_count(one, today.next()).await),
        (5, 1),
        "the day before is kept"
    );
    assert!(count(other, today.next().next()).await);
    assert_eq!(mail_count(one, today).await, 0, "older days are forgotten");
}

async fn mail_is_queued_with_its_invitation_or_not_at_all(world: CaseContext) {
    let person = world.hire().await;
    let it = world.make.invitation(person.id).by_mail(vec![1, 2, 3], world.now());
    let new = || Write::put(&Row::new(it.clone()));
    let requires = vec![Require::has_version::<Employee>(person.id, Version::FIRST.next())];
    let result = world.commit(ChangeSet { requires, ..world.make.change(vec![new()]) }).await;
    assert!(matches!(result, Err(CommitError::Broken(_))), "{result:?}");
    assert_eq!(Worker::new(&world).mails(&world, END, 9).await, []);
    world.save(vec![new()]).await;
    assert_eq!(world.invitation(world.mail(&it)).await.value, it);
    let one = world.make.invitation(person.id);
    world.save(vec![Write::put(&Row::new(one))]).await;
    assert_eq!(
        Worker::new(&world).mails(&world, END, 9).await,
        [world.mail(&it)],
        "the other invitation has no mail"
    );
}

async fn oldest_due_mails_are_claimed_first_across_tenants(world: CaseContext) {
    let worlds = [world.clone(), world.in_other_tenant()];
    let mut mails = vec![];
    for number in 0..20 {
        let whose = &worlds[number % 2];
        mails.push(whose.mail(&whose.invite().await));
    }
    let (worker, now) = (Worker::new(&world), world.now());
    let mut claimed_mails = vec![];
    for most in [1, 0, 5, 40, 3] {
        let some = worker.mails(&world, now, most).await;
        assert!(some.len() <= usize::from(most));
        claimed_mails.extend(some);
    }
    assert_eq!(claimed_mails, mails);
}

async fn mails_of_left_out_tenants_stay_due(world: CaseContext) {
    let worlds = [world.clone(), world.in_other_tenant()];
    let mut mails = [vec![], vec![]];
    for number in 0..8 {
        let whose = &worlds[number % 2];
        mails[number % 2].push(whose.mail(&whose.invite().await));
    }
    let (worker, now) = (Worker::new(&world), world.now());
    let claim = async |most: u16, except: &[Tenant]| {
        world.store.claim_mails(worker.lease(now), now, most, except).await.unwrap()
    };
    let [first, second] = worlds.each_ref().map(|world| world.tenant);
    assert_eq!(claim(9, &[first, second]).await, []);
    assert_eq!(claim(3, &[first]).await, mails[1][..3]);
    assert_eq!(claim(9, &[first]).await, mails[1][3..]);
    assert_eq!(claim(9, &[second]).await, mails[0]);
}

async fn claimed_mail_is_exclusive_until_the_lease_ends(world: CaseContext) {
    let invitation = world.invite().await;
    let (mail, mut now) = (world.mail(&invitation), invitation.mail.unwrap().due_at.unwrap());
    assert_eq!(Worker::new(&world).mails(&world, just_before(now), 9).await, [], "the mail is not due yet");
    for _ in 0..3 {
        let (one, other) = (Worker::new(&world), Worker::new(&world));
        assert_eq!(one.mails(&world, now, 9).await, [mail]);
        let lease_end = now.plus_seconds(LEASE_SECONDS);
        for worker in [&one, &other] {
            assert_eq!(worker.mails(&world, just_before(lease_end), 9).await, []);
        }
        now = lease_end;
    }
}

async fn concurrent_workers_never_claim_the_same_mail(world: CaseContext) {
    const MAILS: usize = 60;
    for _ in 0..MAILS {
        world.invite().await;
    }
    let now = world.now();
    let all = |world: CaseContext| async move {
        let (worker, mut found) = (Worker::new(&world), vec![]);
        let mut fruitless = 0;
        while fruitless < 3 {
            let some = worker.mails(&world, now, 4).await;
            fruitless = if some.is_empty() { fruitless + 1 } else { 0 };
            found.extend(some);
        }
        found
    };
    let claimed_mails: Vec<MailKey> =
        at_once((0..6).map(|_| all(world.clone()))).await.into_iter().flatten().collect();
    let distinct: BTreeSet<_> = claimed_mails.iter().map(|(_, id)| *id).collect();
    assert_eq!((claimed_mails.len(), distinct.len()), (MAILS, MAILS));
}

async fn sent_mail_is_not_due_and_its_token_is_erased(world: CaseContext) {
    let mail = world.mail(&world.invite().await);
    let (worker, now) = (Worker::new(&world), world.now());
    assert_eq!(worker.mails(&world, now, 9).await, [mail]);
    let invitation_before = world.invitation(mail).await;
    let sent_result = world.attempt_result(mail, Ok(()), now).await;
    assert_eq!(worker.records_mails(&world, vec![(mail, sent_result)]).await, []);
    let invitation_after = world.invitation(mail).await;
    assert_eq!(invitation_after.version, invitation_before.version.next());
    let state = invitation_after.value.mail.clone().unwrap();
    assert_eq!((state.status, state.sealed_token, state.due_at), (MailStatus::Sent, None, None));
    assert_eq!(invitation_after.value.token_hash, invitation_before.value.token_hash);
    assert_eq!(worker.mails(&world, END, 9).await, []);
}

async fn failed_mail_is_due_again_at_its_retry_time(world: CaseContext) {
    let mail = world.mail(&world.invite().await);
    let (worker, now) = (Worker::new(&world), world.now());
    assert_eq!(worker.mails(&world, now, 9).await, [mail]);
    let failed_result = world.attempt_result(mail, Err(MailFailure::Deferred), now).await;
    assert_eq!(worker.records_mails(&world, vec![(mail, failed_result)]).await, []);
    let state = world.invitation(mail).await.value.mail.unwrap();
    assert_eq!((state.attempts, state.failure), (1, Some(MailFailure::Deferred)));
    let due_at = state.due_at.unwrap();
    assert!(due_at > now, "{due_at}");
    assert_eq!(worker.mails(&world, just_before(due_at), 9).await, []);
    let queue_state = |due, oldest_due_at| QueueState { due, oldest_due_at };
    assert_eq!(world.store.mail_queue_state(just_before(due_at)).await.unwrap(), queue_state(0, None));
    assert_eq!(world.store.mail_queue_state(due_at).await.unwrap(), queue_state(1, Some(due_at)));
    assert_eq!(worker.mails(&world, due_at, 9).await, [mail]);
    assert_eq!(world.store.mail_queue_state(due_at).await.unwrap(), queue_state(0, None), "the mail is leased");
}

async fn mail_result_is_recorded_only_under_its_lease(world: CaseContext) {
    let mail = world.mail(&world.invite().await);
    let (one, other, now) = (Worker::new(&world), Worker::new(&world), world.now());
    assert_eq!(one.mails(&world, now, 9).await, [mail]);
    let invitation_before = world.invitation(mail).await;
    let late = now.plus_seconds(LEASE_SECONDS);
    assert_eq!(other.mails(&world, late, 9).await, [mail]);
    for result in [world.attempt_result(mail, Ok(()), now).await, MailResult::Released] {
        assert_eq!(one.records_mails(&world, vec![(mail, result)]).await, [mail]);
    }
    assert_eq!(world.invitation(mail).await, invitation_before);
    assert_eq!(Worker::new(&world).mails(&world, late, 9).await, [], "the other worker has the lease");
    let sent_result = world.attempt_result(mail, Ok(()), late).await;
    assert_eq!(other.records_mails(&world, vec![(mail, sent_result.clone())]).await, []);
    assert_eq!(other.records_mails(&world, vec![(mail, sent_result)]).await, [mail], "a result is recorded once");
}

async fn mail_result_is_recorded_only_for_the_unchanged_invitation(world: CaseContext) {
    let mail = world.mail(&world.invite().await);
    let (worker, now) = (Worker::new(&world), world.now());
    assert_eq!(worker.mails(&world, now, 9).await, [mail]);
    let first_result = world.attempt_result(mail, Ok(()), now).await;
    let invitation = world.invitation(mail).await;
    world.save(vec![Write::put(&Row::at_version(invitation.value.revoke(now), invitation.version))]).await;
    let revoked_invitation = world.invitation(mail).await;
    assert_eq!(worker.records_mails(&world, vec![(mail, first_result)]).await, [mail]);
    assert_eq!(world.invitation(mail).await, revoked_invitation);
    // The worker decides again, based on the changed invitation.
    let sent_result = world.attempt_result(mail, Ok(()), now).await;
    assert_eq!(worker.records_mails(&world, vec![(mail, sent_result)]).await, []);
    let invitation_after = world.invitation(mail).await.value;
    assert_eq!(
        (invitation_after.revoked_at, invitation_after.mail.unwrap().status),
        (Some(now), MailStatus::Sent)
    );
}

async fn released_mail_keeps_its_due_time(world: CaseContext) {
    let (first, then) = (world.invite().await, world.invite().await);
    let (first, then) = (world.mail(&first), world.mail(&then));
    let (worker, now) = (Worker::new(&world), world.now());
    assert_eq!(worker.mails(&world, now, 9).await, [first, then]);
    let invitation_before = world.invitation(first).await;
    assert_eq!(worker.records_mails(&world, vec![(first, MailResult::Released)]).await, []);
    assert_eq!(world.invitation(first).await, invitation_before, "a release changes nothing");
    assert_eq!(Worker::new(&world).mails(&world, now, 9).await, [first]);
}

async fn mail_of_a_revoked_or_accepted_invitation_is_not_due(world: CaseContext) {
    let (one, other) = (world.invite().await, world.invite().await);
    let now = world.now();
    for after in [one.revoke(now), other.accept(now).unwrap()] {
        let invitation = world.invitation((world.tenant, after.id)).await;
        world.save(vec![Write::put(&Row::at_version(after, invitation.version))]).await;
    }
    assert_eq!(Worker::new(&world).mails(&world, END, 9).await, []);
    assert_eq!(world.store.mail_queue_state(END).await.unwrap(), QueueState::default());
}

async fn mail_results_of_many_tenants_are_recorded_together(world: CaseContext) {
    let worlds: Vec<_> = (0..5).map(|_| world.in_other_tenant()).collect();
    for _ in 0..8 {
        for whose in &worlds {
            whose.invite().await;
        }
    }
    let (worker, now) = (Worker::new(&world), world.now());
    let lease = Lease { worker: worker.id, until: now.plus_seconds(LEASE_SECONDS) };
    let mails = world.store.claim_mails(lease, now, 100, &[]).await.unwrap();
    assert_eq!(mails.len(), 40);
    let (mut results, mut wanted, mut released) = (vec![], vec![], vec![]);
    for (number, key) in mails.iter().enumerate() {
        let outcome = match number % 4 {
            0 => Ok(()),
            1 => Err(MailFailure::Refused),
            2 => Err(MailFailure::Timeout),
            _ => {
                released.push(*key);
                results.push((*key, MailResult::Released));
                continue;
            }
        };
        let result = world.attempt_result(*key, outcome, now).await;
        if let MailResult::Changed(it) = &result {
            wanted.push((*key, it.value.clone()));
        }
        results.push((*key, result));
    }
    let stranger = (world.tenant, world.make.id());
    results.push((stranger, MailResult::Released));
    assert_eq!(worker.records_mails(&world, results).await, [stranger]);
    for (key, value) in wanted {
        assert_eq!(world.invitation(key).await.value, value);
    }
    assert_eq!(Worker::new(&world).mails(&world, now, 100).await, released);
}
