// A page of its own with the data about a person, for people who read and print it. Texts become text nodes.

import { t } from "../texts.js";
import { readAll, request } from "./api.js";
import { fullName, plain, time, words } from "./format.js";
import { can } from "./session.js";

/** @typedef {{ type: string, data?: Record<string, any> }} Line */

const STYLE = "body{font:14px/1.5 system-ui,sans-serif;max-width:80ch;margin:2rem auto;padding:0 1rem}h1{font-size:1.5rem}" +
  "h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid}dl{display:grid;grid-template-columns:14rem 1fr;gap:2px 1rem;margin:1rem 0;" +
  "break-inside:avoid}dt{color:#555}dd{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}@media print{body{margin:0;max-width:none}}";

/** Ids whose names are read with one request. */
const MOST_IDS = 100;
const MOST_ROWS = 10_000;

/** @typedef {Map<unknown, string>} Names names by id */

/** @param {string} ndjson */
const linesOf = (ndjson) => /** @type {Line[]} */ (ndjson.trim().split("\n").map((line) => JSON.parse(line)));

/**
 * Returns the names of the ids in the data: people, departments and attributes as they are now, and titles within the data.
 * @param {string} ndjson @returns {Promise<Names>}
 */
export async function namesIn(ndjson) {
  const ids = [...new Set(ndjson.match(/(?<=")(emp|dep|attr)_[0-9A-HJKMNP-TV-Z]{26}(?=")/g) ?? [])];
  const has = (/** @type {string} */ prefix) => ids.some((id) => id.startsWith(prefix));
  const names = /** @type {Names} */ (new Map(linesOf(ndjson).flatMap(({ data }) => data?.id && (data.title ?? data.name) ? [[data.id, data.title ?? data.name]] : [])));
  const people = can("employees:read") ? ids.filter((id) => id.startsWith("emp_")) : [];
  for (let at = 0; at < people.length; at += MOST_IDS) {
    const query = { "filter[id]": people.slice(at, at + MOST_IDS), "filter[status]": "all", limit: MOST_IDS };
    const { data } = await request("GET", "/employees", { query });
    for (const one of data.data) names.set(one.id, fullName(one));
  }
  const all = async (/** @type {"/departments" | "/attributes"} */ path) => {
    for (const one of (await readAll(path, { "filter[archived]": "all" }, MOST_ROWS)).rows) names.set(one.id, one.name);
  };
  if (has("dep_") && can("employees:read")) await all("/departments");
  if (has("attr_") && can("observations:read")) await all("/attributes");
  return names;
}

/** @param {unknown} value @param {Names} names @returns {string} */
const shown = (value, names) => Array.isArray(value) ? value.map((one) => shown(one, names)).join("\n") : value && typeof value === "object"
  ? Object.entries(value).map(([name, one]) => `${labelOf(name)}: ${shown(one, names)}`).join("\n") : names.get(value) ?? plain(value);

/** A member as people read it: a reference is called after what it names. @param {string} name */
const labelOf = (name) => words(name.replace(/_id(s?)$/, "$1"));

/** @param {unknown} value */
const isEmpty = (value) => value === null || value === "" || (typeof value === "object" && Object.keys(value ?? {}).length === 0);

/**
 * The page as text, or null if the data has no end.
 * @param {string} title @param {string} ndjson @param {Names} names
 */
export function printable(title, ndjson, names) {
  const lines = linesOf(ndjson);
  if (lines.at(-1)?.type !== "end") return null;
  const page = document.implementation.createHTMLDocument(title);
  /** @param {Element} parent @param {string} tag @param {string} [text] */
  const add = (parent, tag, text) => {
    const child = page.createElement(tag);
    if (text !== undefined) child.textContent = text;
    if (tag === "dd") child.dir = "auto";
    return parent.appendChild(child);
  };
  add(page.head, "meta").setAttribute("charset", "utf-8");
  page.documentElement.lang = document.documentElement.lang;
  add(page.body, "h1", title);
  add(page.body, "p", `${t.work.print.made} ${time(new Date().toISOString())}`);
  const kinds = new Map();
  for (const { type, data } of lines) if (data) kinds.set(type, [...(kinds.get(type) ?? []), data]);
  for (const [type, rows] of kinds) {
    add(page.body, "h2", `${words(type)} (${rows.length})`);
    for (const row of rows) {
      const list = add(page.body, "dl");
      for (const [name, value] of Object.entries(row)) if (!isEmpty(value)) add(list, "dt", labelOf(name)), add(list, "dd", name === "id" ? String(value) : shown(value, names));
    }
  }
  const text = new XMLSerializer().serializeToString(page.documentElement);
  // The policy of this page forbids styles within elements that it makes.
  return `<!DOCTYPE html>\n${text.replace("<head>", `<head><style>${STYLE}</style>`)}`;
}

/** Name of a file about a person, of the day. @param {{ first_name: string, last_name: string }} person @param {string} ending */
export const fileOf = (person, ending) =>
  `${person.first_name} ${person.last_name} ${new Date().toLocaleDateString("sv")}.${ending}`.replaceAll(/[\\/:*?"<>|\u0000-\u001f\u202a-\u202e\u2066-\u2069]/g, "_");
