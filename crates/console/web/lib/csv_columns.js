// Columns of a file of people: which field each of them is. The person chooses it where the names of the file are not those
// of the API, and this browser knows it for the next file with the same names. It keeps a digest of the names and the
// chosen fields, no name and no cell: a file without a header has a person in its first row.

import { session } from "./session.js";

/** Columns that the API knows beside custom fields. */
export const FIELDS = ["email", "first_name", "last_name", "role", "manager_email", "department_name", "status",
  "job_title", "external_id"];
export const CUSTOM = "custom.";
/** Choice for a column that is read under the name that it has in the file. */
export const AS_NAMED = "";
/** Choice for a column that is not read. */
export const LEFT_OUT = "-";

const KEPT = "candor-columns";
const MOST_KEPT = 20;
const DIGEST_BYTES = 16;

/** Name of a column as the API compares it. @param {string} name */
export const normalized = (name) => name.trim().toLowerCase().replace(/[\s_-]+/g, "_");

/** A key of a custom field for a column with this name. @param {string} name */
export const keyFor = (name) => normalized(name).replace(/[^a-z0-9_]/g, "").slice(0, 40) || "field";

/** Words of headers that most likely mean a field, in English and German, the closer ones first. @type {[RegExp, string][]} */
const LIKELY = [
  [/manager|supervisor|boss|reports?_to|vorgesetzt|führungskraft/, "manager_email"], [/mail/, "email"],
  [/^(first|given|fore)_?name|^vorname/, "first_name"], [/^(last|family|sur)_?name|^(nach|familien)name/, "last_name"],
  [/department|abteilung/, "department_name"], [/title|position|stelle/, "job_title"],
  [/external_id|(employee|personnel|staff)_?(id|no|number)|personalnummer/, "external_id"], [/^(role|rolle)$/, "role"],
];

/** `true` if the API reads a column with this name. @param {string} name */
export const isKnown = (name) => FIELDS.includes(normalized(name)) || normalized(name).startsWith(CUSTOM);

/** The likely field of each column whose name the API does not know, each field once. @param {string[]} header */
export function guess(header) {
  const taken = new Set(header.map(normalized));
  return header.map((name) => {
    const field = isKnown(name) ? undefined : LIKELY.find(([words, one]) => words.test(normalized(name)) && !taken.has(one))?.[1];
    if (field) taken.add(field);
    return field ?? AS_NAMED;
  });
}

/** Header that is sent for a column that is left out. @param {number} place */
const unread = (place) => `column ${place + 1}`;

/** Header that is sent. @param {string[]} header @param {string[]} fields */
export const sentHeader = (header, fields) => header.map((name, place) => {
  const field = fields[place] ?? AS_NAMED;
  return field === LEFT_OUT ? unread(place) : field === AS_NAMED ? name : field;
});

/** Names that the API ignores without a warning. @param {string[]} fields */
export const leftOut = (fields) => fields.flatMap((field, place) => (field === LEFT_OUT ? [unread(place)] : []));

/** @param {string[]} header @returns {Promise<string | null>} */
async function digest(header) {
  // Browsers have no digests on pages without TLS, except on this machine.
  if (!crypto.subtle || !session.value) return null;
  const text = JSON.stringify([session.value.me.organization_id, ...header.map(normalized)]);
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return [...bytes.slice(0, DIGEST_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @returns {[string, string[]][]} newest first */
function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => Array.isArray(one) && Array.isArray(one[1])) : [];
  } catch {
    return [];
  }
}

/** The fields that were chosen for a file with these names. @param {string[]} header @returns {Promise<string[] | null>} */
export async function recall(header) {
  const name = await digest(header);
  const fields = kept().find(([one]) => one === name)?.[1];
  return fields?.length === header.length ? fields.map(String) : null;
}

/** Keeps the chosen fields for the next file with these names. @param {string[]} header @param {string[]} fields */
export async function keep(header, fields) {
  const name = await digest(header);
  if (name === null) return;
  const others = kept().filter(([one]) => one !== name);
  const isChosen = fields.some((field) => field !== AS_NAMED);
  if (!isChosen && others.length === kept().length) return;
  const entries = isChosen ? [[name, fields], ...others].slice(0, MOST_KEPT) : others;
  try {
    localStorage.setItem(KEPT, JSON.stringify(entries));
  } catch {
    // Without storage, the person chooses again for the next file.
  }
}
