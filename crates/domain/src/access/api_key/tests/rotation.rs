//! Tests of rotations, and of the announcements of ends that they plan.

use super::*;

#[test]
fn rotation_and_update_plan_the_announcements_of_ends() {
    let granter = caller(Permissions::ALL, AccessLevel::Admin);
    let end_after = |seconds| Some(NOW.plus_seconds(seconds));
    // end of the key, overlap, announced end of the previous secret
    for (expires_at, overlap, has_previous, announced_end) in [
        (None, 0, false, None),
        (None, 600, true, end_after(600)),
        (end_after(600), 600, true, end_after(600)),
        (end_after(599), 600, true, None),
    ] {
        let rotated_key = ApiKey { expires_at, ..key() }.rotate(&secret(2), overlap, &granter, NOW).unwrap().state;
        let planned_ends = (rotated_key.previous.is_some(), rotated_key.previous_expiring_due);
        assert_eq!(planned_ends, (has_previous, expiring::due(announced_end, NOW)), "{expires_at:?} {overlap}");
        assert!(rotated_key.updated_at > key().updated_at);
    }
    // A rename does not announce the end again.
    let announced_key = ApiKey { expires_at: end_after(1_000_000), ..key() };
    let change = |patch| announced_key.update(patch, None, &granter, NOW).unwrap().unwrap().state;
    let renamed_key = change(Patch { name: Some("Import".to_owned()), ..Patch::default() });
    assert_eq!((renamed_key.remind_at, renamed_key.expiring_due), (None, None));
    let end = end_after(2_000_000);
    let longer_key = change(Patch { expires_at: Some(end), ..Patch::default() });
    let due_times = (reminder::next_due_time(end, NOW), expiring::due(end, NOW));
    assert_eq!((longer_key.remind_at, longer_key.expiring_due), due_times);
}

#[test]
fn session_is_not_rotated() {
    let session = ApiKey { kind: ApiKeyKind::Session, ..key() };
    let rotation = session.rotate(&secret(2), 60, &caller(Permissions::ALL, AccessLevel::Admin), NOW);
    assert!(matches!(rotation, Err(DomainError::Conflict(_))), "{rotation:?}");
}
