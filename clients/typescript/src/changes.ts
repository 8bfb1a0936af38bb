// Changes: the feed of events as rows to store and rows to remove.

import type { Event, ExportRow, ExportRowType } from "./generated/types.js";

/** Text that replaces what an erased person wrote, and the titles of conversations about them. */
const ERASED = "[erased]";
/** Types of exported rows by the prefix of their ids. The type of an objective follows from its scope. */
const ROW_TYPES: Readonly<Record<string, ExportRowType>> = {
  emp: "employee",
  obs: "observation",
  sum: "summary",
  cnv: "conversation",
  msg: "message",
  asg: "assignment",
  dep: "department",
  attr: "attribute",
};

/** The members of a resource by their names. */
export type RowData = Record<string, unknown>;

/**
 * Rows that the service removed: those with `ids` and the messages of removed conversations, or those about the erased
 * `person`. Messages of the person and conversations about them stay without their texts.
 */
export class Removal {
  constructor(
    readonly removedAt: string,
    readonly ids: ReadonlySet<string>,
    readonly person: string | null,
  ) {}

  /** Returns a stored row as it is after the removal, or `null` if the row was removed. */
  applyTo(row: RowData): RowData | null {
    if (this.ids.has(String(row["id"])) || this.ids.has(String(row["conversation_id"]))) return null;
    if (this.person === null) return row;
    const about = row["about"] as { id?: unknown } | null | undefined;
    if (row["conversation_id"] && row["author_id"] === this.person) return { ...row, body: ERASED };
    if (about?.id === this.person) return { ...row, title: ERASED, about: null };
    return row["employee_id"] === this.person || row["owner_id"] === this.person ? null : row;
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
  static ofEvents(events: readonly Event[], cursor: string | null): ChangeBatch {
    const removals: Removal[] = [];
    const rows = new Map<string, ExportRow>();
    for (const event of events) {
      const data = event.data as RowData;
      removals.push(...removalsOf(event.event, event.created_at, data));
      // The texts of an earlier event about an erased person were removed. The removal follows.
      if (isErased(event)) continue;
      const type = rowType(data);
      if (type === undefined) continue;
      const id = String(data["id"]);
      rows.delete(id);
      rows.set(id, { type, data });
    }
    return new ChangeBatch([...rows.values()], removals, cursor);
  }

  /** Applies the changes to rows by their ids. A row that is newer than its change stays. */
  applyTo(rows: Map<string, RowData>): void {
    for (const { data } of this.upserts) {
      const stored = rows.get(String(data["id"]));
      if (stored === undefined || changedAt(stored) <= changedAt(data)) rows.set(String(data["id"]), data);
    }
    for (const removal of this.removals) {
      for (const [id, row] of rows) {
        const kept = removal.applyTo(row);
        if (kept === null) rows.delete(id);
        else if (kept !== row) rows.set(id, kept);
      }
    }
  }
}

/** Returns `true` for an event about an erased person, whose data was removed. */
export function isErased(event: Event): boolean {
  return (event.data as RowData)["erased"] === true;
}

function removalsOf(event: string, at: string, data: RowData): Removal[] {
  if (event === "retention.removed") return [new Removal(at, new Set(data["ids"] as string[]), null)];
  if (event === "employee.erased") return [new Removal(at, new Set(), String(data["id"]))];
  if (event === "erasure.completed") return [new Removal(at, new Set(), String(data["employee_id"]))];
  return [];
}

/** Returns the type of the exported row, or `undefined` if exports do not have the resource. */
function rowType(data: RowData): ExportRowType | undefined {
  const prefix = String(data["id"]).split("_")[0] ?? "";
  if (prefix === "obj") return data["scope"] === "employee" ? "employee_objective" : "manager_objective";
  return ROW_TYPES[prefix];
}

/** Returns the time of the last change of a row. Messages never change. */
function changedAt(row: RowData): string {
  return String(row["updated_at"] ?? row["created_at"] ?? "");
}
