//! Mails, one step after the other.

use super::*;
use candor_domain::access::Tenant;
use candor_domain::id::{Id, OrganizationId};
use candor_domain::time::Timestamp;
use ulid::Ulid;

const SENT: MailEnding = MailEnding { result: Some(MailResult::Released), reached: Some(true) };
const UNREACHED: MailEnding = MailEnding { result: Some(MailResult::Released), reached: Some(false) };

fn at(millis: u64) -> Now {
    let wall = Timestamp::from_millis(1_000_000 + i64::try_from(millis).unwrap());
    Now { wall, steady: Duration::from_millis(millis) }
}

fn mails(count: u128) -> Vec<MailKey> {
    let tenant = Tenant::live(OrganizationId::from_ulid(Ulid(1)));
    (0..count).map(|it| (tenant, Id::from_ulid(Ulid(it)))).collect()
}

fn outbox() -> Outbox {
    Outbox::new(WorkerId([1; 16]), Duration::from_secs(60))
}

/// Claims these.
fn claim(it: &mut Outbox, count: u128, now: Now) {
    let claim = it.next_claim(now).expect("a claim");
    it.claimed(&claim, mails(count), now);
}

fn attempts(it: &mut Outbox, now: Now) -> Vec<MailKey> {
    std::iter::from_fn(|| it.next_attempt(now)).collect()
}

#[test]
fn eight_are_sent_at_once_and_more_are_claimed_before_all_are_sent() {
    let (mut it, now) = (outbox(), at(0));
    claim(&mut it, 64, now);
    assert_eq!(attempts(&mut it, now), mails(8));
    assert_eq!(it.next_claim(now), None, "56 wait");
    for mail in mails(64).into_iter().take(50) {
        it.ended(mail, SENT, now);
        it.next_attempt(now);
    }
    assert_eq!(it.sending(), 8);
    assert!(it.next_claim(now).is_some(), "6 wait, and the last claim was full");
    assert_eq!(it.next_claim(now), None, "one claim at a time");
}

#[test]
fn after_a_claim_that_found_less_it_waits_until_it_is_told_or_time_has_passed() {
    let mut it = outbox();
    claim(&mut it, 0, at(0));
    assert_eq!((it.next_claim(at(4_999)), it.ask_again_at(at(4_999))), (None, Some(LOOK_EVERY)));
    assert!(it.is_idle());
    it.look();
    claim(&mut it, 0, at(10));
    assert_eq!(it.next_claim(at(5_009)), None);
    assert!(it.next_claim(at(5_010)).is_some());
}

#[test]
fn a_server_that_is_not_there_is_asked_less_and_less_often_with_one_mail() {
    let mut it = outbox();
    claim(&mut it, 20, at(0));
    let under_way = attempts(&mut it, at(0));
    for mail in &under_way {
        it.ended(*mail, UNREACHED, at(0));
    }
    assert_eq!(it.next_batch(at(0)).unwrap().len(), 20, "those that wait are given back");
    it.recorded();
    let mut now = 0;
    for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
        assert_eq!(it.next_claim(at(now + wait * 1000 - 1)), None, "{wait}");
        now += wait * 1000;
        it.look();
        let one = it.next_claim(at(now)).expect("a claim");
        assert_eq!(one.most, 1);
        it.claimed(&one, mails(1), at(now));
        assert_eq!(attempts(&mut it, at(now)).len(), 1);
        assert_eq!(it.next_claim(at(now)), None, "the one is still under way");
        it.ended(mails(1)[0], UNREACHED, at(now));
    }
    it.look_and_ask();
    claim(&mut it, 1, at(now));
    assert_eq!(attempts(&mut it, at(now)).len(), 1);
    it.ended(mails(1)[0], SENT, at(now));
    assert_eq!(it.next_claim(at(now)).unwrap().most, CLAIMED_AT_ONCE, "it is there again");
}

#[test]
fn what_waited_too_long_is_left_to_its_lease() {
    let mut it = outbox();
    claim(&mut it, 1, at(0));
    assert_eq!(attempts(&mut it, at(30_001)), []);
    assert_eq!((it.next_batch(at(30_001)), it.sending()), (None, 0));
}

#[test]
fn what_a_store_did_not_record_is_recorded_later_and_first() {
    let mut it = outbox();
    claim(&mut it, 2, at(0));
    for mail in attempts(&mut it, at(0)) {
        it.ended(mail, SENT, at(0));
    }
    let batch = it.next_batch(at(0)).unwrap();
    assert_eq!((batch.len(), it.next_batch(at(0))), (2, None));
    it.not_recorded(batch.clone(), at(0));
    it.look();
    assert_eq!(it.next_claim(at(1)), None, "what was sent is still claimable");
    it.look_at = LOOK_EVERY;
    assert_eq!((it.next_batch(at(4_999)), it.ask_again_at(at(4_999))), (None, Some(LOOK_EVERY)));
    assert_eq!(it.next_batch(at(5_000)), Some(batch));
}

#[test]
fn results_wait_for_others_while_more_mails_wait() {
    let mut it = outbox();
    claim(&mut it, 64, at(0));
    let send = |it: &mut Outbox, count: usize, now: Now| {
        for mail in attempts(it, now).into_iter().chain(mails(64)).take(count) {
            it.ended(mail, SENT, now);
        }
    };
    send(&mut it, 1, at(1));
    assert_eq!(it.next_batch(at(1)).unwrap().len(), 1, "the last one is long ago");
    it.recorded();
    send(&mut it, 3, at(2));
    assert_eq!((it.next_batch(at(10)), it.ask_again_at(at(10))), (None, Some(Duration::from_millis(11))));
    assert_eq!(it.next_batch(at(11)).unwrap().len(), 3);
    it.recorded();
    send(&mut it, 64, at(12));
    assert_eq!(it.next_batch(at(12)).unwrap().len(), 64, "as many as are recorded at once wait for nothing");
    it.recorded();
    while !attempts(&mut it, at(13)).is_empty() {
        send(&mut it, 8, at(13));
    }
    assert!(it.waiting.is_empty() && it.next_batch(at(13)).is_some(), "no more mails wait");
}

#[test]
fn an_end_gives_back_what_waits_and_waits_for_what_is_under_way() {
    let (mut it, now) = (outbox(), at(0));
    claim(&mut it, 10, now);
    let under_way = attempts(&mut it, now);
    it.stop();
    let given_back = it.next_batch(now).unwrap();
    assert_eq!((given_back.len(), it.next_claim(now)), (2, None));
    it.recorded();
    assert!(!it.is_over());
    for mail in under_way {
        it.ended(mail, SENT, now);
    }
    assert!(!it.is_over() && it.next_batch(now).is_some());
    it.recorded();
    assert!(it.is_over());
}

#[test]
fn what_a_claim_brings_too_late_is_given_back() {
    let (mut it, now) = (outbox(), at(0));
    let claim = it.next_claim(now).unwrap();
    it.stop();
    it.claimed(&claim, mails(3), now);
    assert_eq!((it.next_attempt(now), it.next_batch(now).unwrap().len()), (None, 3));
}
