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
fn invitation_is_accepted_once_and_within_14_days() {
    let at = Timestamp::from_millis(0);
    let pending = Employee { status: Status::PendingInvite, ..employee(1) };
    let token = token([7; 32], "ada@example.com");
    let invitation = Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token, at).unwrap();
    let last = at.plus_seconds(VALID_SECONDS - 1);
    assert_eq!(invitation.state(last), State::Pending);
    assert_eq!(invitation.accept(at.plus_seconds(VALID_SECONDS)), Err(DomainError::NotFound));
    assert_eq!(invitation.accept(last).unwrap().accept(last), Err(DomainError::NotFound));
    assert_eq!(invitation.revoke(at).accept(last), Err(DomainError::NotFound));
    assert!(Invitation::new(invitation.id, &employee(1), &token, at).is_err(), "only who is pending is invited");
}

#[test]
fn invitation_of_a_person_not_pending_is_revoked() {
    let at = Timestamp::from_millis(0);
    let pending = Employee { status: Status::PendingInvite, ..employee(1) };
    let invitation =
        Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32], "ada@example.com"), at)
            .unwrap();
    let accepted = invitation.accept(at).unwrap();
    let late = at.plus_seconds(VALID_SECONDS);
    let table = [
        (Status::PendingInvite, [State::Pending, State::Expired, State::Accepted]),
        (Status::Active, [State::Revoked, State::Expired, State::Accepted]),
        (Status::Deactivated, [State::Revoked, State::Expired, State::Accepted]),
    ];
    for (person, wanted) in table {
        let states =
            [invitation.stands(person, at), invitation.stands(person, late), accepted.stands(person, late)];
        assert_eq!(states, wanted);
    }
}

#[test]
fn event_of_an_invitation_follows_from_its_change() {
    let at = Timestamp::from_millis(0);
    let pending = Employee { status: Status::PendingInvite, ..employee(1) };
    let new = Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32], "ada@example.com"), at)
        .unwrap();
    let mailed = new.clone().by_mail(vec![1, 2], at);
    let sent = mailed.mail_attempted(Ok(()), at);
    for (before, after, event) in [
        (None, &new, Some(EventType::InvitationCreated)),
        (Some(&new), &new, None),
        (Some(&mailed), &sent, Some(EventType::InvitationUpdated)),
        (Some(&mailed), &mailed.accept(at).unwrap(), Some(EventType::InvitationAccepted)),
        (Some(&mailed), &mailed.revoke(at), Some(EventType::InvitationRevoked)),
        (Some(&mailed.revoke(at)), &mailed.revoke(at).revoke(at), None),
    ] {
        assert_eq!(after.event_since(before), event, "{before:?} to {after:?}");
    }
}

#[test]
fn mail_is_sent_only_while_the_invitation_is_pending() {
    let at = Timestamp::from_millis(0);
    let pending = Employee { status: Status::PendingInvite, ..employee(1) };
    let invitation =
        Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32], "ada@example.com"), at)
            .unwrap();
    let unchanged = Box::new(invitation.clone());
    assert_eq!(invitation.token_to_send(Status::PendingInvite, at), Err(unchanged), "no mail was to be sent");
    let invitation = invitation.by_mail(vec![1, 2], at);
    let late = at.plus_seconds(VALID_SECONDS);
    assert_eq!(invitation.token_to_send(Status::PendingInvite, at), Ok([1, 2].as_slice()));
    let ended = |invitation: &Invitation, person, at| {
        let mail = invitation.token_to_send(person, at).unwrap_err().mail.unwrap();
        (mail.status, mail.sealed_token, mail.failure)
    };
    let canceled = (MailStatus::Canceled, None, None);
    assert_eq!(ended(&invitation, Status::Active, at), canceled);
    assert_eq!(ended(&invitation.accept(at).unwrap(), Status::PendingInvite, at), canceled);
    assert_eq!(ended(&invitation.revoke(at), Status::PendingInvite, late), canceled);
    let expired = (MailStatus::Failed, None, Some(MailFailure::Expired));
    assert_eq!(ended(&invitation, Status::PendingInvite, late), expired);
    let sent = invitation.mail_attempted(Ok(()), at);
    assert_eq!(ended(&sent, Status::PendingInvite, at), (MailStatus::Sent, None, None));
    assert_eq!(sent.revoke(at).mail, sent.mail, "a sent mail keeps its status");
}
