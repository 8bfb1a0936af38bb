use super::*;
use crate::access::tests::{bound_caller, unbound};
use crate::access::{AccessLevel, Permission, Permissions};
use ulid::Ulid;

#[test]
fn reading_a_notification_twice_changes_nothing() {
    let notice = Notice {
        kind: Type::ObjectiveRejected,
        to: Recipients::Person(EmployeeId::from_ulid(Ulid(1))),
        title: "Objective sent back".to_owned(),
        body: "Too vague".to_owned(),
        target: Target { kind: "objective".to_owned(), id: "obj_1".to_owned() },
    };
    let read_at = Timestamp::from_millis(5);
    let unread = notice.for_recipient(NotificationId::from_ulid(Ulid(2)), EmployeeId::from_ulid(Ulid(1)), read_at);
    let read = unread.read(read_at).unwrap();
    assert_eq!(read.read_at, Some(read_at));
    assert_eq!(read.read(read_at), None);
}

#[test]
fn texts_of_a_notification_need_read_access_to_its_target() {
    let person = EmployeeId::from_ulid(Ulid(1));
    let shows = |kind: &str, caller: &Caller| {
        let notice = Notice {
            kind: Type::ObjectiveRejected,
            to: Recipients::Person(person),
            title: "Objective sent back".to_owned(),
            body: String::new(),
            target: Target { kind: kind.to_owned(), id: "x".to_owned() },
        };
        let id = NotificationId::from_ulid(Ulid(2));
        let notification = notice.for_recipient(id, person, Timestamp::from_millis(5));
        let hidden_notification = notification.shown_to(caller, false);
        assert_eq!((hidden_notification.title, hidden_notification.body), (None, None));
        assert_eq!(hidden_notification.target, VisibleTarget { kind, id: None });
        let visible_notification = notification.shown_to(caller, true);
        assert_eq!(visible_notification.target, VisibleTarget { kind, id: Some("x") });
        assert_eq!(visible_notification.title.is_some(), visible_notification.body.is_some());
        visible_notification.title.is_some()
    };
    let with_scope = |scope: Permission| Permissions::NONE.with(Permission::NotificationsRead).with(scope);
    for (kind, scope) in [
        ("objective", Permission::ObjectivesRead),
        ("summary", Permission::SummariesRead),
        ("assignment", Permission::AssignmentsRead),
        ("conversation", Permission::ConversationsRead),
        ("webhook", Permission::WebhooksRead),
        ("connector", Permission::SettingsRead),
        ("api_key", Permission::SettingsRead),
    ] {
        let needs_level = scope == Permission::SettingsRead;
        for caller in [unbound(AccessLevel::Admin), bound_caller(person, true).with_level(AccessLevel::Admin)] {
            let with_scopes = |scopes| Caller { scopes, ..caller.clone() };
            assert!(shows(kind, &with_scopes(with_scope(scope))), "{kind} {caller:?}");
            assert!(!shows(kind, &with_scopes(with_scope(Permission::AuditRead))), "{kind} {caller:?}");
            assert_eq!(shows(kind, &caller.with_level(AccessLevel::Standard)), !needs_level, "{kind}");
        }
    }
}

#[test]
fn texts_about_a_connector_need_the_access_of_its_issues() {
    let person = EmployeeId::from_ulid(Ulid(1));
    let notice = Notice {
        kind: Type::ConnectorSyncFailed,
        to: Recipients::OrgAdmins,
        title: "A change was refused".to_owned(),
        body: "`ada@example.com` is an org admin".to_owned(),
        target: Target { kind: "connector".to_owned(), id: "x".to_owned() },
    };
    let notification = notice.for_recipient(NotificationId::from_ulid(Ulid(2)), person, Timestamp::from_millis(5));
    for (caller, shows) in [
        (unbound(AccessLevel::Admin), true),
        (bound_caller(person, true).with_level(AccessLevel::Admin), true),
        (bound_caller(person, false).with_level(AccessLevel::Admin), false),
    ] {
        let visible_notification = notification.shown_to(&caller, true);
        assert_eq!(visible_notification.title.is_some(), shows, "{caller:?}");
        assert_eq!(visible_notification.body.is_some(), shows, "{caller:?}");
    }
}

#[test]
fn bound_key_sees_notifications_of_its_person_only() {
    let [own, other] = [1, 2].map(|id| EmployeeId::from_ulid(Ulid(id)));
    let to = |recipient_id| Filter { recipient_id, unread: Some(true) };
    let table = [
        (None, None, Some(None)),
        (None, Some(other), Some(Some(other))),
        (Some(own), None, Some(Some(own))),
        (Some(own), Some(own), Some(Some(own))),
        (Some(own), Some(other), None),
    ];
    for (person, asked, gets) in table {
        for is_org_admin in [false, true] {
            let caller =
                person.map_or_else(|| unbound(AccessLevel::Admin), |person| bound_caller(person, is_org_admin));
            assert_eq!(to(asked).seen_by(&caller), gets.map(to), "{person:?} {asked:?}");
        }
    }
}
