//! Records the results of mails, and decides again for invitations that changed meanwhile.

use candor_domain::people::Invitation;
use candor_domain::people::invitation::MailStatus;
use candor_port_storage::error::Read;
use candor_port_storage::mail_queue::{MailKey, MailResult};
use candor_port_storage::{StorageError, StorageExt, Versioned};

use super::mailer::MailerShared;

/// Results that one write records.
pub(super) type Batch = Vec<(MailKey, MailResult)>;

impl MailerShared {
    /// Records a batch.
    ///
    /// # Errors
    /// Returns the batch if the store is unavailable.
    pub(super) async fn record(&self, batch: Batch) -> Result<(), Batch> {
        match self.try_to(&batch).await {
            Ok(()) => Ok(()),
            Err(error @ (StorageError::Unavailable(_) | StorageError::TooSlow(_))) => {
                tracing::warn!(%error, "could not record what became of mails; tried again soon");
                Err(batch)
            }
            Err(error @ (StorageError::Corrupt { .. } | StorageError::Failed(_))) => {
                tracing::error!(%error, mails = batch.len(), "what became of mails cannot be recorded");
                Ok(())
            }
        }
    }

    async fn try_to(&self, batch: &Batch) -> Read<()> {
        let lost = self.services.store.record_mails(self.worker, batch.clone()).await?;
        if lost.is_empty() {
            return Ok(());
        }
        let is_sent = |result: &MailResult| match result {
            MailResult::Changed(it) => it.value.mail.as_ref().is_some_and(|mail| mail.status == MailStatus::Sent),
            MailResult::Released => false,
        };
        let mut anew = vec![];
        for (key, result) in batch.iter().filter(|(key, result)| lost.contains(key) && is_sent(result)) {
            anew.extend(self.sent_all_the_same(*key, result).await?.map(|change| (*key, change)));
        }
        let still_lost = self.services.store.record_mails(self.worker, anew).await?;
        self.metrics.lost.increment(u64::try_from(still_lost.len()).unwrap_or_default());
        Ok(())
    }

    /// Returns the result to record for a mail that was sent while its invitation was accepted or revoked.
    async fn sent_all_the_same(&self, (tenant, id): MailKey, result: &MailResult) -> Read<Option<MailResult>> {
        let MailResult::Changed(sent) = result else { return Ok(None) };
        let at = sent
            .value
            .mail
            .as_ref()
            .and_then(|mail| mail.attempted_at)
            .unwrap_or_else(|| self.services.clock.now());
        let stored = self.services.store.row::<Invitation>(tenant, id).await?;
        Ok(stored.map(|Versioned { value, version }| {
            MailResult::Changed(Box::new(Versioned { value: value.mail_attempted(Ok(()), at), version }))
        }))
    }
}
