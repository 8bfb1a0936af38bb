// Responses: status, headers, request id and quota beside the typed body.

import type { Core, RequestOptions, Spec } from "./request.js";

/** State of the quota that a request counted against. */
export interface RateLimitState {
  limit: number;
  remaining: number;
  /** Time at which the window is empty again. */
  reset: Date;
}

/** A response without its body. */
export interface ResponseInfo {
  status: number;
  headers: Headers;
  requestId: string | undefined;
  rateLimit: RateLimitState | undefined;
  /** Version of the resource, for `ifMatch` and `ifNoneMatch`. */
  etag: string | undefined;
  /** `true` if this is a replay: the response to an earlier request with the same idempotency key. */
  replayed: boolean;
  /** Number of earlier attempts of this call. */
  retries: number;
}

/** A response with its body. */
export interface ApiResponse<T> extends ResponseInfo {
  data: T;
}

/** A received response. Its getters parse the headers on each access. */
export class ReceivedResponse<T> implements ApiResponse<T> {
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

/** A promise of the body of a response. `withResponse()` returns the whole response. */
export class ResponsePromise<T> extends Promise<T> {
  readonly #response: Promise<ApiResponse<T>>;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(core: Core, spec: Spec, options: RequestOptions | undefined, convert?: (response: ApiResponse<unknown>) => T) {
    const response = core.send(spec, options);
    const whole = convert
      ? response.then((raw) => Object.assign(raw, { data: convert(raw) }))
      : (response as Promise<ApiResponse<T>>);
    super((resolve, reject) => void whole.then((done) => resolve(done.data), reject));
    this.#response = whole;
  }

  /** Returns the body together with status, headers, request id and quota. */
  withResponse(): Promise<ApiResponse<T>> {
    // The caller handles a failure of the returned promise; that of this one would count as unhandled.
    this.catch(() => {});
    return this.#response;
  }
}
