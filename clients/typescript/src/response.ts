// Raw answers: status, headers, request id and quota beside the typed body.

import type { Core, RequestOptions, Spec } from "./request.js";

/** State of the quota that a request counted against. */
export interface RateLimitState {
  limit: number;
  remaining: number;
  /** Time at which the window is empty again. */
  reset: Date;
}

/** An answer without its body. */
export interface AnswerInfo {
  status: number;
  headers: Headers;
  requestId: string | undefined;
  rateLimit: RateLimitState | undefined;
  /** Version of the resource, for `ifMatch` and `ifNoneMatch`. */
  etag: string | undefined;
  /** `true` if this is the stored answer to an earlier request with the same idempotency key. */
  replayed: boolean;
  /** Number of earlier attempts of this call. */
  retries: number;
}

/** An answer with its body. */
export interface Answer<T> extends AnswerInfo {
  data: T;
}

/** A received answer. Its getters parse the headers on each access. */
export class ReceivedAnswer<T> implements Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly retries: number;
  data: T;

  constructor(response: Response, retries: number, data: T) {
    this.status = response.status;
    this.headers = response.headers;
    this.retries = retries;
    this.data = data;
  }

  get requestId(): string | undefined {
    return this.headers.get("x-request-id") ?? undefined;
  }

  get rateLimit(): RateLimitState | undefined {
    const limit = this.headers.get("x-ratelimit-limit");
    if (limit === null) return undefined;
    const reset = new Date(Number(this.headers.get("x-ratelimit-reset")) * 1000);
    return { limit: Number(limit), remaining: Number(this.headers.get("x-ratelimit-remaining")), reset };
  }

  get etag(): string | undefined {
    return this.headers.get("etag") ?? undefined;
  }

  get replayed(): boolean {
    return this.headers.get("idempotent-replayed") === "true";
  }
}

/** A promise of the body of an answer. `withResponse()` returns the whole answer. */
export class AnswerPromise<T> extends Promise<T> {
  readonly #answer: Promise<Answer<T>>;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(core: Core, spec: Spec, options: RequestOptions | undefined, convert?: (answer: Answer<unknown>) => T) {
    const answer = core.send(spec, options);
    const whole = convert
      ? answer.then((raw) => Object.assign(raw, { data: convert(raw) }))
      : (answer as Promise<Answer<T>>);
    super((resolve, reject) => void whole.then((done) => resolve(done.data), reject));
    this.#answer = whole;
  }

  /** Returns the body together with status, headers, request id and quota. */
  withResponse(): Promise<Answer<T>> {
    // The caller handles a failure of the returned promise; that of this one would count as unhandled.
    this.catch(() => {});
    return this.#answer;
  }
}
