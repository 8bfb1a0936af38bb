// Changes of a resource in words: the names of its fields, and values as people read them.

import { t } from "../texts.js";
import { addressOf } from "./addresses.js";
import { date, fieldName, plain } from "./format.js";
import { Person } from "./people.js";
import { html } from "./view.js";

/** Fields whose values are words of the API. */
const WORDS = ["access_level", "confidence", "last_sync_status", "role", "status", "type", "visibility"];
/** The form of an id: a word, and 26 characters without look-alikes. */
const ID = /^[a-z]{2,4}_[0-9A-HJKMNP-TV-Z]{26}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** The thing of an id: the name of a person, the id of anything else, with a link where there is a page. @param {{ id: string, isGone?: boolean }} p */
export function Thing({ id, isGone }) {
  if (id.startsWith("emp_")) return html`<${Person} id=${id} />`;
  const address = isGone ? undefined : addressOf(id);
  return address ? html`<a href=${address}><code>${id}</code></a>` : html`<code>${id}</code>`;
}

/** A key result: its title, and its way with the unit. @param {any} one */
const way = ({ title, start, target, unit }) => [`${title}:`, start, "→", target, unit].filter((part) => part !== null && part !== undefined).join(" ");

/** @param {unknown} value @param {string} field @returns {any} */
function shown(value, field) {
  if (Array.isArray(value) && value.length > 0) return value.map((one, at) => html`${at > 0 && ", "}${shown(one, field)}`);
  if (value && typeof value === "object" && "target" in value) return way(value);
  const entries = value && typeof value === "object" ? Object.entries(value) : [];
  if (entries.length > 0) return entries.map(([key, one], at) => html`${at > 0 && ", "}<span dir="auto">${fieldName(key, key)}</span>: ${shown(one, key)}`);
  if (typeof value === "boolean") return value ? t.progress.yes : t.progress.no;
  if (typeof value !== "string") return value && typeof value === "object" ? "–" : plain(value);
  if (field === "hris_source" && value === "manual") return t.people.manual;
  if (ID.test(value)) return html`<${Thing} id=${value} />`;
  return WORDS.includes(field) ? t.words[value] ?? value : DAY.test(value) ? date(value) : html`<span dir="auto">${plain(value)}</span>`;
}

/** `true` if there is no value: neither one of an empty list nor of an empty object. @param {unknown} value */
const isMissing = (value) => value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);

/** Fields before and after a change. @param {{ changes: Record<string, { from?: unknown, to: unknown }> }} p */
export function Changes({ changes }) {
  const entries = Object.entries(changes).filter(([, { from, to }]) => !isMissing(from) || !isMissing(to));
  return entries.length > 0 && html`<ul class="changes">${entries.map(([field, { from, to }]) => html`<li key=${field}>
    <span class="muted" title=${field}>${fieldName(field)}:</span>${" "}
    ${!isMissing(from) && html`<del><span class="hidden">${t.before} </span>${shown(from, field)}</del>
      ${" "}<span aria-hidden="true">→</span>${" "}`}
    <ins><span class="hidden">${t.after} </span>${shown(to, field)}</ins></li>`)}</ul>`;
}
