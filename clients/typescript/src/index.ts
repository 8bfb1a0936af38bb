// The client, and all names that the package exports.

import { EventFeed } from "./events.js";
import { exportLines, type ExportOptions } from "./export.js";
import { Resources } from "./generated/resources.js";
import type { ExportLine } from "./generated/types.js";
import { type ClientOptions, Core, type RawRequest, requested } from "./request.js";
import { AnswerPromise } from "./response.js";

/** A client of one Candor service with one API key. It uses the connections of `fetch`, so short-lived clients are fine. */
export class Candor extends Resources {
  override readonly events: EventFeed;

  readonly #core: Core;

  constructor(options: ClientOptions = {}) {
    const core = new Core(options);
    super(core);
    this.#core = core;
    this.events = new EventFeed(core);
  }

  /**
   * Sends a request by method and path, for instance `request("GET", "/employees")`.
   *
   * `path` is that of the API document, with or without `/v1`. It is retried and answered as the other methods are.
   */
  request<T = unknown>(method: string, path: string, request: RawRequest = {}): AnswerPromise<T> {
    const { body, query, ...options } = request;
    return new AnswerPromise<T>(this.#core, requested(method, path, body, query), options);
  }

  /**
   * Yields every resource of the organization, as lines in the order of resource and id.
   *
   * The first line is the header with `events_cursor`. Pass it to `events.changes` afterwards: the rows, and then every
   * event from there on, result in the current data. An interrupted answer is continued from its last checkpoint, and
   * each row comes once. The line `end` has the counts of the last answer. To continue in another process, store the
   * `cursor` of a checkpoint and pass it with the same `resources`. Needs the scope `exports:read` and an admin-level key
   * of the organization.
   */
  export(options: ExportOptions = {}): AsyncGenerator<ExportLine, void, undefined> {
    return exportLines(this.#core, options);
  }
}

export default Candor;
export * from "./errors.js";
export * from "./generated/errors.js";
export * from "./generated/types.js";
export { ChangeBatch, Removal, type RowData } from "./changes.js";
export type { DryRun, DryRunOptions, Preview } from "./dry-run.js";
export { type ChangesOptions, EventFeed, type FollowOptions, isKnownEvent } from "./events.js";
export type { ExportOptions } from "./export.js";
export { Page, PagePromise } from "./pages.js";
export { AnswerPromise, type Answer, type AnswerInfo, type RateLimitState } from "./response.js";
export type { ClientOptions, LogEntry, RawRequest, RequestOptions } from "./request.js";
export { isThinEvent, webhooks, WebhookVerificationError } from "./webhooks.js";
export type { DeliveredEvent, UnwrapOptions, WebhookHeaders } from "./webhooks.js";
export { VERSION } from "./version.js";
