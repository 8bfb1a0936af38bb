// One import of people: its file, the plan and the result. It outlives the screen, so that Back or another screen loses
// nothing, and it ends with the session.

import { t } from "../texts.js";
import { access, request } from "./api.js";
import { cells, records, withCells, withHeader } from "./csv.js";
import { AS_NAMED, guess, keep, leftOut, recall, sentHeader } from "./csv_columns.js";
import { cellsBeyondAscii, decode, separatorOf, withCommas, withoutSeparatorLine } from "./csv_file.js";
import { renumbered, withCauses } from "./csv_rows.js";
import { asApiError } from "./data.js";
import { session } from "./session.js";
import { toast } from "./toast.js";
import { store } from "./view.js";

const MOST_BYTES = 5 * 1024 * 1024;
/** Rows in one request of the apply, so that its progress is seen. */
const CHUNK_ROWS = 1000;

/** @typedef {import("../types").CsvReport} Report */
/** @typedef {import("../types").CsvReportDataError} Refused */
/**
 * @typedef {object} Chosen
 * @property {string} name
 * @property {string} source the decoded file with its own separators, for the file of refused rows
 * @property {string} text the same with commas, as it is sent
 * @property {string} separator
 * @property {string[]} header
 * @property {number} rows
 * @property {string[]} foreign cells that depend on the encoding, if the file is not UTF-8
 */
/**
 * @typedef {object} Import
 * @property {Chosen | null} file
 * @property {string[]} fields the field of each column, as in `csv_columns.js`
 * @property {boolean} isRecalled the fields are those of an earlier file
 * @property {Map<number, Map<number, string>>} corrections new cells by row and place, since the last check
 * @property {boolean} isChanged the fields or cells are not those of the plan
 * @property {boolean} isAgreed the person has agreed to the encoding
 * @property {Report | null} plan
 * @property {Report | null} result
 * @property {boolean} isClearing
 * @property {number} done rows that are applied
 * @property {"check" | "apply" | null} busy
 * @property {import("./api.js").ApiError | null} error
 * @property {import("./csv_file.js").Reason | null} reason why a file cannot be read
 */

/** @type {Import} */
const NONE = { file: null, fields: [], isRecalled: false, corrections: new Map(), isChanged: false, isAgreed: false, plan: null, result: null, isClearing: false, done: 0, busy: null,
  error: null, reason: null };

export const current = store(NONE);

/** @param {Partial<Import>} changes */
const amend = (changes) => current.set({ ...current.value, ...changes });

export const forget = () => current.set(NONE);

/** Whose file it is: a person keeps it in the next session; a key, whose name another one may have too, keeps it for itself. */
const ownerNow = () => {
  const me = session.value?.me;
  return me ? `${me.organization_id} ${me.environment} ${me.employee_id ?? me.key_id}` : "";
};
let owner = "";
session.subscribe(() => {
  if (ownerNow() !== owner) forget();
});

/** Reads a file and checks it, unless the person has to agree to its encoding first. @param {File | undefined} given */
export async function choose(given) {
  if (!given || current.value.busy === "apply") return;
  if (given.size > MOST_BYTES) return void toast(t.csv.tooLarge, "bad");
  const read = decode(new Uint8Array(await given.arrayBuffer()));
  owner = ownerNow();
  if (typeof read === "string") return current.set({ ...NONE, reason: read });
  const source = withoutSeparatorLine(read.text);
  const separator = separatorOf(source);
  const text = withCommas(source, separator);
  const all = records(text);
  const header = cells(all[0] ?? "").map((one) => one.trim());
  const isAgreed = read.encoding === "utf-8";
  const file = { name: given.name, source, text, separator, header, rows: Math.max(0, all.length - 1),
    foreign: isAgreed ? [] : cellsBeyondAscii(source, separator) };
  const known = await recall(header);
  const fields = known ?? guess(header);
  current.set({ ...NONE, file, fields, isRecalled: known !== null, isAgreed, isClearing: current.value.isClearing });
  if (isAgreed) await check();
}

/** The person has agreed to read the file as Windows-1252. */
export async function agree() {
  amend({ isAgreed: true });
  await check();
}

/** Chooses the field of a column. @param {number} place @param {string} field */
export function chooseField(place, field) {
  const { fields } = current.value;
  amend({ fields: fields.map((one, at) => (at === place ? field : one)), isChanged: true });
}

/** Corrects a cell of a refused row. @param {number} row @param {number} place @param {string} text */
export function correct(row, place, text) {
  const corrections = new Map(current.value.corrections);
  corrections.set(row, new Map(corrections.get(row)).set(place, text));
  amend({ corrections, isChanged: true });
}

/** Makes the plan for the chosen fields and the corrected cells. */
export async function checkAgain() {
  const { file, corrections } = current.value;
  if (!file) return;
  const source = corrections.size ? withCells(file.source, file.separator, corrections) : file.source;
  const text = corrections.size ? withCommas(source, file.separator) : file.text;
  amend({ file: { ...file, source, text }, corrections: new Map(), isRecalled: false });
  await check();
}

/** @param {boolean} isClearing empty cells clear the stored value */
export async function clearWith(isClearing) {
  amend({ isClearing, plan: null });
  if (current.value.file && current.value.isAgreed) await check();
}

/** Runs work for the current file, to its end with the key of its beginning: the next session may belong to another
 * organization. Its end changes nothing if the person has chosen another file meanwhile.
 * @param {"check" | "apply"} busy @param {(file: Chosen, key: string) => Promise<Partial<Import>>} work */
async function run(busy, work) {
  const { file, isClearing } = current.value;
  if (!file) return;
  const isCurrent = () => current.value.file === file && current.value.isClearing === isClearing;
  amend({ busy, error: null });
  const changes = await work(file, access.key ?? "").catch((error) => ({ error: asApiError(error) }));
  if (isCurrent()) amend({ ...changes, busy: null });
}

/** The file as it is sent: as it was given, unless a field was chosen. @param {Chosen} file */
const sent = (file) => current.value.fields.every((field) => field === AS_NAMED) ? file.text
  : withHeader(file.text, sentHeader(file.header, current.value.fields));

/** Parameters of an upload. @returns {import("./api.js").Query} */
const parameters = () => ({ empty: current.value.isClearing ? "clear" : undefined,
  ignore_columns: leftOut(current.value.fields) });

const check = () =>
  run("check", async (file, key) => {
    const { fields } = current.value;
    const query = { ...parameters(), dry_run: true };
    const { data } = await request("POST", "/employees/csv", { csv: sent(file), query, key });
    // The API has read the header, so the fields are right for the next file, too.
    await keep(file.header, fields);
    const isChanged = current.value.fields !== fields || current.value.corrections.size > 0;
    return { plan: data, result: null, isChanged };
  });

export const apply = () =>
  run("apply", async (file, key) => {
    amend({ done: 0 });
    const result = await applied(sent(file), { query: parameters(), key }, (done) => amend({ done }));
    toast(t.csv.applied(file.name));
    return { result };
  });

/**
 * Applies a file in parts and adds their reports up. Managers that a later part creates are resolved by a second
 * pass over the rows that the first one refused.
 * @param {string} text @param {{ query: import("./api.js").Query, key: string }} options @param {(rows: number) => void} onDone
 * @returns {Promise<Report>}
 */
async function applied(text, options, onDone) {
  const [header = "", ...rows] = records(text);
  if (rows.length <= 2 * CHUNK_ROWS) {
    const { data } = await request("POST", "/employees/csv", { csv: text, ...options });
    onDone(rows.length);
    return data;
  }
  const sum = { created: 0, updated: 0, deactivated: 0, skipped: 0, errors: /** @type {Refused[]} */ ([]) };
  let open = rows.map((row, at) => ({ row, at }));
  for (let pass = 0; pass < 2 && open.length > 0; pass += 1) {
    /** @type {Refused[]} */
    const errors = [];
    for (let start = 0; start < open.length; start += CHUNK_ROWS) {
      const part = open.slice(start, start + CHUNK_ROWS);
      const { data } = await request("POST", "/employees/csv",
        { csv: [header, ...part.map(({ row }) => row), ""].join("\n"), ...options });
      for (const name of /** @type {const} */ (["created", "updated", "deactivated",
        "skipped"])) sum[name] += data.data[name];
      errors.push(...data.data.errors.map((/** @type {Refused} */ one) =>
        renumbered(one, (row) => (part[row - 2]?.at ?? 0) + 2)));
      onDone(Math.min(rows.length, start + CHUNK_ROWS));
    }
    sum.errors = withCauses(errors);
    const refused = new Set(errors.map((one) => one.row_number - 2));
    open = rows.map((row, at) => ({ row, at })).filter(({ at }) => refused.has(at));
  }
  return { data: sum };
}
