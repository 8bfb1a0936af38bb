// A request as curl, TypeScript and Python, with the values of the screen.

import { queryString } from "./api.js";
import { OPERATIONS } from "./operations.js";

/**
 * @typedef {{ method: string, path: string, query: import("./api.js").Query, body: unknown, csv: boolean }}
 *   Described
 */

const isId = (/** @type {string} */ part) => /^[a-z]+_[0-9A-Z]{26}/.test(part) || /^[a-z]{3,4}_test_/.test(part);
const snake = (/** @type {string} */ text) => text.replaceAll("-", "_")
  .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Returns resource, method and ids of a request, as the clients name them; `null` for a request without a method.
 * @param {string} method
 * @param {string} path
 */
export function operation(method, path) {
  const parts = path.split("/").filter(Boolean);
  const known = Object.keys(OPERATIONS).find((shape) => {
    const [verb, at = ""] = shape.split(" ");
    const segments = at.split("/");
    return verb === method && segments.length === parts.length &&
      segments.every((one, index) => one === parts[index] || (one === "{}" && isId(parts[index] ?? "")));
  });
  const [resource, name, isList, inPython] = known ? (OPERATIONS[known] ?? []) : [];
  return name && inPython ? { resource, name, isList, inPython, ids: parts.filter(isId) } : null;
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
  const found = operation(method, path);
  if (!found) return "// The client library has no method for this request.";
  const { resource, name, isList, ids } = found;
  const values = [...ids.map((id) => JSON.stringify(id)),
    csv ? "csv" : body === undefined ? "" : literal(body, "ts"),
    Object.keys(nested(query)).length ? literal(nested(query), "ts") : ""].filter(Boolean);
  const call = `candor.${resource ? `${resource}.` : ""}${name}(${values.join(", ")})`;
  return `import { Candor } from "@candor/client";\n\n` +
    `// Reads CANDOR_API_KEY and CANDOR_URL.\nconst candor = new Candor();\n` +
    (csv ? `const csv = await (await import("node:fs/promises")).readFile("people.csv", "utf8");\n` : "") +
    (isList ? `for await (const one of ${call}) console.log(one);` : `console.log(await ${call});`);
}

/** @param {Described} request */
function python({ method, path, query, body, csv }) {
  const found = operation(method, path);
  if (!found) return "# The client library has no method for this request.";
  const { resource, inPython, isList, ids } = found;
  const named = { .../** @type {object} */ (body ?? {}), ...nested(query) };
  const values = [...ids.map((id) => JSON.stringify(id)), ...(csv ? [`Path("people.csv").read_text()`] : []),
    ...Object.entries(named).map(([key, value]) => `${key}=${literal(value, "py")}`)];
  const line = values.join(", ");
  const inside = line.length <= 60 ? line : `\n    ${values.join(",\n").replaceAll("\n", "\n    ")},\n`;
  const call = `candor.${resource ? `${snake(resource)}.` : ""}${inPython}(${inside})`.replaceAll("\n",
    "\n    ");
  return `${csv ? "from pathlib import Path\n\n"
    : ""}from candor_client import Candor\n\n# Reads CANDOR_API_KEY and CANDOR_URL.\nwith Candor() as candor:\n` +
    (isList ? `    for one in ${call}:\n        print(one)` : `    print(${call})`);
}

/** Commands to run once, before a sample. @type {Record<string, string>} */
export const SETUP = {
  curl: "export CANDOR_API_KEY=…",
  TypeScript: "npm install ./candor-client-*.tgz\nexport CANDOR_API_KEY=…\nexport CANDOR_URL=",
  Python: "pip install ./candor_client-*.whl\nexport CANDOR_API_KEY=…\nexport CANDOR_URL=",
};

/** @param {string} language */
export const setup = (language) =>
  (SETUP[language] ?? "").replace(/CANDOR_URL=$/, () => `CANDOR_URL=${quoted(location.origin)}`);

/** @type {Record<string, (request: Described) => string>} */
export const LANGUAGES = { curl, TypeScript: typescript, Python: python };
