import { type Candor, isExportRow, type RowData } from "@candor/client";

/** Copies all resources of the organization; returns the position from which their changes follow. */
export async function copy(candor: Candor, rows: Map<string, RowData>): Promise<string | undefined> {
  let position: string | undefined;
  for await (const line of candor.export()) {
    if (line.type === "header") position = line.events_cursor;
    else if (isExportRow(line)) rows.set(line.data.id, line.data);
  }
  return position;
}

/** Applies changes to the copy, removals of erased people included, until the signal is aborted. */
export async function follow(
  candor: Candor,
  rows: Map<string, RowData>,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of candor.events.changes({ cursor, signal })) batch.applyTo(rows);
}
