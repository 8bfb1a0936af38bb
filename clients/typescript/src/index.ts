// The client, and all names that the package exports.

import { EventFeed } from "./events.js";
import { Resources } from "./generated/resources.js";
import { type ClientOptions, Core } from "./request.js";

/** A client of one Candor service with one API key. It uses the connections of `fetch`, so short-lived clients are fine. */
export class Candor extends Resources {
  override readonly events: EventFeed;

  constructor(options: ClientOptions = {}) {
    const core = new Core(options);
    super(core);
    this.events = new EventFeed(core);
  }
}

export default Candor;
export * from "./errors.js";
export * from "./generated/errors.js";
export * from "./generated/types.js";
export type { DryRun, DryRunOptions, Preview } from "./dry-run.js";
export { EventFeed, type FollowOptions, isKnownEvent } from "./events.js";
export { Page, PagePromise } from "./pages.js";
export { AnswerPromise, type Answer, type AnswerInfo, type RateLimitState } from "./response.js";
export type { ClientOptions, LogEntry, RequestOptions } from "./request.js";
export { isThinEvent, webhooks, WebhookVerificationError } from "./webhooks.js";
export type { DeliveredEvent, UnwrapOptions, WebhookHeaders } from "./webhooks.js";
export { VERSION } from "./version.js";
