//! Tests of invitations.

use super::super::tests::employee;
use super::*;
use ulid::Ulid;

#[test]
fn token_opens_nothing_after_the_address_has_changed() {
    let token = token([7; 32], "Ada@example.com");
    assert!(is_for(token.reveal(), "ada@example.com"));
    assert!(!is_for(token.reveal(), "attacker@example.com"));
    assert!(is_for(&URL_SAFE_NO_PAD.encode([7; 32]), "ada@example.com"), "a token of an earlier version");
}

#[test]
fn invitation_serves_only_its_own_address() {
    let time = Timestamp::from_millis(10);
    let pending = Employee { status: Status::PendingInvite, ..employee(1) };
    let token = token([7; 32], "ada@example.com");
    let invitation = Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token, time).unwrap();
    for (changed_at, wanted) in [(None, true), (Some(9), true), (Some(10), false), (Some(11), false)] {
        let acceptance = invitation.accept_by_address(changed_at.map(Timestamp::from_millis), time);
        assert_eq!(acceptance.is_ok(), wanted, "{changed_at:?}");
    }
    assert_eq!(invitation.revoke(time).accept_by_address(None, time), Err(DomainError::NotFound));
}

#[test]
fn invitation_is_accepted_once_and_within_14_days() {
    let time = Timestamp::from_millis(0);
    let pending = Employee { status: Status::PendingInvite, ..employee(1) };
    let token = token([7; 32], "ada@example.com");
    let invitation = Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token, time).unwrap();
    let last = time.plus_seconds(VALID_SECONDS - 1);
    assert_eq!(invitation.state(last), State::Pending);
    assert_eq!(invitation.accept(time.plus_seconds(VALID_SECONDS)), Err(DomainError::NotFound));
    assert_eq!(invitation.accept(last).unwrap().accept(last), Err(DomainError::NotFound));
    assert_eq!(invitation.revoke(time).accept(last), Err(DomainError::NotFound));
    assert!(
        Invitation::new(invitation.id, &employee(1), &token, time).is_err(),
        "only pending people can be invited"
    );
}

#[test]
fn invitation_of_a_person_not_pending_is_revoked() {
    let time = Timestamp::from_millis(0);
    let pending = Employee { status: Status::PendingInvite, ..employee(1) };
    let invitation =
        Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32], "ada@example.com"), time)
            .unwrap();
    let acceptance = invitation.accept(time).unwrap();
    let late = time.plus_seconds(VALID_SECONDS);
    let table = [
        (Status::PendingInvite, [State::Pending, State::Expired, State::Accepted]),
        (Status::Active, [State::Revoked, State::Expired, State::Accepted]),
        (Status::Deactivated, [State::Revoked, State::Expired, State::Accepted]),
    ];
    for (person, wanted) in table {
        let states =
            [invitation.stands(person, time), invitation.stands(person, late), acceptance.stands(person, late)];
        assert_eq!(states, wanted);
    }
}

#[test]
fn event_of_an_invitation_follows_from_its_change() {
    let time = Timestamp::from_millis(0);
    let pending = Employee { status: Status::PendingInvite, ..employee(1) };
    let new_invitation =
        Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32], "ada@example.com"), time)
            .unwrap();
    let mailed_invitation = new_invitation.clone().by_mail(vec![1, 2], time);
    let sent_invitation = mailed_invitation.mail_attempted(Ok(()), time);
    for (before, after, event) in [
        (None, &new_invitation, Some(EventType::InvitationCreated)),
        (Some(&new_invitation), &new_invitation, None),
        (Some(&mailed_invitation), &sent_invitation, Some(EventType::InvitationUpdated)),
        (Some(&mailed_invitation), &mailed_invitation.accept(time).unwrap(), Some(EventType::InvitationAccepted)),
        (Some(&mailed_invitation), &mailed_invitation.revoke(time), Some(EventType::InvitationRevoked)),
        (Some(&mailed_invitation.revoke(time)), &mailed_invitation.revoke(time).revoke(time), None),
    ] {
        assert_eq!(after.event_since(before), event, "{before:?} to {after:?}");
    }
}

#[test]
fn mail_is_sent_only_while_the_invitation_is_pending() {
    let time = Timestamp::from_millis(0);
    let pending = Employee { status: Status::PendingInvite, ..employee(1) };
    let invitation =
        Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32], "ada@example.com"), time)
            .unwrap();
    let same_invitation = Box::new(invitation.clone());
    assert_eq!(
        invitation.token_to_send(Status::PendingInvite, time),
        Err(same_invitation),
        "no mail was to be sent"
    );
    let invitation = invitation.by_mail(vec![1, 2], time);
    let late = time.plus_seconds(VALID_SECONDS);
    assert_eq!(invitation.token_to_send(Status::PendingInvite, time), Ok([1, 2].as_slice()));
    let mail_of = |invitation: &Invitation, person, time| {
        let mail = invitation.token_to_send(person, time).unwrap_err().mail.unwrap();
        (mail.status, mail.sealed_token, mail.failure)
    };
    let canceled_mail = (MailStatus::Canceled, None, None);
    assert_eq!(mail_of(&invitation, Status::Active, time), canceled_mail);
    assert_eq!(mail_of(&invitation.accept(time).unwrap(), Status::PendingInvite, time), canceled_mail);
    assert_eq!(mail_of(&invitation.revoke(time), Status::PendingInvite, late), canceled_mail);
    let expired_mail = (MailStatus::Failed, None, Some(MailFailure::Expired));
    assert_eq!(mail_of(&invitation, Status::PendingInvite, late), expired_mail);
    let sent_invitation = invitation.mail_attempted(Ok(()), time);
    assert_eq!(mail_of(&sent_invitation, Status::PendingInvite, time), (MailStatus::Sent, None, None));
    assert_eq!(sent_invitation.revoke(time).mail, sent_invitation.mail, "a sent mail keeps its status");
}
