//! Mapping of invitations, and their lists.

use candor_domain::fields::Word;
use candor_domain::id::{EmployeeId, Id, InvitationKind};
use candor_domain::page::SortBy;
use candor_domain::people::Invitation;
use candor_domain::people::invitation::InvitationMail;

use super::column;
use crate::error::Corrupt;
use crate::flat::{BackgroundWorker, Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::listing::{Listing, TypedListing, sort_column};
use crate::read::By;

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("employee_id", Type::Id),
        column("token_hash", Type::Bytes),
        column("created_at", Type::Time),
        column("accepted_at", Type::Time),
        column("revoked_at", Type::Time),
        // Null if the invitation is not emailed.
        column("mail_status", Type::Text),
        column("mail_token", Type::Bytes),
        column("mail_attempts", Type::Int),
        column("mail_due_at", Type::Time),
        column("mail_attempted_at", Type::Time),
        column("mail_failure", Type::Text),
    ],
    indexes: &[Index::on(&["employee_id", "created_at", "id"])],
    wakes: Some(BackgroundWorker::Mail),
    ..Table::named("invitations")
};

impl Stored for Invitation {
    type Kind = InvitationKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.id(self.employee_id);
        out.put(Cell::Bytes(self.token_hash.to_vec()));
        out.time(self.created_at);
        out.opt_time(self.accepted_at);
        out.opt_time(self.revoked_at);
        let mail = self.mail.as_ref();
        out.opt_word(mail.map(|it| it.status));
        out.opt_bytes(mail.and_then(|it| it.sealed_token.clone()));
        out.opt_int(mail.map(|it| it.attempts.into()));
        out.opt_time(mail.and_then(|it| it.due_at));
        out.opt_time(mail.and_then(|it| it.attempted_at));
        out.opt_word(mail.and_then(|it| it.failure));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        Ok(Self {
            id: row.id()?,
            employee_id: row.id()?,
            token_hash: row.bytes32()?,
            created_at: row.time()?,
            accepted_at: row.opt_time()?,
            revoked_at: row.opt_time()?,
            mail: mail(row)?,
        })
    }
}

fn mail(row: &mut Reader<'_>) -> Result<Option<InvitationMail>, Corrupt> {
    let status = row.opt_parse(|text| Word::from_word(text).ok())?;
    let sealed_token = row.opt_bytes()?;
    let attempts = row.opt_small()?.unwrap_or_default();
    let (due_at, attempted_at) = (row.opt_time()?, row.opt_time()?);
    let failure = row.opt_parse(|text| Word::from_word(text).ok())?;
    let mail = |status| InvitationMail { status, sealed_token, attempts, due_at, attempted_at, failure };
    Ok(status.map(mail))
}

/// Lookup by invited person.
pub const BY_EMPLOYEE: By<Invitation> = By::column("employee_id", Type::Id);
/// Lookup by token hash.
pub const BY_TOKEN: By<Invitation> = By::column("token_hash", Type::Bytes);

/// List with the latest invitation of a person.
#[must_use]
pub fn newest(employee: EmployeeId) -> TypedListing<Invitation> {
    let mut it = Listing::ordered::<Invitation>(sort_column(SortBy::CreatedAt), true, 1);
    it.is(column("employee_id", Type::Id), Some(employee));
    it.alone()
}
