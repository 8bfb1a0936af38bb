//! Sends invitation mails: claims queued mails, sends them and records the results (decisions G).
//!
//! The row of an invitation is the outbox: it has the sealed token of the link until the mail is sent. Each
//! process that sends has one [`Mailer`], a loop that claims due mails, sends a few at once, and records the
//! results. Mails are sent outside of transactions. If the process dies, its leases expire and another process
//! sends. So a person may get a mail twice, with the same Message-ID.

mod attempt;
mod expire;
mod invitation_email;
mod mailer;
mod metrics;
mod record;
mod server_pause;

pub use expire::give_up_expired;
pub use mailer::Mailer;
