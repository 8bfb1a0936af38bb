import type { Candor, Employee } from "@candor/client";

/** Keeps a copy of all employees current until the signal is aborted. */
export async function replicate(
  candor: Candor,
  people: Map<string, Employee>,
  signal: AbortSignal,
): Promise<void> {
  // The position first: changes during the list are then in the feed.
  const { nextCursor } = await candor.events.list({ since: "now" });
  for await (const person of candor.employees.list({ filter: { status: "all" } })) {
    people.set(person.id, person);
  }
  for await (const batch of candor.events.changes({ cursor: nextCursor ?? undefined, signal })) {
    for (const row of batch.upserts) {
      if (row.type === "employee") people.set(row.data.id, row.data);
    }
  }
}
