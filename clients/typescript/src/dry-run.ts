// Dry runs: the effects of a write, without any change.

import type { DryRun as Effects } from "./generated/types.js";
import type { RequestOptions } from "./request.js";

/** Settings of a call that returns the effects of its operation instead of carrying it out. */
export interface DryRunOptions extends Omit<RequestOptions, "dryRun"> {
  dryRun: true;
}

/**
 * The body of an answer to a dry run. Ids and secrets that the real call would make are null; all of it is null if the
 * real answer has no body.
 */
export type Preview<T> = T extends void ? null : { [Member in keyof T]: T[Member] | null };

/** The effects of a call, found without any change. `data` is the body of the real answer, see `Preview`. */
export interface DryRun<T> extends Omit<Effects, "data"> {
  data: Preview<T>;
}
