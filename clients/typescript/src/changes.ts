// Changes: the feed of events as rows to store and rows to remove.

import { ROW_TYPES } from "./generated/tables.js";
import type { ErasedEvent, ExportRow, ExportRowType, FeedEvent, ThinEvent } from "./generated/types.js";

/** Text that replaces what an erased person wrote, and the titles of conversations about erased data. */
const ERASED = "[erased]";

/** A resource as a row of an export has it. */
export type RowData = ExportRow["data"];

/** The members of a resource by their names, of any type. */
type Members = Readonly<Record<string, unknown>>;

/**
 * Rows that the service removed: those with `ids` and the messages of removed conversations, or those about the erased
 * `person`. Messages of the person, and conversations about the person or a removed row, stay without their texts. A
 * program that applies removals row by row calls `applyToDependent` for the rows that are left.
 */
export class Removal {
  constructor(
    readonly removedAt: string,
    readonly ids: ReadonlySet<string>,
    readonly person: string | null,
  ) {}

  /** Returns a stored row as it is after the removal, or `null` if the row was removed. */
  applyTo<Row extends object>(row: Row): Row | null {
    const members = row as Members;
    if (["id", "conversation_id", "objective_id"].some((name) => this.ids.has(String(members[name])))) return null;
    if (this.person === null) return row;
    if (members["conversation_id"] && members["author_id"] === this.person) return { ...row, body: ERASED };
    if (subjectOf(members) === this.person) return { ...row, title: ERASED, about: null };
    return members["employee_id"] === this.person || members["owner_id"] === this.person ? null : row;
  }

  /**
   * Returns a row as it is after this removal has removed the rows with these ids: check-ins are removed with their
   * objective, and a conversation about erased data loses its title. `null` if the row is removed.
   */
  applyToDependent<Row extends object>(row: Row, removed: ReadonlySet<string>): Row | null {
    const members = row as Members;
    if (removed.has(String(members["objective_id"]))) return null;
    const isErased = this.person !== null && removed.has(String(subjectOf(members)));
    return isErased ? { ...row, title: ERASED, about: null } : row;
  }
}

/**
 * The changes of one page of the feed. Store `upserts`, apply `removals` to all stored rows, and store `cursor`, in one
 * transaction.
 */
export class ChangeBatch {
  constructor(
    /** The last state of each changed resource, as a row of an export. */
    readonly upserts: readonly ExportRow[],
    readonly removals: readonly Removal[],
    /** Position behind these changes: pass it as `cursor` after a restart. */
    readonly cursor: string | null,
  ) {}

  /** Reads the changes of events. */
  static ofEvents(events: readonly FeedEvent[], cursor: string | null): ChangeBatch {
    const removals: Removal[] = [];
    const rows = new Map<string, ExportRow>();
    for (const event of events) {
      const data = event.data as object as Members;
      removals.push(...removalsOf(event.event, event.created_at, data));
      // The texts of an earlier event about an erased person were removed. The removal follows.
      if (isErasedEvent(event)) continue;
      for (const resource of resourcesOf(event.event, data)) {
        const type = rowType(resource);
        if (type === undefined) continue;
        const id = String(resource["id"]);
        rows.delete(id);
        rows.set(id, { type, data: resource } as object as ExportRow);
      }
    }
    return new ChangeBatch([...rows.values()], removals, cursor);
  }

  /** Applies the changes to rows by their ids. A row that is newer than its change stays. */
  applyTo(rows: Map<string, RowData>): void {
    for (const { data } of this.upserts) {
      const stored = rows.get(data.id);
      if (stored === undefined || changedAt(stored) <= changedAt(data)) rows.set(data.id, data);
    }
    for (const removal of this.removals) {
      const removed = replace(rows, (row) => removal.applyTo(row));
      replace(rows, (row) => removal.applyToDependent(row, removed));
    }
  }
}

/** Replaces each row by what is left of it, and returns the ids of the rows of which nothing is. */
function replace(rows: Map<string, RowData>, apply: (row: RowData) => RowData | null): Set<string> {
  const removed = new Set<string>();
  for (const [id, row] of rows) {
    const kept = apply(row);
    if (kept === null) {
      rows.delete(id);
      removed.add(id);
    } else if (kept !== row) rows.set(id, kept);
  }
  return removed;
}

/** Returns the id of what a conversation is about. */
function subjectOf(row: Members): unknown {
  return (row["about"] as { id?: unknown } | null | undefined)?.id;
}

/** Returns `true` for an event whose data was erased, because the person that it was about was erased. */
export function isErasedEvent(event: FeedEvent | ThinEvent): event is ErasedEvent {
  return (event.data as object as Members)["erased"] === true;
}

function removalsOf(event: string, at: string, data: Members): Removal[] {
  if (event === "retention.removed") return [new Removal(at, new Set(data["ids"] as string[]), null)];
  if (event === "employee.erased") return [new Removal(at, new Set(), String(data["id"]))];
  if (event === "erasure.completed") return [new Removal(at, new Set(), String(data["employee_id"]))];
  return [];
}

/** Returns the resources of an event. A check-in comes with its objective. */
function resourcesOf(event: string, data: Members): Members[] {
  if (event !== "objective.checked_in") return [data];
  const { check_in: checkIn, ...objective } = data;
  return [objective, checkIn as Members];
}

/** Returns the type of the exported row, or `undefined` if exports do not have the resource. */
function rowType(data: Members): ExportRowType | undefined {
  const prefix = String(data["id"]).split("_")[0] ?? "";
  if (prefix === "obj") return data["scope"] === "employee" ? "employee_objective" : "manager_objective";
  return ROW_TYPES[prefix];
}

/** Returns the time of the last change of a row. Messages and check-ins never change. */
function changedAt(row: RowData): string {
  const members = row as object as Members;
  return String(members["updated_at"] ?? members["created_at"] ?? "");
}
