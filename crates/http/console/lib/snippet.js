// A request as curl, TypeScript and Python, with the values of the screen.

import { queryString } from "./api.js";

/**
 * @typedef {{ method: string, path: string, query: import("./api.js").Query, body: unknown, csv: boolean }}
 *   Described
 */

/** Methods of the clients whose names are not the last part of the path. */
const SPECIAL = /** @type {Record<string, string>} */ ({
  "POST employees/csv": "upsert", "POST employees/{}/invite": "invite",
  "GET employees/{}/invitation": "getInvitation",
  "POST assignments/{}/submissions": "submitFeedback", "POST summaries/{}/feedback": "giveFeedback",
  "POST connectors/{}/release": "releaseEmployees", "POST webhooks/{}/replay": "replayEvents",
  "GET webhooks/{}/deliveries": "listDeliveries", "GET webhooks/{}/deliveries/{}": "getDelivery",
  "POST webhooks/{}/deliveries/{}/redeliver": "redeliver", "GET conversations/{}/messages": "listMessages",
  "POST conversations/{}/messages": "createMessage", "POST notifications/read_all": "readAll",
  "GET search": "search",
  "GET employee-objectives/{}/history": "listHistory", "GET manager-objectives/{}/history": "listHistory",
});
const SINGLE = ["me", "organization"];

const camel = (/** @type {string} */ text) => text.replace(/[-_](\w)/g, (_, letter) => letter.toUpperCase());
const snake = (/** @type {string} */ text) => text.replaceAll("-", "_")
  .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Returns resource, method and ids of a request, as the clients name them.
 * @param {string} method
 * @param {string} path
 */
export function operation(method, path) {
  const parts = path.split("/").filter(Boolean);
  const isId = (/** @type {string} */ part) => /^[a-z]+_[0-9A-Z]{26}/.test(part) || /^[a-z]{3,4}_test_/.test(part);
  const ids = parts.filter(isId);
  const shape = parts.map((part) => (isId(part) ? "{}" : part)).join("/");
  const [resource = ""] = parts;
  const last = parts.at(-1) ?? "";
  const plain = { GET: ids.length || SINGLE.includes(resource) ? "get" : "list", POST: "create", PATCH: "update",
    DELETE: "delete" };
  const action = parts.length > 1 && !isId(last) ? camel(last) : plain[/** @type {keyof plain} */ (method)];
  return { resource: shape === "search" ? null : resource, name: SPECIAL[`${method} ${shape}`] ?? action, ids };
}

/**
 * Filters as the clients take them: { filter: { created_at: { gte } } }.
 * @param {import("./api.js").Query} query
 */
function nested(query) {
  /** @type {Record<string, any>} */
  const tree = {};
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    const path = name.split(/[[\]]+/).filter(Boolean);
    let at = tree;
    for (const part of path.slice(0, -1)) at = at[part] ??= {};
    at[/** @type {string} */ (path.at(-1))] = value;
  }
  return tree;
}

/** @param {unknown} value @param {"ts" | "py"} language @returns {string} */
function literal(value, language) {
  const isPython = language === "py";
  if (value === null || value === undefined) return isPython ? "None" : "null";
  if (typeof value === "boolean") return isPython ? (value ? "True" : "False") : String(value);
  if (Array.isArray(value)) return `[${value.map((one) => literal(one, language)).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const name = (/** @type {string} */ key) => (isPython || !/^[a-z_]\w*$/i.test(key) ? JSON.stringify(key) : key);
  const parts = Object.entries(value).map(([key, one]) => `${name(key)}: ${literal(one, language)}`);
  if (parts.length === 0) return "{}";
  const line = isPython ? `{${parts.join(", ")}}` : `{ ${parts.join(", ")} }`;
  return line.length <= 76 ? line : `{\n  ${parts.join(",\n").replaceAll("\n", "\n  ")},\n}`;
}

const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param {Described} request */
function curl({ method, path, query, body, csv }) {
  const lines =
    [`curl -sS${/[[\]{}]/.test(queryString(query)) ? "g" : ""}${method === "GET" ? ""
      : ` -X ${method}`} ${quoted(`${location.origin}/v1${path}${queryString(query)}`)}`,
    `-H "Authorization: Bearer $CANDOR_API_KEY"`];
  if (csv) lines.push(`-H 'Content-Type: text/csv'`, `--data-binary @people.csv`);
  else if (body !== undefined)
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`);
  return lines.join(" \\\n  ");
}

/** @param {Described} request */
function typescript({ method, path, query, body, csv }) {
  const { resource, name, ids } = operation(method, path);
  const values = [...ids.map((id) => JSON.stringify(id)),
    csv ? "csv" : body === undefined ? "" : literal(body, "ts"),
    Object.keys(nested(query)).length ? literal(nested(query), "ts") : ""].filter(Boolean);
  const call = `candor.${resource ? `${camel(resource)}.` : ""}${name}(${values.join(", ")})`;
  const isList = method === "GET" && /^(list|search)/.test(name);
  return `import { Candor } from "@candor/client";\n\n` +
    `// Reads CANDOR_API_KEY and CANDOR_URL.\nconst candor = new Candor();\n` +
    (csv ? `const csv = await (await import("node:fs/promises")).readFile("people.csv", "utf8");\n` : "") +
    (isList ? `for await (const one of ${call}) console.log(one);` : `console.log(await ${call});`);
}

/** @param {Described} request */
function python({ method, path, query, body, csv }) {
  const { resource, name, ids } = operation(method, path);
  const named = { .../** @type {object} */ (body ?? {}), ...nested(query) };
  const values = [...ids.map((id) => JSON.stringify(id)), ...(csv ? [`Path("people.csv").read_text()`] : []),
    ...Object.entries(named).map(([key, value]) => `${key}=${literal(value, "py")}`)];
  const line = values.join(", ");
  const inside = line.length <= 60 ? line : `\n    ${values.join(",\n").replaceAll("\n", "\n    ")},\n`;
  const call = `candor.${resource ? `${snake(resource)}.` : ""}${snake(name)}(${inside})`.replaceAll("\n",
    "\n    ");
  const isList = method === "GET" && /^(list|search)/.test(name);
  return `${csv ? "from pathlib import Path\n\n"
    : ""}from candor_client import Candor\n\n# Reads CANDOR_API_KEY and CANDOR_URL.\nwith Candor() as candor:\n` +
    (isList ? `    for one in ${call}:\n        print(one)` : `    print(${call})`);
}

/** @type {Record<string, (request: Described) => string>} */
export const LANGUAGES = { curl, TypeScript: typescript, Python: python };
