import type { Candor } from "@candor/client";

/** Copies all resources of the organization; returns the position from which their changes follow. */
export async function copy(candor: Candor, rows: Map<string, unknown>): Promise<string | undefined> {
  let position: string | undefined;
  for await (const line of candor.export()) {
    if ("events_cursor" in line) position = line.events_cursor;
    if ("data" in line) rows.set(String(line.data["id"]), line.data);
  }
  return position;
}

/** Applies events to the copy until the signal is aborted. */
export async function follow(
  candor: Candor,
  rows: Map<string, unknown>,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of candor.events.follow({ cursor, signal })) {
    const data = event.data as { id: string; ids?: string[]; erased?: boolean };
    if (event.event === "retention.removed") data.ids?.forEach((id) => rows.delete(id));
    else if (!data.erased) rows.set(data.id, event.data);
  }
}
