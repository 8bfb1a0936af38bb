// Errors: one base class, one subclass for each code of the service, and one for requests without an answer.

import type { ErrorDetail, ErrorResponse } from "./generated/types.js";
import type { ResponseInfo } from "./response.js";

/** Base class of every error that this library throws for a request. */
export class CandorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No attempt of a request got a complete answer: the connection failed or broke, or the timeout ended it. */
export class ConnectionError extends CandorError {}

/** The answer took longer than the timeout. */
export class TimeoutError extends ConnectionError {}

/** The answer 304: the resource still has the version of `ifNoneMatch`. */
export class NotModifiedError extends CandorError {}

/**
 * An error response. `message` has the reason, each problem, the status, the code and the request id. Each known code has a subclass; codes of later
 * versions have this class.
 */
export class ApiError extends CandorError {
  /** Stable code: branch on it, or on the class. */
  readonly code: string;
  readonly status: number;
  /** Explanation of the service for people, without the details. */
  readonly reason: string;
  /** One entry for each problem; empty if the service gives no details. */
  readonly details: ErrorDetail[];
  readonly requestId: string | undefined;
  readonly headers: Headers;
  /** Seconds to wait before a retry, from `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(answer: ResponseInfo, body: Partial<ErrorResponse> | undefined) {
    const error = body?.error;
    const reason = error?.message ?? `The service answered ${answer.status}.`;
    const details = Array.isArray(error?.details) ? error.details : [];
    const code = error?.code ?? "unknown";
    const requestId = error?.request_id ?? answer.requestId;
    const seconds = retryAfter(answer.headers);
    const pause = answer.status === 429 && seconds !== undefined ? [`send it again after ${Math.round(seconds)} s`] : [];
    const parts = [withoutDot(reason.replace(/ See `details`\.$/, "")), ...details.flatMap(problem), ...pause];
    super(`${parts.join("; ")} (${answer.status} ${code}${requestId ? `, request ${requestId}` : ""})`);
    this.reason = reason;
    this.code = code;
    this.status = answer.status;
    this.details = details;
    this.requestId = requestId;
    this.headers = answer.headers;
    this.retryAfter = seconds;
  }

  /** Seconds of the window of the quota that a 429 names. */
  get quotaWindow(): number | undefined {
    for (const detail of this.details as unknown[]) {
      const seconds = (detail as { window_seconds?: unknown } | null)?.window_seconds;
      if (typeof seconds === "number") return seconds;
    }
    return undefined;
  }
}

/** Returns field and message of a detail about one field. */
function problem(detail: unknown): string[] {
  const { field, message } = (detail ?? {}) as { field?: unknown; message?: unknown };
  return field === undefined || message === undefined ? [] : [`${field} ${withoutDot(String(message))}`];
}

function withoutDot(text: string): string {
  return text.replace(/\.+$/, "");
}

/** Returns the seconds of `Retry-After`, which is a number or a date. */
export function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
