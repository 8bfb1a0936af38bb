// Dry runs: the effects of a write, without any change.

import type { DryRun as Effects } from "./generated/types.js";

/**
 * The body that the real call would return. Ids and secrets that the real call would create are null. The whole body is
 * null if the real call returns none.
 */
export type Preview<T> = T extends void ? null : { [Member in keyof T]: T[Member] | null };

/** The effects of a call that was not carried out. `data` is the body that it would return, see `Preview`. */
export interface DryRun<T> extends Omit<Effects, "data"> {
  data: Preview<T>;
}
