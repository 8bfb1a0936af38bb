// Requests and retries: one call is sent up to four times within 30 seconds, a POST always with one idempotency key.
// A used-up quota is waited for: its window is longer than that.

import { CandorError, ConnectionError, NotModifiedError, TimeoutError, retryAfter, ApiError } from "./errors.js";
import { ERROR_CLASSES } from "./generated/errors.js";
import { KEYED_FILTERS } from "./generated/tables.js";
import type { ErrorResponse, ExportLine } from "./generated/types.js";
import { type ApiResponse, ReceivedResponse } from "./response.js";
import { VERSION } from "./version.js";

/** Settings of a client. */
export interface ClientOptions {
  /** API key, `cdr_live_…` or `cdr_test_…`; by default that of `CANDOR_API_KEY`. */
  apiKey?: string | undefined;
  /** URL of the service, with or without `/v1`; by default that of `CANDOR_URL`. */
  baseUrl?: string | undefined;
  /** Environment that the key must have. A key of the other one is refused. */
  environment?: "live" | "test" | undefined;
  /** Time limit of one attempt in milliseconds. Default: 30,000. */
  timeout?: number | undefined;
  /** Maximum number of retries of one call. Default: 3. */
  maxRetries?: number | undefined;
  /**
   * Longest time in milliseconds from the first attempt of a call to the start of its last. Default: 30,000, and for a
   * used-up quota its window, at most 65,000.
   */
  maxWait?: number | undefined;
  /** Headers of each request. Those that the library sets, such as `Authorization`, stay its own. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Name of your application, put before this library's name in `User-Agent`. */
  userAgent?: string | undefined;
  /** Called after each attempt. Entries contain neither keys, bodies nor queries. */
  log?: ((entry: LogEntry) => void) | undefined;
  /** Replacement of the platform's `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** Settings of one call. */
export interface RequestOptions {
  /** Idempotency key of a POST. Default: a new one for each call. */
  idempotencyKey?: string | undefined;
  /** ETag of the version to change. */
  ifMatch?: string | undefined;
  /** ETag of a known version; throws `NotModifiedError` while the resource has it. */
  ifNoneMatch?: string | undefined;
  /** Time limit of one attempt in milliseconds. */
  timeout?: number | undefined;
  maxRetries?: number | undefined;
  /** Longest time in milliseconds from the first attempt to the start of the last one. */
  maxWait?: number | undefined;
  /** Headers beside those of the client. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Ends the call, retries included. */
  signal?: AbortSignal | undefined;
}

/** Body, query and settings of a request by method and path. */
export interface RawRequest extends RequestOptions {
  /** JSON body. */
  body?: object | undefined;
  query?: object | undefined;
}

/** One attempt of a call. */
export interface LogEntry {
  method: string;
  path: string;
  attempt: number;
  milliseconds: number;
  status: number | undefined;
  requestId: string | undefined;
  error: string | undefined;
}

/** A request as generated methods describe it. */
export interface Spec {
  method: string;
  path: string;
  query?: object | undefined;
  joined?: string[];
  body?: object | undefined;
  csv?: string;
  hasDryRun?: boolean;
}

const RETRIED_STATUSES: readonly number[] = [408, 429, 502, 503, 504];
const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 3;
/** Longest time from the first attempt to the start of the last one, except for a used-up quota. */
const MAX_WAIT_MS = 30_000;
/** Longest such time for a used-up quota, whose window the error names. */
const MAX_QUOTA_WAIT_MS = 65_000;
/** Window of a quota if the error names none. */
const QUOTA_WINDOW_S = 60;
/** Time after the window of a quota for the random part of the pause. */
const QUOTA_MARGIN_MS = 5_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** Options of a client; `satisfies` keeps the list complete. */
const CLIENT_OPTIONS: ReadonlySet<string> = new Set(
  Object.keys({
    apiKey: true,
    baseUrl: true,
    environment: true,
    timeout: true,
    maxRetries: true,
    maxWait: true,
    headers: true,
    userAgent: true,
    log: true,
    fetch: true,
  } satisfies Record<keyof ClientOptions, true>),
);
/** Options of every call; `satisfies` keeps the list complete. */
const OPTIONS: ReadonlySet<string> = new Set(
  Object.keys({
    idempotencyKey: true,
    ifMatch: true,
    ifNoneMatch: true,
    timeout: true,
    maxRetries: true,
    maxWait: true,
    headers: true,
    signal: true,
  } satisfies Record<keyof RequestOptions, true>),
);

/** Returns the request of a caller by method and path. */
export function requested(method: string, path: string, body?: object, query?: object): Spec {
  if (!path.startsWith("/")) throw new CandorError(`"${path}" is no path: it begins with a slash, such as /employees.`);
  return { method: method.toUpperCase(), path: path.replace(/^\/v1(?=\/)/, ""), body, query };
}

/** Returns the parameters of the query among the options of a call, each with its name. */
export function pick(options: object | undefined, ...names: string[]): object {
  const given = (options ?? {}) as Record<string, unknown>;
  return Object.fromEntries(names.map((name) => [name, given[name]]));
}

/** The part of a client that sends requests. */
export class Core {
  readonly #key: string;
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #given: Record<string, string>;
  readonly #options: ClientOptions;
  /** `true` if each request asks for the effects of its operation only. */
  readonly #isDry: boolean;

  constructor(options: ClientOptions, isDry = false) {
    this.#isDry = isDry;
    const unknown = Object.keys(options).find((name) => !CLIENT_OPTIONS.has(name));
    if (unknown !== undefined) throw new CandorError(`\`${unknown}\` is no option of a client.`);
    const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
    const key = options.apiKey ?? environment?.["CANDOR_API_KEY"];
    const url = options.baseUrl ?? environment?.["CANDOR_URL"];
    if (!key) throw new CandorError("No API key: pass `apiKey`, or set CANDOR_API_KEY.");
    if (!url) throw new CandorError("No URL of the service: pass `baseUrl`, or set CANDOR_URL.");
    if (options.environment && !key.startsWith(`cdr_${options.environment}_`)) {
      throw new CandorError(`The API key is not a ${options.environment} key: pass one, or change \`environment\`.`);
    }
    if (!isServiceUrl(url)) {
      throw new CandorError(`"${url}" is no URL of a service: it needs http:// or https:// and a host.`);
    }
    if (new URL(url).username || new URL(url).password) {
      // The URL is not shown: a password may be in it.
      throw new CandorError("The URL of the service has a user or a password: leave them out, the API key is enough.");
    }
    this.#key = key;
    this.#base = `${url.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
    const agent = `candor-typescript/${VERSION}`;
    this.#headers = { authorization: `Bearer ${this.#key}`, accept: "application/json" };
    this.#given = lowercase(options.headers);
    this.#headers["user-agent"] = options.userAgent ? `${options.userAgent} ${agent}` : agent;
    this.#options = options;
  }

  /** Returns a core with the same settings whose requests change nothing. */
  ofDryRuns(): Core {
    return new Core({ ...this.#options, apiKey: this.#key, baseUrl: this.#base }, true);
  }

  /** Sends a request until it has an answer that a retry would not change. */
  async send(asked: Spec, options: RequestOptions = {}): Promise<ApiResponse<unknown>> {
    refuseUnknown(asked, options);
    if (this.#isDry && !asked.hasDryRun) throw new CandorError("The operation has no dry run, so nothing was sent.");
    const spec = this.#isDry ? { ...asked, query: { ...asked.query, dry_run: true } } : asked;
    const url = this.#base + spec.path + queryString(spec);
    const init = this.#init(spec, options);
    const { signal } = options;
    const maxWait = options.maxWait ?? this.#options.maxWait;
    const timeout = options.timeout ?? this.#options.timeout ?? TIMEOUT_MS;
    const retries = options.maxRetries ?? this.#options.maxRetries ?? MAX_RETRIES;
    const begun = Date.now();
    for (let attempt = 0; ; attempt++) {
      let outcome: ApiResponse<unknown> | CandorError;
      try {
        outcome = await this.#attempt(spec, url, init, attempt, timeout, signal);
      } catch (error) {
        if (signal?.aborted || !(error instanceof CandorError)) throw error;
        outcome = error;
      }
      if (!(outcome instanceof CandorError)) return outcome;
      const pause = attempt < retries ? pauseBefore(attempt + 1, outcome) : undefined;
      if (pause === undefined || Date.now() - begun + pause > (maxWait ?? longestWait(outcome))) throw outcome;
      await sleep(pause, signal);
    }
  }

  /** Yields the lines of one answer as they arrive. Sends the request once. */
  async *lines(spec: Spec, signal: AbortSignal | undefined): AsyncGenerator<ExportLine, void, undefined> {
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const init = { ...this.#init(spec, {}), signal: controller.signal };
      const response = await (this.#options.fetch ?? fetch)(this.#base + spec.path + queryString(spec), init);
      const answer = new ReceivedResponse<unknown>(response, 0, undefined);
      if (!response.ok || response.body === null) throw refusal(answer, parse(await response.text(), response));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ; ) {
        const { done, value } = await reader.read();
        if (done) return;
        const lines = (rest + value).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) yield JSON.parse(line) as ExportLine;
      }
    } catch (error) {
      throw asError(error, controller.signal);
    } finally {
      signal?.removeEventListener("abort", abort);
      controller.abort();
    }
  }

  #init(spec: Spec, options: RequestOptions): RequestInit {
    const headers = { ...this.#given, ...lowercase(options.headers), ...this.#headers } as Record<string, string>;
    if (spec.method === "POST") headers["idempotency-key"] = options.idempotencyKey ?? crypto.randomUUID();
    if (options.ifMatch !== undefined) headers["if-match"] = options.ifMatch;
    if (options.ifNoneMatch !== undefined) headers["if-none-match"] = options.ifNoneMatch;
    const init: RequestInit = { method: spec.method, headers, redirect: "error" };
    if (spec.csv !== undefined) {
      headers["content-type"] = "text/csv";
      init.body = spec.csv;
    } else if (spec.body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(spec.body);
    }
    return init;
  }

  async #attempt(
    spec: Spec,
    url: string,
    init: RequestInit,
    attempt: number,
    timeout: number,
    signal: AbortSignal | undefined,
  ): Promise<ApiResponse<unknown>> {
    signal?.throwIfAborted();
    const begun = Date.now();
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    const timer = setTimeout(() => controller.abort(new TimeoutError(`No answer within ${timeout} ms.`)), timeout);
    signal?.addEventListener("abort", abort, { once: true });
    let [answer, failure]: [ReceivedResponse<unknown> | undefined, unknown] = [undefined, undefined];
    try {
      const response = await (this.#options.fetch ?? fetch)(url, { ...init, signal: controller.signal });
      answer = new ReceivedResponse<unknown>(response, attempt, undefined);
      const text = await response.text();
      if (response.status === 304) throw new NotModifiedError("The resource has the version of `ifNoneMatch`.");
      answer.data = parse(text, response);
      if (!response.ok) throw refusal(answer, answer.data);
      return answer;
    } catch (error) {
      failure = asError(error, controller.signal);
      throw failure;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      this.#options.log?.({
        method: spec.method,
        path: spec.path,
        attempt,
        milliseconds: Date.now() - begun,
        status: answer?.status,
        requestId: answer?.requestId,
        error: failure === undefined ? undefined : failure instanceof Error ? failure.name : String(failure),
      });
    }
  }
}

/** Throws an error for an option without effect, so that a misspelled one does not change the meaning of a call. */
function refuseUnknown(spec: Spec, options: RequestOptions): void {
  const query = new Set(Object.keys(spec.query ?? {}));
  for (const [name, value] of Object.entries<unknown>({ ...options })) {
    if (value === undefined || OPTIONS.has(name) || query.has(name)) continue;
    const hint = /^dry_?run$/i.test(name) ? "; call `candor.dryRun(method, …)`" : "";
    throw new CandorError(`\`${name}\` is no option of ${spec.method} ${spec.path}${hint}.`);
  }
}

function isServiceUrl(text: string): boolean {
  if (!/^https?:\/\/[^/?#]/i.test(text)) return false;
  try {
    return new URL(text).hostname !== "";
  } catch {
    return false;
  }
}

function lowercase(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Returns the error for an answer that is not a success. */
function refusal(answer: ReceivedResponse<unknown>, data: unknown): ApiError {
  const body = data as Partial<ErrorResponse> | undefined;
  const code = body?.error?.code ?? "";
  const Class = (Object.hasOwn(ERROR_CLASSES, code) ? ERROR_CLASSES[code] : undefined) ?? ApiError;
  return new Class(answer, body);
}

/** Returns the query of a request: `filter[name]` for each member of `filter`, a repeated name for several values. */
function queryString(spec: Spec): string {
  if (spec.query === undefined) return "";
  const query = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    if (Array.isArray(value)) for (const entry of value) query.append(name, String(entry));
    else query.append(name, String(value));
  };
  for (const [name, value] of Object.entries(spec.query)) {
    if (spec.joined?.includes(name) && Array.isArray(value)) add(name, value.join(","));
    else if (name !== "filter" || typeof value !== "object") add(name, value);
    else
      for (const [field, condition] of Object.entries(value as object)) {
        if (typeof condition !== "object" || condition === null || Array.isArray(condition)) {
          add(`filter[${field}]`, condition);
          continue;
        }
        for (const [key, part] of Object.entries(condition as object)) {
          add(KEYED_FILTERS.has(field) ? `filter[${field}.${key}]` : `filter[${field}][${key}]`, part);
        }
      }
  }
  const text = query.toString();
  return text && `?${text}`;
}

function parse(text: string, response: Response): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (!response.ok) return undefined;
    throw new ConnectionError("The answer is not complete.", { cause });
  }
}

/** Converts an error of `fetch` to a `ConnectionError`; returns errors of this library unchanged. */
function asError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof CandorError) return error;
  if (signal.aborted) return signal.reason;
  const cause = (error as { cause?: { code?: string; message?: string } } | undefined)?.cause;
  const reason = cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error));
  return new ConnectionError(`The connection failed: ${reason}.`, { cause: error });
}

/** Returns `true` if the failure is temporary, so that a retry may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof ApiError)) return false;
  const advice = error.headers.get("candor-should-retry");
  return advice === "true" || (advice !== "false" && RETRIED_STATUSES.includes(error.status));
}

/** Returns the milliseconds to wait before a retry, or `undefined` if a retry is useless. */
function pauseBefore(retry: number, error: CandorError): number | undefined {
  if (!isTransient(error)) return undefined;
  const jittered = Math.random() * Math.min(FIRST_PAUSE_MS * 2 ** (retry - 1), LONGEST_PAUSE_MS);
  const least = error instanceof ApiError ? (retryAfter(error.headers) ?? 0) * 1000 : 0;
  return least + jittered;
}

/** Returns the longest time in milliseconds from the first attempt to the start of the last one. */
function longestWait(error: CandorError): number {
  if (!(error instanceof ApiError) || error.status !== 429) return MAX_WAIT_MS;
  return Math.min((error.quotaWindow ?? QUOTA_WINDOW_S) * 1000 + QUOTA_MARGIN_MS, MAX_QUOTA_WAIT_MS);
}

/** Resolves after this time; rejects when the signal is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
