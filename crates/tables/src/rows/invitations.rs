//! Mapping of invitations, and their lookups.

use candor_domain::id::{EmployeeId, InvitationKind};
use candor_domain::page::{PageRequest, SortBy};
use candor_domain::params::Bounds;
use candor_domain::people::Invitation;
use candor_domain::people::invitation::{InvitationMail, MailCounter};
use candor_domain::time::Timestamp;

use super::column;
use crate::flat::{BackgroundWorker, Index, SqlValue, Table, Type};
use crate::listing::{Listing, TypedListing, sort_column};
use crate::read::LookupColumn;
use crate::stored::stored;

stored! {
    Invitation, id: InvitationKind, row: invitation;
    columns {
        id: IdColumn,
        employee_id: IdColumn,
        token_hash: Bytes,
        created_at: Time,
        accepted_at: Option<Time>,
        revoked_at: Option<Time>,
        // Null if no mail was requested.
        mail_status: Option<OneOfColumn> = invitation.mail.as_ref().map(|mail| mail.status),
        mail_token: Option<Bytes> = invitation.mail.as_ref().and_then(|mail| mail.sealed_token.clone()),
        mail_attempts: Option<Int> = invitation.mail.as_ref().map(|mail| mail.attempts),
        mail_due_at: Option<Time> = invitation.mail.as_ref().and_then(|mail| mail.due_at),
        mail_attempted_at: Option<Time> = invitation.mail.as_ref().and_then(|mail| mail.attempted_at),
        mail_failure: Option<OneOfColumn> = invitation.mail.as_ref().and_then(|mail| mail.failure),
        domain_hash: Option<Bytes>,
    }
    fields {
        mail: mail_status.map(|status| InvitationMail {
            status,
            sealed_token: mail_token,
            attempts: mail_attempts.unwrap_or_default(),
            due_at: mail_due_at,
            attempted_at: mail_attempted_at,
            failure: mail_failure,
        }),
    }
    table Table {
        indexes: &[
            Index::of_columns(&["employee_id", "created_at", "id"]),
            Index::of_columns(&["accepted_at", "id"]),
            Index::of_columns(&["domain_hash", "accepted_at", "id"]),
        ],
        wakes: Some(BackgroundWorker::Mail),
        ..Table::with_name("invitations")
    };
}

/// Lookup by the invited person, who may have many invitations.
pub const BY_EMPLOYEE: LookupColumn<Invitation> = LookupColumn::column("employee_id", Type::Id);
/// Lookup by the hash of the token.
pub const BY_TOKEN: LookupColumn<Invitation> = LookupColumn::column("token_hash", Type::Bytes);

/// List of the accepted invitations, the earliest accepted first. Contains only those to `domain`, if it is given;
/// see `MailCounter::for_domain`.
#[must_use]
pub fn list_accepted(domain: Option<MailCounter>, most: u16) -> TypedListing<Invitation> {
    let accepted_at = column("accepted_at", Type::Time);
    let mut it = Listing::new_ordered::<Invitation>(accepted_at, false, most);
    it.is(column("domain_hash", Type::Bytes), domain.map(|domain| SqlValue::Bytes(domain.0.to_vec())));
    it.restrict_to_bounds(accepted_at, Bounds { gte: Some(Timestamp::from_millis(0)), lte: None }, SqlValue::Time);
    it.into_list()
}

/// List of the invitations of a person, the oldest ones first.
#[must_use]
pub fn list_for_person(employee: EmployeeId, page: &PageRequest) -> TypedListing<Invitation> {
    let mut it = Listing::ordered_after::<Invitation>(sort_column(SortBy::CreatedAt), page);
    it.is(column("employee_id", Type::Id), Some(employee));
    it.into_list()
}

/// List that contains only the newest invitation of a person.
#[must_use]
pub fn newest(employee: EmployeeId) -> TypedListing<Invitation> {
    let mut it = Listing::new_ordered::<Invitation>(sort_column(SortBy::CreatedAt), true, 1);
    it.is(column("employee_id", Type::Id), Some(employee));
    it.into_list()
}
