//! Gives up mails of expired invitations. Removes their sealed tokens also where no mail server is configured.

use candor_domain::people::invitation::VALID_SECONDS;
use candor_domain::people::{Invitation, Status};
use candor_port_storage::mail_queue::MailKey;
use candor_port_storage::queue::{Lease, WorkerId};
use candor_port_storage::{StorageExt, Versioned};

use super::record::{release, save};
use crate::context::error::Error;
use crate::context::services::Services;

/// Number of mails in one claim.
const BATCH: u16 = 100;
/// Lease duration in seconds, well above the time that a batch takes.
const LEASE_SECONDS: i64 = 60;

/// Gives up every mail that has been due for as long as an invitation is valid. Returns the number of mails.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call continues with the rest.
pub async fn give_up_expired(services: &Services) -> Result<usize, Error> {
    let worker = WorkerId(services.ids.ulid(services.clock.now()).to_bytes());
    let mut given_up = 0;
    loop {
        let now = services.clock.now();
        let lease = Lease { worker, until: now.plus_seconds(LEASE_SECONDS) };
        // Mails that were due `VALID_SECONDS` ago belong to invitations that have expired by now.
        let mails = services.store.claim_mails(lease, now.plus_seconds(-VALID_SECONDS), BATCH, &[]).await?;
        let count = mails.len();
        for mail in &mails {
            if let Some(expired_invitation) = expire_mail(services, *mail).await? {
                given_up += usize::from(save(services, *mail, &expired_invitation).await?);
            }
        }
        release(services, worker, mails).await?;
        if count < usize::from(BATCH) {
            return Ok(given_up);
        }
    }
}

async fn expire_mail(services: &Services, (tenant, id): MailKey) -> Result<Option<Versioned<Invitation>>, Error> {
    let Some(Versioned { value, version }) = services.store.row::<Invitation>(tenant, id).await? else {
        return Ok(None);
    };
    // The invitation has expired, so the current status of the person does not matter.
    let failed_invitation = value.token_to_send(Status::PendingInvite, services.clock.now()).err();
    Ok(failed_invitation.map(|invitation| Versioned { value: *invitation, version }))
}
