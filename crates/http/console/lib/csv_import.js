// One import of people: its file, the plan and the result. It outlives the screen, so that Back or another screen loses
// nothing, and it ends with the session.

import { t } from "../texts.js";
import { request } from "./api.js";
import { cells, records } from "./csv.js";
import { cellsBeyondAscii, decode, separatorOf, withCommas, withoutSeparatorLine } from "./csv_file.js";
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
const NONE = { file: null, isAgreed: false, plan: null, result: null, isClearing: false, done: 0, busy: null,
  error: null, reason: null };

export const current = store(NONE);

/** @param {Partial<Import>} changes */
const amend = (changes) => current.set({ ...current.value, ...changes });

export const forget = () => current.set(NONE);

const keyOf = () => (session.value ? `${session.value.me.organization_id} ${session.value.me.name}` : "");
let owner = "";
session.subscribe(() => {
  if (keyOf() !== owner) forget();
});

/** Reads a file and checks it, unless the person has to agree to its encoding first. @param {File | undefined} given */
export async function choose(given) {
  if (!given || current.value.busy === "apply") return;
  if (given.size > MOST_BYTES) return void toast(t.csv.tooLarge, "bad");
  const read = decode(new Uint8Array(await given.arrayBuffer()));
  owner = keyOf();
  if (typeof read === "string") return current.set({ ...NONE, reason: read });
  const source = withoutSeparatorLine(read.text);
  const separator = separatorOf(source);
  const text = withCommas(source, separator);
  const all = records(text);
  const isAgreed = read.encoding === "utf-8";
  const file = { name: given.name, source, text, separator, header: cells(all[0] ?? "").map((one) => one.trim()),
    rows: Math.max(0, all.length - 1), foreign: isAgreed ? [] : cellsBeyondAscii(source, separator) };
  current.set({ ...NONE, file, isAgreed, isClearing: current.value.isClearing });
  if (isAgreed) await check();
}

/** The person has agreed to read the file as Windows-1252. */
export async function agree() {
  amend({ isAgreed: true });
  await check();
}

/** @param {boolean} isClearing empty cells clear the stored value */
export async function clearWith(isClearing) {
  amend({ isClearing, plan: null });
  if (current.value.file && current.value.isAgreed) await check();
}

/** Runs work for the current file. Its end changes nothing if the person has chosen another file meanwhile.
 * @param {"check" | "apply"} busy @param {(file: Chosen) => Promise<Partial<Import>>} work */
async function run(busy, work) {
  const { file, isClearing } = current.value;
  if (!file) return;
  const isCurrent = () => current.value.file === file && current.value.isClearing === isClearing;
  amend({ busy, error: null });
  const changes = await work(file).catch((error) => ({ error: asApiError(error) }));
  if (isCurrent()) amend({ ...changes, busy: null });
}

const check = () =>
  run("check", async (file) => {
    const query = { dry_run: true, empty: current.value.isClearing ? "clear" : undefined };
    return { plan: (await request("POST", "/employees/csv", { csv: file.text, query })).data };
  });

export const apply = () =>
  run("apply", async (file) => {
    amend({ done: 0 });
    const result = await applied(file, current.value.isClearing, (done) => amend({ done }));
    toast(t.csv.applied);
    return { result };
  });

/**
 * Applies a file in parts and adds their reports up. Managers that a later part creates are resolved by a second
 * pass over the rows that the first one refused.
 * @param {Chosen} file @param {boolean} isClearing @param {(rows: number) => void} onDone
 * @returns {Promise<Report>}
 */
async function applied(file, isClearing, onDone) {
  const [header = "", ...rows] = records(file.text);
  const query = { empty: isClearing ? "clear" : undefined };
  if (rows.length <= 2 * CHUNK_ROWS) {
    const { data } = await request("POST", "/employees/csv", { csv: file.text, query });
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
        { csv: [header, ...part.map(({ row }) => row), ""].join("\n"), query });
      for (const name of /** @type {const} */ (["created", "updated", "deactivated",
        "skipped"])) sum[name] += data.data[name];
      errors.push(...data.data.errors.map((/** @type {Refused} */ one) =>
        ({ ...one, row_number: (part[one.row_number - 2]?.at ?? 0) + 2 })));
      onDone(Math.min(rows.length, start + CHUNK_ROWS));
    }
    sum.errors = errors;
    const refused = new Set(errors.map((one) => one.row_number - 2));
    open = rows.map((row, at) => ({ row, at })).filter(({ at }) => refused.has(at));
  }
  return { data: sum };
}
