//! Records the results of mails with the events of their invitations, and decides again for invitations that
//! changed meanwhile.

use candor_domain::audit::{AuditDraft, Changes, Target};
use candor_domain::people::invitation::MailStatus;
use candor_domain::people::{Employee, Invitation, Status};
use candor_port_storage::mail_queue::{MailKey, MailResult};
use candor_port_storage::queue::WorkerId;
use candor_port_storage::{ChangeSet, Row, StorageExt, Versioned, Write};

use super::mailer::MailerShared;
use crate::context::error::Error;
use crate::context::invitation_events;
use crate::context::services::Services;

/// Results that are recorded together.
pub(super) type Batch = Vec<(MailKey, MailResult)>;

/// Name of this actor in the audit log.
const MAILER: &str = "mailer";

/// Saves an invitation after an attempt, with the event of its change. Returns `false` if another change of the
/// invitation was committed first.
///
/// # Errors
/// Errors of the store.
pub(super) async fn save(
    services: &Services,
    (tenant, id): MailKey,
    changed: &Versioned<Invitation>,
) -> Result<bool, Error> {
    let Some(row_before) = services.store.row::<Invitation>(tenant, id).await? else { return Ok(false) };
    if row_before.version != changed.version {
        return Ok(false);
    }
    let person = services.store.row::<Employee>(tenant, row_before.value.employee_id).await?;
    let status = person.map_or(Status::PendingInvite, |person| person.value.status);
    let now = services.clock.now();
    let target = Target { kind: "invitation".to_owned(), id: id.to_string() };
    let draft = AuditDraft { action: "invitation.mail", target, changes: Changes::new(), comment: None };
    let mut change = ChangeSet::new(services.entry_of_system(MAILER, draft, now));
    change.events = invitation_events::events(services, Some(&row_before.value), &changed.value, status, now)?;
    change.writes = vec![Write::put(&Row::at_version(changed.value.clone(), changed.version))];
    services.commit_unless_stale(tenant, change).await
}

/// Ends the leases of these mails.
///
/// # Errors
/// Errors of the store.
pub(super) async fn release(services: &Services, worker: WorkerId, mails: Vec<MailKey>) -> Result<(), Error> {
    let releases = mails.into_iter().map(|mail| (mail, MailResult::Released)).collect();
    services.store.record_mails(worker, releases).await?;
    Ok(())
}

impl MailerShared {
    /// Records a batch.
    ///
    /// # Errors
    /// Returns the results that were not recorded if the store is unavailable.
    pub(super) async fn record(&self, batch: Batch) -> Result<(), Batch> {
        let mut records = vec![];
        let mut rest = batch.into_iter();
        while let Some((mail, result)) = rest.next() {
            match self.record_one(mail, &result).await {
                Ok(()) => records.push(mail),
                Err(error @ (Error::Unavailable(_) | Error::TooSlow(_))) => {
                    tracing::warn!(%error, "cannot record the results of mails; retrying soon");
                    return Err(std::iter::once((mail, result)).chain(rest).collect());
                }
                // The lease is not ended: the mail may have been sent, and another worker would send it again at once.
                Err(error) => tracing::error!(
                    %error,
                    "cannot record the result of a mail; the mail may be sent again when its lease expires"
                ),
            }
        }
        if let Err(error) = release(&self.services, self.worker, records).await {
            // The leases end by themselves, and recorded mails are due later or not at all.
            tracing::warn!(%error, "cannot release the leases of mails; the leases expire on their own");
        }
        Ok(())
    }

    async fn record_one(&self, mail: MailKey, result: &MailResult) -> Result<(), Error> {
        let MailResult::Changed(changed) = result else { return Ok(()) };
        if save(&self.services, mail, changed).await? {
            return Ok(());
        }
        if let Some(sent_invitation) = self.sent_all_the_same(mail, &changed.value).await?
            && save(&self.services, mail, &sent_invitation).await?
        {
            return Ok(());
        }
        self.metrics.lost.increment(1);
        Ok(())
    }

    /// Returns the invitation to save for a mail that was sent while another change of its invitation was
    /// committed, such as its revocation. `None` if the mail was not sent, or if this result is stored already.
    async fn sent_all_the_same(
        &self,
        (tenant, id): MailKey,
        sent: &Invitation,
    ) -> Result<Option<Versioned<Invitation>>, Error> {
        let Some(mail) = sent.mail.as_ref().filter(|mail| mail.status == MailStatus::Sent) else {
            return Ok(None);
        };
        let attempt_time = mail.attempted_at.unwrap_or_else(|| self.services.clock.now());
        let current_invitation = self.services.store.row::<Invitation>(tenant, id).await?;
        let is_stored = |invitation: &Invitation| {
            invitation
                .mail
                .as_ref()
                .is_some_and(|row| row.status == MailStatus::Sent && row.attempted_at == mail.attempted_at)
        };
        let open = current_invitation.filter(|row| !is_stored(&row.value));
        Ok(open.map(|Versioned { value, version }| Versioned {
            value: value.mail_attempted(Ok(()), attempt_time),
            version,
        }))
    }
}
