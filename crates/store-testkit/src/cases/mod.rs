//! Cases for the rules of the storage port, by area.

mod assignments;
mod batches;
mod check_ins;
mod checks;
mod claims;
mod clock_jumps;
mod commits;
mod content_filters;
mod conversations;
mod counts;
mod crowds;
mod dropped;
mod faults;
mod feed;
mod filters;
mod health;
mod histories;
mod identity;
mod itself;
mod keyed_texts;
mod keys;
mod large;
mod lists;
mod log;
mod log_of_all;
mod mails;
mod metadata;
mod objectives;
mod older_rows;
mod pages;
mod population;
mod provisioning;
mod queue;
mod rates;
mod records;
mod redelivery;
mod removals;
mod reporting;
mod request_counts;
mod requires;
mod rows;
mod search;
mod slow;
mod sooner;
mod summaries;
mod teams;
mod tenants;
mod twins;
mod uniques;
mod upkeep;
mod webhooks;
mod wide_moves;

use crate::Case;

/// Returns all cases, the most error-prone ones first.
pub(crate) fn all() -> Vec<Case> {
    let areas = [
        commits::cases(),
        histories::cases(),
        crowds::cases(),
        twins::cases(),
        uniques::cases(),
        keyed_texts::cases(),
        requires::cases(),
        checks::cases(),
        reporting::cases(),
        wide_moves::cases(),
        teams::cases(),
        dropped::cases(),
        feed::cases(),
        slow::cases(),
        pages::cases(),
        large::cases(),
        filters::cases(),
        search::cases(),
        tenants::cases(),
        rows::cases(),
        keys::cases(),
        upkeep::cases(),
        itself::cases(),
        objectives::cases(),
        check_ins::cases(),
        older_rows::cases(),
        conversations::cases(),
        assignments::cases(),
        faults::cases(),
        batches::cases(),
        queue::cases(),
        clock_jumps::cases(),
        content_filters::cases(),
        claims::cases(),
        rates::cases(),
        records::cases(),
        health::cases(),
        webhooks::cases(),
        log::cases(),
        mails::cases(),
        metadata::cases(),
        redelivery::cases(),
        removals::cases(),
        sooner::cases(),
        summaries::cases(),
        counts::cases(),
        log_of_all::cases(),
        provisioning::cases(),
        identity::cases(),
        request_counts::cases(),
    ];
    areas.into_iter().flatten().collect()
}
