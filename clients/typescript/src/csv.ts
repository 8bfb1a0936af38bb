// Files of people above the limits of the service: divided as `candor import` divides them, with one report.

import type { CsvReport } from "./generated/types.js";

const MAX_ROWS = 10_000;
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_COLUMNS = 500;
/** A cell with the comma or line end behind it (RFC 4180). */
const CELL = /(?:"([^"]*(?:""[^"]*)*)"|([^,\r\n"]*))(,|\r\n|\n|$)/y;
/** A quoted value, or numbers of rows, in a message. */
const ROWS = /"(?:[^"\\]|\\.)*"|\brows? \d+(?:, \d+)*/g;
const QUOTED = /^"(?:[^"\\]|\\.)*"/;

type ReportedError = CsvReport["data"]["errors"][number];
type Problem = ReportedError["problems"][number];

/** A file within the limits. */
export interface Part {
  text: string;
  /** Number of each row in the whole file; `null` for the whole file as it is. */
  numbers: number[] | null;
  /** Number in the whole file of the row of each row's manager, if the file has one. */
  managers: (number | null)[];
}

interface Row {
  number: number;
  raw: string;
  email: string;
  manager: string;
}

/**
 * Divides a file into parts within the limits. A manager is in an earlier part than a report, or in the same. Also
 * returns the number of rows that were dropped because a later row has the same address. A file that the service cannot
 * read is one part: the service tells what is wrong with it.
 */
export function split(
  text: string,
  mostRows = MAX_ROWS,
  mostBytes = MAX_BYTES,
): { parts: Part[]; duplicates: number } {
  const whole = { parts: [{ text, numbers: null, managers: [] }], duplicates: 0 };
  const isLong = byteLength(text) > mostBytes;
  const read = readRows(text.replace(/^\uFEFF+/, ""));
  if (read === null || (!isLong && read.rows.length <= mostRows)) return whole;
  const { header, rows } = read;
  const last = new Map(rows.map((row) => [row.email, row.number]));
  const kept = rows.filter((row) => row.email === "" || last.get(row.email) === row.number);
  const parts: Part[] = [];
  const begin = byteLength(header);
  let size = begin;
  for (const { row, managerRow } of managersFirst(kept)) {
    const own = byteLength(row.raw);
    let part = parts.at(-1);
    if (part === undefined || part.managers.length === mostRows || size + own + 2 > mostBytes) {
      part = { text: header, numbers: [], managers: [] };
      parts.push(part);
      size = begin;
    }
    const ended = row.raw.endsWith("\n") ? row.raw : `${row.raw}\n`;
    part.text += ended;
    part.numbers?.push(row.number);
    part.managers.push(managerRow);
    size += own + ended.length - row.raw.length;
  }
  return { parts, duplicates: rows.length - kept.length };
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Yields the text and the cells of each record, or `null` at broken quotes or line ends. */
function* records(text: string): Generator<{ raw: string; cells: string[] } | null, void, undefined> {
  for (let at = 0; at < text.length; ) {
    const begin = at;
    const cells: string[] = [];
    for (let end: string | undefined = ","; end === ","; ) {
      CELL.lastIndex = at;
      const found = CELL.exec(text);
      if (found === null) return yield null;
      cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
      at = CELL.lastIndex;
      end = found[3];
    }
    yield { raw: text.slice(begin, at), cells };
  }
}

/** Returns the header and the rows, or `null` if the file is not one of people. */
function readRows(text: string): { header: string; rows: Row[] } | null {
  const rows: Row[] = [];
  let header: string | null = null;
  let [email, manager, number] = [-1, -1, 0];
  for (const record of records(text)) {
    if (record === null) return null;
    const { raw, cells } = record;
    number += 1;
    if (cells.length > MAX_COLUMNS) return null;
    if (cells.every((cell) => cell === "")) continue;
    if (header === null && /^sep=,[\r\n ]*$/i.test(raw)) continue;
    if (header === null) {
      const names = cells.map(normalized);
      email = names.includes("email") ? names.indexOf("email") : names.indexOf("e_mail");
      manager = names.indexOf("manager_email");
      if (email < 0) return null;
      header = raw;
      continue;
    }
    const cell = (place: number): string => (cells[place] ?? "").trim().toLowerCase();
    rows.push({ number, raw, email: cell(email), manager: cell(manager) });
  }
  return header === null ? null : { header, rows };
}

function normalized(name: string): string {
  return name
    .trim()
    .split(/[\s_-]+/)
    .filter((word) => word !== "")
    .join("_")
    .toLowerCase();
}

/** Sorts managers before their reports. People on a cycle come last. */
function managersFirst(rows: Row[]): { row: Row; managerRow: number | null }[] {
  const place = new Map(rows.map((row, at) => [row.email, at]));
  const above = rows.map((row) => (row.manager === "" ? undefined : place.get(row.manager)));
  const depths: (number | undefined)[] = rows.map(() => undefined);
  rows.forEach((_, start) => {
    const path: number[] = [];
    let depth = 0;
    for (let at: number | undefined = start; at !== undefined; at = above[at]) {
      const known: number | undefined = depths[at];
      if (known !== undefined) {
        depth = known + 1;
        break;
      }
      path.push(at);
      depths[at] = Infinity;
    }
    for (const at of path.reverse()) depths[at] = depth++;
  });
  const depth = (at: number): number => depths[at] ?? 0;
  return rows
    .map((row, at) => ({ row, at, managerRow: rows[above[at] ?? -1]?.number ?? null }))
    .sort((a, b) => (depth(a.at) === depth(b.at) ? a.row.number - b.row.number : depth(a.at) < depth(b.at) ? -1 : 1));
}

/** Returns the report about the whole file, with its row numbers. */
export function joined(parts: readonly Part[], answers: readonly CsvReport[], duplicates: number): CsvReport {
  const data: CsvReport["data"] = { created: 0, updated: 0, deactivated: 0, skipped: duplicates, errors: [] };
  const warnings: NonNullable<CsvReport["warnings"]> = [];
  const plan: NonNullable<CsvReport["plan"]> = [];
  /** Failed rows, each with the row to correct. */
  const failed = new Map<number, number>();
  answers.forEach((answer, at) => {
    const part = parts[at];
    if (part === undefined) return;
    for (const name of ["created", "updated", "deactivated", "skipped"] as const) data[name] += answer.data[name];
    for (const error of answer.data.errors) {
      const whole = converted(part, error, failed);
      // Managers come first in a part.
      failed.set(whole.row_number, whole.caused_by_row ?? whole.row_number);
      data.errors.push(whole);
    }
    for (const row of answer.plan ?? []) plan.push({ ...row, row_number: numberOf(part, row.row_number) });
    for (const warning of answer.warnings ?? []) {
      const whole = { ...warning, message: renumbered(part, warning.message) };
      if (!warnings.some((known) => known.column === whole.column && known.message === whole.message)) {
        warnings.push(whole);
      }
    }
  });
  const byRow = (a: { row_number: number }, b: { row_number: number }): number => a.row_number - b.row_number;
  data.errors.sort(byRow);
  return {
    data,
    ...(warnings.length > 0 && { warnings }),
    ...(answers.some((answer) => answer.plan !== undefined) && { plan: plan.sort(byRow) }),
    ...(answers.some((answer) => answer.plan_has_more) && { plan_has_more: true }),
  };
}

/** Converts the number of a row in a part to its number in the whole file. */
function numberOf(part: Part, here: number): number {
  return part.numbers?.[here - 2] ?? here;
}

/** Converts the row numbers in a message. Values of cells, which are quoted, stay. */
function renumbered(part: Part, message: string): string {
  return message.replace(ROWS, (found) =>
    found.startsWith('"') ? found : found.replace(/\d+/g, (digits) => String(numberOf(part, Number(digits)))),
  );
}

/** Converts a failed row to the whole file. One whose manager failed, also in an earlier part, names that row. */
function converted(part: Part, error: ReportedError, failed: ReadonlyMap<number, number>): ReportedError {
  const manager = part.managers[error.row_number - 2] ?? undefined;
  let message = renumbered(part, error.message);
  const problems = error.problems.map((problem): Problem => {
    const text = renumbered(part, problem.message);
    const isUnknown = problem.field === "manager_email" && problem.code === "not_found_in_organization";
    const cause = manager !== undefined && isUnknown ? failed.get(manager) : undefined;
    if (cause === undefined) {
      const own = problem.caused_by_row;
      return { ...problem, message: text, ...(own !== undefined && { caused_by_row: numberOf(part, own) }) };
    }
    const reason = cause === manager ? "" : ` because of row ${cause}`;
    const told = `is in row ${manager}, which was not imported${reason}: correct that row first`;
    const renewed = `${QUOTED.exec(text)?.[0] ?? ""} ${told}`;
    message = message.replace(text, () => renewed);
    return { ...problem, message: renewed, caused_by_row: cause };
  });
  const causes = new Set(problems.map((problem) => problem.caused_by_row));
  const own = error.caused_by_row === undefined ? undefined : numberOf(part, error.caused_by_row);
  const cause = (causes.size === 1 ? [...causes][0] : undefined) ?? own;
  const row_number = numberOf(part, error.row_number);
  return { ...error, row_number, message, problems, ...(cause !== undefined && { caused_by_row: cause }) };
}
