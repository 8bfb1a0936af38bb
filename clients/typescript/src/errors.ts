// Errors: one base class, one subclass for each code of the service, and one for requests without an answer.

import type { ErrorDetail, ErrorResponse } from "./generated/types.js";
import type { AnswerInfo } from "./response.js";

/** Base class of every error that this library throws for a request. */
export class CandorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A request that got no complete answer, after its retries: no connection, a broken one, or a timeout. */
export class ConnectionError extends CandorError {}

/** A request whose answer took longer than the timeout. */
export class TimeoutError extends ConnectionError {}

/** The answer 304: the resource still has the version of `ifNoneMatch`. */
export class NotModifiedError extends CandorError {}

/** An answer that is not a success. Subclasses stand for known codes; a code of a later version is this class. */
export class ApiError extends CandorError {
  /** Stable code: branch on it, or on the class. */
  readonly code: string;
  readonly status: number;
  /** One entry for each issue; empty where the service has nothing to add. */
  readonly details: ErrorDetail[];
  readonly requestId: string | undefined;
  readonly headers: Headers;
  /** Seconds until a retry is worth it, from `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(answer: AnswerInfo, body: Partial<ErrorResponse> | undefined) {
    const error = body?.error;
    super(error?.message ?? `The service answered ${answer.status}.`);
    this.code = error?.code ?? "unknown";
    this.status = answer.status;
    this.details = Array.isArray(error?.details) ? error.details : [];
    this.requestId = error?.request_id ?? answer.requestId;
    this.headers = answer.headers;
    this.retryAfter = retryAfter(answer.headers);
  }
}

/** Seconds of `Retry-After`, in either of its forms. */
export function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
