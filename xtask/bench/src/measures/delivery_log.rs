//! The log of deliveries of all subscriptions against that of one, and counts of observations.

use super::*;
use crate::data::{self, numbers};
use candor_domain::id::WebhookId;
use serde_json::json;

/// Upper bound for the cost of a page of all deliveries, as a multiple of a page of one subscription.
const MAX_COST: f64 = 1.5;
const SUBSCRIPTIONS: u32 = 5;
/// Number of the deep page. It is lower if the log of one subscription has fewer pages.
const DEEP_PAGE: u32 = 1_000;
const PAGE: u32 = 50;
/// Days over which the attempts are spread. They end two days ago, before the partitions that the service creates.
const DAYS: u32 = 10;
/// One in `FAILED` attempts has failed.
const FAILED: u32 = 20;
const READERS: usize = 4;

const MAX_COUNT_MILLIS: f64 = 300.0;

/// Measures pages of `GET /deliveries` against pages of the log of one subscription, among as many attempts as
/// there are observations.
pub(super) fn pages(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let webhooks = subscriptions(instance)?;
    let attempts = data.size.observations;
    load(instance, &webhooks, attempts)?;
    let of_one = format!("/v1/webhooks/{}/deliveries?limit={PAGE}", webhooks[0]);
    let of_all = format!("/v1/deliveries?limit={PAGE}");
    let deep = DEEP_PAGE.min(attempts / SUBSCRIPTIONS / PAGE / 2);
    let mut lines = vec![];
    for page in [1, deep] {
        let paths = [&of_all, &of_one].map(|path| page_at(instance, path, page));
        let [all, one] = paths;
        let contenders =
            [all?, one?].map(|path| instance.contender(Traffic::read(&instance.api.key, path), READERS, 0));
        let what = format!(
            "Page {} of {} deliveries against that of one subscription",
            grouped(page.into()),
            grouped(attempts.into())
        );
        lines.push(data.compare_reads(instance, &contenders)?.cost(what, MAX_COST));
    }
    Ok(lines)
}

/// Creates subscriptions to a type of which no event happens.
fn subscriptions(instance: &Instance) -> Result<Vec<WebhookId>> {
    let create = |number| {
        let url = format!("http://127.0.0.1:9/{number}");
        let body = json!({"url": url, "event_types": ["employee.rehired"]});
        Ok(instance.api.create("/v1/webhooks", &body)?.parse()?)
    };
    (0..SUBSCRIPTIONS).map(create).collect()
}

/// Stores attempts of all subscriptions in turn.
fn load(instance: &Instance, webhooks: &[WebhookId], attempts: u32) -> Result {
    let (database, store) = (instance.database()?, instance.store);
    let partitions = (2..2 + DAYS).map(|day| {
        format!(
            "CREATE TABLE deliveries_bench_{day} PARTITION OF deliveries \
             FOR VALUES FROM (current_date - {day}) TO (current_date - {day} + 1);"
        )
    });
    database.begin_load()?;
    database.run_by_store(&partitions.collect::<String>(), "")?;
    let webhook =
        (0..).zip(webhooks).map(|(number, id)| format!(" WHEN {number} THEN {}", store.bytes(id.to_bytes())));
    let webhook = format!("CASE k % {SUBSCRIPTIONS}{} END", webhook.collect::<String>());
    let seconds = format!("k * CAST({} AS bigint) / {attempts}", 86_400 * DAYS);
    let start = store.pick(
        format!("extract(epoch FROM (current_date - {})::timestamptz)::bigint", 1 + DAYS),
        format!("(unixepoch() / 86400 - {}) * 86400", 1 + DAYS),
    );
    let millis = format!("({start} + {seconds}) * 1000 + k % 1000");
    let (id, at) = (store.id_of_time(&millis, "k"), store.time(&millis));
    database.run(&format!(
        "INSERT INTO deliveries (tenant_id, id, webhook_id, event_id, event_type, attempt, status, request_url, \
         response_status, response_duration_ms, next_attempt_at, delivered_at, created_at, attempted_at, failure) {} \
         SELECT {}, {id}, {webhook}, {}, 'observation.created', 1, \
         CASE WHEN k % {FAILED} = 0 THEN 'failed' ELSE 'success' END, 'http://127.0.0.1:9/hook', \
         CASE WHEN k % {FAILED} = 0 THEN 500 ELSE 200 END, k % 90, NULL, \
         CASE WHEN k % {FAILED} = 0 THEN NULL ELSE {at} END, {at}, {at}, \
         CASE WHEN k % {FAILED} = 0 THEN 'status' END FROM n",
        numbers(attempts),
        store.bytes(instance.tenant),
        store.id(data::EVENTS, "k"),
    ))?;
    database.end_load()
}

/// Returns the path of a page, with the cursor that the pages before it lead to.
fn page_at(instance: &Instance, first: &str, page: u32) -> Result<String> {
    let mut path = first.to_owned();
    for _ in 1..page {
        let answer = instance.api.get(&path)?;
        let cursor = answer["next_cursor"].as_str();
        let cursor = cursor.ok_or_else(|| format!("{path} has no next page"))?;
        path = format!("{first}&cursor={cursor}");
    }
    Ok(path)
}

/// Measures counts of all observations by one member, one request at a time.
pub(super) fn counts(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let count = |member: &str| {
        let path = format!("/v1/observations/counts?group_by={member}");
        let groups = instance.api.get(&path)?["data"].as_array().map_or(0, Vec::len);
        let alone = [instance.contender(Traffic::read(&instance.api.key, path), 1, 0)];
        let comparison = data.compare_reads(instance, &alone)?;
        let millis = typical(&comparison.samples[0], |sample| sample.within(0.5));
        let what = format!("Counts of {} observations by {member}", grouped(data.size.observations.into()));
        Ok(Line {
            against: format!("{groups} groups"),
            ..comparison.line(what, (millis, "ms"), Limit::AtMost(MAX_COUNT_MILLIS))
        })
    };
    ["type", "month", "type,month"].into_iter().map(count).collect()
}
