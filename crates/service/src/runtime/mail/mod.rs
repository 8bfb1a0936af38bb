//! Mails with invitations: what is queued is claimed and sent, and what became of it is recorded (decisions G).
//!
//! The row of an invitation is the outbox: the sealed token of its link stands there until the mail is sent. Each process
//! that sends has one [`Mailer`], a loop that claims due mails, sends a few at once, and records the results. Mails are
//! sent outside of any transaction. If the process dies, its leases expire and another one sends, so a person may get a
//! mail twice, with the same Message-ID.

mod attempt;
mod expire;
mod invitation_email;
mod mailer;
mod metrics;
mod record;
mod server_pause;

pub use expire::give_up_expired;
pub use mailer::Mailer;
