// Deliveries over all subscriptions and their statistics. A service without these operations is asked for the log
// of each subscription instead.

import { ApiError, readAll, request } from "./api.js";
import { asApiError } from "./data.js";
import { hour } from "./format.js";
import { useEffect, useState } from "./view.js";

/** @typedef {import("../types").Delivery} Delivery */
/** @typedef {import("../types").Webhook} Webhook */
/** @typedef {{ attempts: number, successes: number, failures: number, p50: number | null, p95: number | null, queued: number | null,
 *   oldestQueuedAt: string | null, nextAttemptAt: string | null, lastFailure: Delivery | null, reasons: { reason: string, count: number }[],
 *   hours: { hour: string, successes: number, failures: number }[], isPartial?: boolean }} Stats */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Attempts of a log that are read to derive statistics of it. */
const MOST_READ = 1000;

/** @param {Delivery} entry */
export const isFailure = (entry) => entry.status !== "success";

/** @param {unknown} error */
const isUnknownRoute = (error) => error instanceof ApiError && (error.status === 404 || error.status === 405);

/** Statistics of attempts. @param {Delivery[]} log @param {number} now @returns {Stats} */
function derived(log, now) {
  const recent = log.filter((entry) => new Date(entry.attempted_at).getTime() >= now - DAY_MS);
  const times = recent.filter((entry) => entry.response_status > 0).map((entry) => entry.response_duration_ms).sort((a, b) => a - b);
  const failed = recent.filter(isFailure);
  /** @type {Map<string, number>} */
  const reasons = new Map();
  for (const entry of failed) reasons.set(entry.failure ?? "other", (reasons.get(entry.failure ?? "other") ?? 0) + 1);
  /** @type {Map<number, { hour: string, successes: number, failures: number }>} */
  const hours = new Map();
  for (const entry of recent) {
    const start = Math.floor(new Date(entry.attempted_at).getTime() / HOUR_MS) * HOUR_MS;
    const slot = hours.get(start) ?? { hour: new Date(start).toISOString(), successes: 0, failures: 0 };
    slot[isFailure(entry) ? "failures" : "successes"] += 1;
    hours.set(start, slot);
  }
  const next = failed.map((entry) => entry.next_attempt_at).filter((at) => at && new Date(at).getTime() > now).sort()[0] ?? null;
  return {
    attempts: recent.length, successes: recent.length - failed.length, failures: failed.length,
    p50: times[Math.floor(times.length * 0.5)] ?? null, p95: times[Math.floor(times.length * 0.95)] ?? null,
    queued: null, oldestQueuedAt: null, nextAttemptAt: next, lastFailure: failed[0] ?? null,
    reasons: [...reasons].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count), hours: [...hours.values()],
  };
}

/** @param {any} data @returns {Stats} */
const reported = (data) => ({
  attempts: data.attempts, successes: data.successes, failures: data.failures, p50: data.p50_ms, p95: data.p95_ms, queued: data.queued,
  oldestQueuedAt: data.oldest_queued_at, nextAttemptAt: data.next_attempt_at, lastFailure: null, reasons: data.failures_by_reason,
  hours: data.by_hour,
});

/** @param {string} id @param {AbortSignal} signal @returns {Promise<Stats>} */
async function statsOf(id, signal) {
  try {
    const { data } = await request("GET", `/webhooks/${id}/stats`, { query: { window: "24h" }, signal });
    return reported(data);
  } catch (error) {
    if (!isUnknownRoute(error)) throw error;
  }
  const { rows, isComplete } = await readAll(`/webhooks/${id}/deliveries`, {}, MOST_READ, signal);
  return { ...derived(rows, Date.now()), isPartial: !isComplete };
}

/** Statistics of the last 24 hours by subscription. @param {string[] | null} ids @param {number} [turn] */
export function useStats(ids, turn = 0) {
  const [state, setState] = useState({ data: /** @type {Record<string, Stats> | null} */ (null), error: /** @type {ApiError | null} */ (null), isLoading: true });
  const name = ids?.join(" ") ?? null;
  const [again, setAgain] = useState(0);
  useEffect(() => {
    if (ids === null) return undefined;
    const stop = new AbortController();
    Promise.all(ids.map(async (id) => /** @type {const} */ ([id, await statsOf(id, stop.signal)]))).then(
      (pairs) => setState({ data: Object.fromEntries(pairs), error: null, isLoading: false }),
      (error) => stop.signal.aborted || setState({ data: null, error: asApiError(error), isLoading: false }),
    );
    return () => stop.abort();
  }, [name, turn, again]);
  return { ...state, reload: () => setAgain((count) => count + 1) };
}

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

/** Sum of the statistics of several subscriptions; the slowest one decides the durations. @param {Stats[]} all @returns {Stats} */
export function total(all) {
  const sum = (/** @type {(one: Stats) => number} */ of) => all.reduce((before, one) => before + of(one), 0);
  const most = (/** @type {(number | null)[]} */ values) => values.reduce((a, b) => (b !== null && (a === null || b > a) ? b : a), null);
  const isCounted = all.some((one) => one.queued !== null);
  return {
    attempts: sum((one) => one.attempts), successes: sum((one) => one.successes), failures: sum((one) => one.failures),
    p50: most(all.map((one) => one.p50)), p95: most(all.map((one) => one.p95)), queued: isCounted ? sum((one) => one.queued ?? 0) : null,
    oldestQueuedAt: all.map((one) => one.oldestQueuedAt).filter(Boolean).sort()[0] ?? null, lastFailure: null, reasons: [],
    isPartial: all.some((one) => one.isPartial),
    nextAttemptAt: all.map((one) => one.nextAttemptAt).filter(Boolean).sort()[0] ?? null, hours: all.flatMap((one) => one.hours),
  };
}

/**
 * The log over all subscriptions, newest first. Without the operation for it, the newest attempts of each log.
 * @param {Webhook[] | null} webhooks @param {Record<string, string | undefined>} filter
 */
export function useAllDeliveries(webhooks, filter) {
  const empty = { rows: /** @type {Delivery[] | null} */ (null), error: /** @type {ApiError | null} */ (null), isLoading: true, cursor: /** @type {string | null} */ (null) };
  const [state, setState] = useState(empty);
  const [isMore, setIsMore] = useState(false);
  const [turn, setTurn] = useState(0);
  const ids = webhooks?.map((one) => one.id) ?? null;
  const query = {
    "filter[status]": filter.state, "filter[event_type]": filter.type, "filter[event_id]": filter.event,
    "filter[subscription_id]": filter.webhook, "filter[attempted_at][gte]": filter.from && `${filter.from}T00:00:00Z`,
    "filter[attempted_at][lte]": filter.to && `${filter.to}T23:59:59.999Z`,
  };
  const name = `${ids?.join(" ")} ${JSON.stringify(query)} ${turn}`;
  useEffect(() => {
    if (ids === null) return undefined;
    const stop = new AbortController();
    const read = request("GET", "/deliveries", { query: { limit: 50, ...query }, signal: stop.signal }).catch(async (error) => {
      if (!isUnknownRoute(error)) throw error;
      return { data: { data: await gathered(ids, filter, stop.signal), has_more: false, next_cursor: null } };
    });
    setState((before) => ({ ...before, isLoading: true }));
    read.then(
      ({ data }) => setState({ rows: data.data, error: null, isLoading: false, cursor: data.has_more ? data.next_cursor : null }),
      (error) => stop.signal.aborted || setState({ ...empty, error: asApiError(error), isLoading: false }),
    );
    return () => stop.abort();
  }, [name]);
  const more = async () => {
    setIsMore(true);
    try {
      const { data } = await request("GET", "/deliveries", { query: { limit: 50, ...query, cursor: state.cursor } });
      setState((before) => ({ ...before, rows: [...(before.rows ?? []), ...data.data], cursor: data.has_more ? data.next_cursor : null }));
    } catch (error) {
      setState((before) => ({ ...before, error: asApiError(error) }));
    } finally {
      setIsMore(false);
    }
  };
  const { rows, error, isLoading, cursor } = state;
  return { rows, error, isLoading, hasMore: cursor !== null, isMore, more, reload: () => setTurn((count) => count + 1) };
}

/** @param {string[]} ids @param {Record<string, string | undefined>} filter @param {AbortSignal} signal */
async function gathered(ids, filter, signal) {
  const query = { limit: 100, "filter[status]": filter.state, "filter[event_type]": filter.type, "filter[event_id]": filter.event };
  const wanted = filter.webhook ? ids.filter((id) => id === filter.webhook) : ids;
  const logs = await Promise.all(wanted.map((id) => request("GET", `/webhooks/${id}/deliveries`, { query, signal })));
  const from = filter.from ? `${filter.from}T00:00:00Z` : "";
  const to = filter.to ? `${filter.to}T23:59:59.999Z` : "9";
  const rows = /** @type {Delivery[]} */ (logs.flatMap(({ data }) => data.data));
  return rows.filter(({ attempted_at: at }) => at >= from && at <= to).sort((a, b) => b.attempted_at.localeCompare(a.attempted_at));
}
