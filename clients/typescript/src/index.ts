// The client, and all names that the package exports.

import type { DryRun } from "./dry-run.js";
import { EmployeeImport } from "./employees.js";
import { CandorError } from "./errors.js";
import { EventFeed } from "./events.js";
import { exportLines, type ExportOptions } from "./export.js";
import { Resources } from "./generated/resources.js";
import type { CsvReport, ExportLine } from "./generated/types.js";
import { type ClientOptions, Core, type RawRequest, requested } from "./request.js";
import { ResponsePromise } from "./response.js";

type Callable = (...parameters: unknown[]) => unknown;

/** The operations, and the methods that combine several of them. */
class AllResources extends Resources {
  override readonly employees: EmployeeImport;
  override readonly events: EventFeed;

  constructor(core: Core) {
    super(core);
    this.employees = new EmployeeImport(core);
    this.events = new EventFeed(core);
  }
}

/** A client of one Candor service with one API key. It uses the connections of `fetch`, so short-lived clients are fine. */
export class Candor extends AllResources {
  readonly #core: Core;
  /** The same methods, each as a dry run. */
  #previews: AllResources | undefined;

  constructor(options: ClientOptions = {}) {
    const core = new Core(options);
    super(core);
    this.#core = core;
  }

  /** Returns the effects of an import without any change, as the report that it would return. */
  dryRun<Parameters extends unknown[]>(
    method: (...parameters: Parameters) => Promise<CsvReport>,
    ...parameters: Parameters
  ): Promise<CsvReport>;
  /**
   * Returns the effects of a call of a method of this client, without any change.
   *
   * For instance `dryRun(candor.employees.update, id, { job_title: "Engineer" })`. `data` is the body that the call would
   * return; ids and secrets that it would create are null. A CSV file has a form of its own, `CsvReport`.
   */
  dryRun<Parameters extends unknown[], T>(
    method: (...parameters: Parameters) => ResponsePromise<T>,
    ...parameters: Parameters
  ): ResponsePromise<DryRun<T>>;
  dryRun(method: (...parameters: never[]) => unknown, ...parameters: unknown[]): unknown {
    this.#previews ??= new AllResources(this.#core.ofDryRuns());
    const previews = this.#previews as object as Record<string, Callable & Record<string, Callable>>;
    // By name: the method itself would carry the call out.
    for (const [name, member] of Object.entries(this)) {
      if (member === method) return previews[name]?.(...parameters);
      const found = Object.entries(member as object).find(([, value]) => value === method);
      if (found) return previews[name]?.[found[0]]?.(...parameters);
    }
    throw new CandorError("A dry run takes a method of this client, such as `candor.employees.update`: nothing was sent.");
  }

  /**
   * Sends a request by method and path, for instance `request("GET", "/employees")`.
   *
   * `path` is that of the API document, with or without `/v1`. It is retried and answered as the other methods are.
   */
  request<T = unknown>(method: string, path: string, request: RawRequest = {}): ResponsePromise<T> {
    const { body, query, ...options } = request;
    return new ResponsePromise<T>(this.#core, requested(method, path, body, query), options);
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
/** The classes of `candor.employees` and so on, to name their types. */
export * as resources from "./generated/resources.js";
export { ChangeBatch, isErasedEvent, Removal, type RowData } from "./changes.js";
export type { DryRun, Preview } from "./dry-run.js";
export { EmployeeImport } from "./employees.js";
export { type ChangesOptions, EventFeed, type FollowOptions, isKnownEvent } from "./events.js";
export { type ExportOptions, isExportRow } from "./export.js";
export { Page, PagePromise } from "./pages.js";
export { type ApiResponse, type RateLimitState, type ResponseInfo, ResponsePromise } from "./response.js";
export type { ClientOptions, LogEntry, RawRequest, RequestOptions } from "./request.js";
export { isThinEvent, webhooks, WebhookVerificationError } from "./webhooks.js";
export type { DeliveredEvent, UnwrapOptions, WebhookHeaders } from "./webhooks.js";
export { VERSION } from "./version.js";
