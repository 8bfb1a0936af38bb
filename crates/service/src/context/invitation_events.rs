//! Events of invitations, whose JSON form depends on their person and the time (decision F9).

use candor_domain::event::Event;
use candor_domain::people::{Invitation, Status};
use candor_domain::time::Timestamp;

use crate::context::error::Error;
use crate::context::services::{Services, render};

/// Creates the events of a change of an invitation. `before` is `None` for a new invitation, and `person` is the
/// status of the invited person after the change.
///
/// # Errors
/// [`Error::Bug`] if the invitation cannot be rendered.
pub(crate) fn events(
    services: &Services,
    before: Option<&Invitation>,
    after: &Invitation,
    person: Status,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    let kinds: Vec<_> = after.event_since(before).into_iter().collect();
    Ok(services.events(&kinds, &render(&after.view(person, at))?, at))
}
