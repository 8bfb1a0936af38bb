//! Mails with invitations: what is queued is claimed and sent, and what became of it is recorded (decisions G).
//!
//! The row of an invitation is the outbox: the sealed token of its link stands there until the mail is sent. Each process
//! that sends has one [`Mailer`]. What it does, and when, is decided by the [`Outbox`](candor_dispatch::Outbox), a machine
//! without I/O; what is here calls the store and the mail server for it. As with deliveries, mails are sent outside of any
//! transaction, and if the process dies, its leases run out and another one sends. That is why somebody may get a mail
//! twice, which then has the same Message-ID.

mod attempt;
mod expire;
mod invitation_email;
mod mailer;
mod metrics;
mod record;

pub use expire::give_up_expired;
pub use mailer::Mailer;
