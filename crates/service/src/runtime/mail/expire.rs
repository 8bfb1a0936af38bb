//! Mails that nobody sends any more: the tokens of invitations that have expired go also where no mail server is set.

use candor_domain::people::invitation::VALID_SECONDS;
use candor_domain::people::{Invitation, Status};
use candor_port_storage::mail_queue::{MailKey, MailResult};
use candor_port_storage::queue::{Lease, WorkerId};
use candor_port_storage::{StorageExt, Versioned};

use crate::context::error::Error;
use crate::context::services::Services;

/// Mails looked at once.
const BATCH: u16 = 100;
/// Longer than that takes.
const LEASE_SECONDS: i64 = 60;

/// Gives up every mail that has been due for as long as an invitation is good; says how many these were.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what is left is done the next time.
pub async fn give_up_expired(services: &Services) -> Result<usize, Error> {
    let worker = WorkerId(services.ids.ulid(services.clock.now()).to_bytes());
    let mut given_up = 0;
    loop {
        let now = services.clock.now();
        let lease = Lease { worker, until: now.plus_seconds(LEASE_SECONDS) };
        // Whatever was due then belongs to an invitation that has expired by now.
        let mails = services.store.claim_mails(lease, now.plus_seconds(-VALID_SECONDS), BATCH).await?;
        let count = mails.len();
        let mut results = vec![];
        for mail in mails {
            results.extend(ended(services, mail).await?.map(|change| (mail, change)));
        }
        given_up += results.len();
        services.store.record_mails(worker, results).await?;
        if count < usize::from(BATCH) {
            return Ok(given_up);
        }
    }
}

async fn ended(services: &Services, (tenant, id): MailKey) -> Result<Option<MailResult>, Error> {
    let Some(Versioned { value, version }) = services.store.row::<Invitation>(tenant, id).await? else {
        return Ok(None);
    };
    // Whoever the person is by now, it is too late.
    let ended = value.token_to_send(Status::PendingInvite, services.clock.now()).err();
    Ok(ended.map(|invitation| MailResult::Changed(Box::new(Versioned { value: *invitation, version }))))
}
