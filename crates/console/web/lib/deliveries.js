// Deliveries over all subscriptions, and the statistics of each, which `expand=stats` reads with a subscription.

import { useList } from "./data.js";
import { endOfDay, hour, startOfDay } from "./format.js";

/** @typedef {import("../types").Delivery} Delivery */
/**
 * @typedef {{ attempts: number, successes: number, failures: number, p50: number | null, p95: number | null,
 *   queued: number, oldestQueuedAt: string | null, nextAttemptAt: string | null,
 *   reasons: { reason: string, count: number }[],
 *   hours: { hour: string, successes: number, failures: number }[] }} Stats
 */

const HOUR_MS = 3_600_000;

/** The name of a subscription: its description, or its URL. @param {{ description: string | null, url: string }} one */
export const nameOf = (one) => one.description || one.url;

/** @param {Delivery} entry */
export const isFailure = (entry) => entry.status !== "success";

/** Statistics as the charts read them. @param {import("../types").DeliveryStats} data @returns {Stats} */
export const reported = (data) => ({
  attempts: data.attempts, successes: data.successes, failures: data.failures, p50: data.p50_ms, p95: data.p95_ms,
  queued: data.queued,
  oldestQueuedAt: data.oldest_queued_at, nextAttemptAt: data.next_attempt_at,
  reasons: data.failures_by_reason.map(({ reason, count }) =>
    ({ reason: reason ?? "other", count })),
  hours: data.by_hour,
});

/** Statistics of a subscription that was read with them; null if there are too many attempts. @param {import("../types").Webhook} webhook */
export const statsOf = ({ stats }) => stats ? reported(stats) : null;

/** Hours of the last day as bars of a chart. @param {Stats[]} stats @param {number} [now] */
export function barsOf(stats, now = Date.now()) {
  const first = Math.floor(now / HOUR_MS) * HOUR_MS - 23 * HOUR_MS;
  const bars = Array.from({ length: 24 }, (_, at) => ({ name: hour(first + at * HOUR_MS), good: 0, bad: 0 }));
  for (const slot of stats.flatMap((one) => one.hours)) {
    const bar = bars[Math.round((new Date(slot.hour).getTime() - first) / HOUR_MS)];
    if (bar) {
      bar.good += slot.successes;
      bar.bad += slot.failures;
    }
  }
  return bars;
}

/**
 * Sum of the statistics of several subscriptions; the slowest one decides the durations.
 * @param {Stats[]} all
 * @returns {Stats}
 */
export function total(all) {
  const sum = (/** @type {(one: Stats) => number} */ of) => all.reduce((before, one) => before + of(one), 0);
  const most = (/** @type {(number | null)[]} */ values) =>
    values.reduce((a, b) => (b !== null && (a === null || b > a) ? b : a), null);
  return {
    attempts: sum((one) => one.attempts), successes: sum((one) => one.successes),
    failures: sum((one) => one.failures),
    p50: most(all.map((one) => one.p50)), p95: most(all.map((one) => one.p95)), queued: sum((one) => one.queued),
    oldestQueuedAt: all.map((one) => one.oldestQueuedAt).filter(Boolean).sort()[0] ?? null, reasons: [],
    nextAttemptAt: all.map((one) => one.nextAttemptAt).filter(Boolean).sort()[0] ?? null,
    hours: all.flatMap((one) => one.hours),
  };
}

/**
 * The log over all subscriptions, newest first. Without a filter nothing is read, for keys that may not.
 * @param {Record<string, string | undefined> | null} filter
 */
export const useAllDeliveries = (filter) => useList(filter && "/deliveries", filter ? {
  "filter[status]": filter.state, "filter[event_type]": filter.type, "filter[event_id]": filter.event,
  "filter[subscription_id]": filter.webhook,
  "filter[attempted_at][gte]": filter.from && startOfDay(filter.from),
  "filter[attempted_at][lte]": filter.to && endOfDay(filter.to),
} : {});
