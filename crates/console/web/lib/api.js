// Requests to `/v1`. Each is kept in `log`, from which the drawer shows them as curl, TypeScript and Python.
//
//   const query = { limit: 50, "filter[role]": ["manager"] };
//   const { data, etag } = await request("GET", "/employees", { query });
//   await request("PATCH", `/employees/${id}`, { body: { job_title: "…" }, etag });
//
// With `lines: true` the data is the text of the answer. A failure is an ApiError. 429 and 503 wait for `Retry-After` and
// say so in `waiting`, a request without an answer is in `slow`, and the person can cancel both; 401 ends the session and
// keeps the screen with everything typed. Each POST has one Idempotency-Key for all its attempts.

import { store } from "./view.js";

/** @typedef {Record<string, string | number | boolean | string[] | null | undefined>} Query */
/** @typedef {{ field?: string, code?: string, message?: string, required_scope?: string, current?: unknown,
 *   required_access_level?: string, key_environment?: string, attempted_transition?: string,
 *   quota?: string, limit?: number, window_seconds?: number }} Detail */
/** @typedef {{ query?: Query, body?: unknown, csv?: string, etag?: string | null, signal?: AbortSignal,
 *   key?: string, quiet?: boolean, lines?: boolean }} Options */
/** @typedef {{ limit: number, remaining: number, reset: number }} Quota */
/** @typedef {{ id: number, method: string, path: string, query: Query, body: unknown, csv: boolean,
 *   status: number | null, milliseconds: number, requestId: string | null }} LoggedRequest */
/**
 * @template T
 * @typedef {{ data: T, status: number, etag: string | null, requestId: string | null, headers: Headers }} Answer
 */

const API = "/v1";
const MOST_LOGGED = 20;
const MOST_ATTEMPTS = 4;
const LONGEST_WAIT_S = 60;
/** Time within which a read is answered. A write has none: it may be done although its answer is late. */
const READ_TIMEOUT_MS = 30_000;
/** Time after which a request without an answer is shown, with a way to cancel it. */
const SLOW_MS = 5000;

/** An answer other than 2xx, or no answer at all (status 0). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{ code?: string, message?: string, details?: Detail[], request_id?: string }} error
   * @param {number} [retryAfter]
   */
  constructor(status, error, retryAfter) {
    super(error.message ?? "");
    this.status = status;
    this.code = error.code ?? "";
    /** @type {Detail[]} */
    this.details = error.details ?? [];
    this.requestId = error.request_id ?? null;
    this.retryAfter = retryAfter;
  }

  /** Scope that the key lacks. */
  get missingScope() {
    return this.details.find((detail) => detail.required_scope)?.required_scope ?? null;
  }
}

/** Requests of the current screen, newest first. */
export const log = store(/** @type {LoggedRequest[]} */ ([]));
/** The wait that the service asked for, while there is one. */
export const waiting = store(/** @type {{ until: number, status: number, cancel: () => void } | null} */ (null));
/** Requests that have waited for their answer for a while. */
export const slow = store(/** @type {{ cancel: () => void }[]} */ ([]));
/** Number of writes that were answered. Every read on the screen is repeated after one. */
export const written = store(0);
/** Quotas by class, from the headers of the last answers. */
export const quotas = store(/** @type {Record<string, Quota>} */ ({}));

/** Access of the requests. `session.js` sets it. */
export const access = {
  key: /** @type {string | null} */ (null),
  /** Called when the service no longer accepts the key. */
  refused: /** @type {(key: string) => void} */ (() => {}),
};

let lastId = 0;

/** @param {Query} query */
export function queryString(query) {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) pairs.append(name, String(one));
  }
  const text = pairs.toString().replaceAll("%5B", "[").replaceAll("%5D", "]");
  return text ? `?${text}` : "";
}

/** @param {number} milliseconds @param {AbortSignal} signal */
const pause = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });

/** Requests that count against a quota of their own, whose headers say nothing about reads and writes. @type {[RegExp, string][]} */
const OWN_QUOTAS = [[/^POST \/employees\/csv$/, "csv"], [/^POST \/webhooks\/[^/]+\/test$/, "webhook_test"],
  [/^GET \/(exports|employees\/[^/]+\/personal-data)$/, "export"]];

/** @param {string} method @param {string} path @param {Headers} headers */
function rememberQuota(method, path, headers) {
  const limit = Number(headers.get("x-ratelimit-limit"));
  if (!limit) return;
  const remaining = Number(headers.get("x-ratelimit-remaining"));
  const quota = { limit, remaining, reset: Number(headers.get("x-ratelimit-reset")) };
  const own = OWN_QUOTAS.find(([shape]) => shape.test(`${method} ${path}`))?.[1];
  quotas.set({ ...quotas.value, [own ?? (method === "GET" ? "read" : "write")]: quota });
}

/** @param {LoggedRequest} entry @param {Partial<LoggedRequest>} changes */
const amend = (entry, changes) =>
  log.set(log.value.map((other) => (other.id === entry.id ? { ...other, ...changes } : other)));

/**
 * @param {string} method @param {string} path @param {Options} options @param {Headers} headers
 * @param {AbortSignal} stop
 * @returns {Promise<{ answer: Response, text: string }>}
 */
async function attempt(method, path, options, headers, stop) {
  const body = options.csv ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  // A download of lines takes as long as there is data.
  const timeout = method === "GET" && !options.lines ? AbortSignal.timeout(READ_TIMEOUT_MS) : undefined;
  const signals = timeout ? [stop, timeout] : [stop];
  const init = { method, headers, body, signal: AbortSignal.any(signals), cache: /** @type {const} */ ("no-store") };
  try {
    const answer = await fetch(API + path + queryString(options.query ?? {}), init);
    return { answer, text: await answer.text() };
  } catch (error) {
    if (stop.aborted) throw error;
    throw new ApiError(0, { code: timeout?.aborted ? "no_answer" : "no_connection" });
  }
}

/** @param {string} method @param {Options} options @param {string} key */
function headersOf(method, options, key) {
  const headers = new Headers({ accept: "application/json" });
  if (key) headers.set("authorization", `Bearer ${key}`);
  if (options.csv !== undefined) headers.set("content-type", "text/csv");
  else if (options.body !== undefined) headers.set("content-type", "application/json");
  if (options.etag) headers.set("if-match", options.etag);
  if (method === "POST") headers.set("idempotency-key", crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`);
  return headers;
}

/** @param {string} text */
function parsed(text) {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

/**
 * Sends a request and returns its answer. The path of a GET decides the type of the answer.
 * @template {string} P
 * @overload
 * @param {"GET"} method
 * @param {P} path below `/v1`
 * @param {Options} [options]
 * @returns {Promise<Answer<import("../gets").AnswerTo<P>>>}
 */
/**
 * @overload
 * @param {string} method
 * @param {string} path below `/v1`
 * @param {Options} [options]
 * @returns {Promise<Answer<any>>}
 */
/**
 * @param {string} method
 * @param {string} path below `/v1`
 * @param {Options} [options]
 * @returns {Promise<Answer<any>>}
 */
export async function request(method, path, options = {}) {
  const canceled = new AbortController();
  const stop = options.signal ? AbortSignal.any([options.signal, canceled.signal]) : canceled.signal;
  const one = { cancel: () => canceled.abort() };
  const timer = setTimeout(() => slow.set([...slow.value, one]), SLOW_MS);
  try {
    return await answered(method, path, options, stop, one.cancel);
  } catch (error) {
    const isCanceled = canceled.signal.aborted && !options.signal?.aborted && !(error instanceof ApiError);
    throw isCanceled ? new ApiError(0, { code: method === "GET" ? "canceled" : "canceled_write" }) : error;
  } finally {
    clearTimeout(timer);
    slow.set(slow.value.filter((other) => other !== one));
  }
}

/**
 * Sends a request again while the service asks for it.
 * @param {string} method @param {string} path @param {Options} options @param {AbortSignal} stop
 * @param {() => void} cancel
 * @returns {Promise<Answer<any>>}
 */
async function answered(method, path, options, stop, cancel) {
  const key = options.key ?? access.key ?? "";
  const headers = headersOf(method, options, key);
  /** @type {LoggedRequest} */
  const entry = {
    id: ++lastId, method, path, query: options.query ?? {}, body: options.body, csv: options.csv !== undefined,
    status: null, milliseconds: 0, requestId: null,
  };
  if (!options.quiet)
    log.set([entry, ...log.value.filter((other) => !isSame(other, entry))].slice(0, MOST_LOGGED));
  for (let count = 1; ; count += 1) {
    const started = performance.now();
    const { answer, text } = await attempt(method, path, options, headers, stop);
    const requestId = answer.headers.get("x-request-id");
    rememberQuota(method, path, answer.headers);
    if (!options.quiet) {
      amend(entry, { status: answer.status, milliseconds: Math.round(performance.now() - started), requestId });
    }
    if (answer.ok) {
      const { status, headers } = answer;
      if (method !== "GET" && !options.quiet && !options.query?.["dry_run"]) written.set(written.value + 1);
      return { data: options.lines ? text : parsed(text), status, etag: headers.get("etag"), requestId, headers };
    }
    const retryAfter = Number(answer.headers.get("retry-after")) || undefined;
    const error = new ApiError(answer.status, parsed(text)?.error ?? { request_id: requestId }, retryAfter);
    const isTemporary = answer.status === 429 || answer.status === 503;
    if (isTemporary && count < MOST_ATTEMPTS && (retryAfter ?? 1) <= LONGEST_WAIT_S) {
      const milliseconds = (retryAfter ?? 1) * 1000;
      waiting.set({ until: Date.now() + milliseconds, status: answer.status, cancel });
      await pause(milliseconds, stop).finally(() => waiting.set(null)).catch((reason) => {
        // A 429 is no answer of unknown effect: nothing was done.
        throw answer.status === 429 ? new ApiError(0, { code: "canceled" }) : reason;
      });
      continue;
    }
    if (answer.status === 401) access.refused(key);
    throw error;
  }
}

/** @param {LoggedRequest} one @param {LoggedRequest} other */
const isSame = (one, other) =>
  one.method === "GET" && other.method === "GET" && one.path === other.path &&
  queryString(one.query) === queryString(other.query);

/**
 * Reads a list to its end, or until `most` entries.
 * @template {string} P
 * @param {P} path @param {Query} query @param {number} most @param {AbortSignal} [signal]
 * @returns {Promise<{ rows: import("./data.js").RowOf<P>[], isComplete: boolean }>}
 */
export async function readAll(path, query, most, signal) {
  /** @type {import("./data.js").RowOf<P>[]} */
  const rows = [];
  for (let cursor = /** @type {string | null} */ (null); ; ) {
    const answer = await request("GET", path, { query: { limit: 100, ...query, cursor }, signal });
    /** @type {import("./data.js").Page<import("./data.js").RowOf<P>>} */
    const data = /** @type {any} */ (answer.data);
    rows.push(...data.data);
    cursor = data.next_cursor;
    if (!data.has_more) return { rows, isComplete: true };
    if (rows.length >= most) return { rows, isComplete: false };
  }
}
