// Exports: every line of a data set, continued from the last checkpoint where an answer breaks off.

import { ApiError, ConnectionError } from "./errors.js";
import type { ExportLine, ExportRow, ExportedResource } from "./generated/types.js";
import { type Core, isTransient, sleep } from "./request.js";

/** Settings of `export`. */
export interface ExportOptions {
  /** Resources to export; by default all. */
  resources?: readonly ExportedResource[] | undefined;
  /** Cursor of a checkpoint to continue from, of an export with the same resources. */
  cursor?: string | undefined;
  /** Ends the export. */
  signal?: AbortSignal | undefined;
}

/** Interruptions without a new checkpoint after which an export fails. */
const MAX_FAILURES = 8;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

/** Yields the lines of an export. */
export async function* exportLines(
  core: Core,
  options: ExportOptions,
): AsyncGenerator<ExportLine, void, undefined> {
  const { resources, signal } = options;
  let { cursor } = options;
  let failures = 0;
  let hasHeader = false;
  const isNew = newRows();
  for (;;) {
    try {
      const spec = { method: "GET", path: "/exports", query: { resources, cursor }, joined: ["resources"] };
      for await (const line of core.lines(spec, signal)) {
        if (isExportRow(line)) {
          // Later answers repeat rows behind the checkpoint, and the header.
          if (isNew(line.type, line.data.id)) yield line;
          continue;
        }
        switch (line.type) {
          case "header":
            if (!hasHeader) yield line;
            hasHeader = true;
            break;
          case "checkpoint":
            cursor = line.cursor;
            failures = 0;
            yield line;
            break;
          case "end":
            yield line;
            return;
          default: // A line that a later version of the service adds.
        }
      }
      throw new ConnectionError("The export ended before its last line.");
    } catch (error) {
      failures += 1;
      if (signal?.aborted || failures > MAX_FAILURES || !isTransient(error)) throw error;
      const least = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
      await sleep(Math.max(pause, least), signal);
    }
  }
}

/**
 * Returns `true` if the line is the row of a resource, also one of a type that this version does not describe.
 */
export function isExportRow(line: ExportLine): line is ExportRow {
  return "data" in line;
}

/** Returns a function that tells whether a row is new. Rows are in the order of type and id. */
function newRows(): (type: string, id: string) => boolean {
  const complete = new Set<string>();
  let last: { type: string; id: string } | undefined;
  return (type, id) => {
    if (complete.has(type) || (type === last?.type && id <= last.id)) return false;
    if (last !== undefined && type !== last.type) complete.add(last.type);
    last = { type, id };
    return true;
  };
}
