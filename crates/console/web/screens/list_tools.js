// Tools of a list beside its filters: the order, the shown columns, and the rows as a CSV file.

import { readAll } from "../lib/api.js";
import { cell, download } from "../lib/csv.js";
import { useAction } from "../lib/data.js";
import { number } from "../lib/format.js";
import { setQuery, useRoute } from "../lib/router.js";
import { toast } from "../lib/toast.js";
import { Button, Problem } from "../lib/ui.js";
import { html } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../lib/ui.js").Column} Column */

/** Rows of a file. A longer list is cut, and the message says so. */
const MOST_ROWS = 10_000;
/** First characters with which spreadsheets take a cell for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * The order of a list as a filter. @param {string[]} sorts orders of the API, its default first
 * @returns {import("../lib/ui.js").Filter}
 */
export const orderOf = ([first = "", ...sorts]) => ({
  name: "sort", label: t.lists.sort, first: t.lists.sorts[first] ?? first,
  options: sorts.map((sort) => [sort, t.lists.sorts[sort] ?? sort]), isMore: true,
});

/** The columns that are shown: those whose names `hide` of the address does not have. @param {Column[]} columns */
export function useColumns(columns) {
  const { query } = useRoute();
  const hidden = (query.hide ?? "").split(",");
  return columns.filter((column) => column.isMain || column.isBox || !hidden.includes(column.name));
}

/** Chooses the columns of a table. @param {{ columns: Column[] }} p */
export function ColumnChoice({ columns }) {
  const { query } = useRoute();
  const hidden = (query.hide ?? "").split(",").filter(Boolean);
  const toggle = (/** @type {string} */ name) =>
    setQuery({ hide: (hidden.includes(name) ? hidden.filter((one) => one !== name) : [...hidden, name]).join(",") });
  return html`<details class="pick"><summary class="button">${t.lists.columns}</summary><div class="pick-list">
    ${columns.filter((one) => !one.isMain && !one.isBox).map((one) => html`<label key=${one.name} class="check">
      <input type="checkbox" checked=${!hidden.includes(one.name)} onChange=${() => toggle(one.name)} /><span>${one.label}</span></label>`)}</div></details>`;
}

/** A cell that no spreadsheet takes for a formula. @param {unknown} value */
const guarded = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return cell(FORMULA.test(text) ? `'${text}` : text);
};

/**
 * Downloads all rows of a list as CSV, under the same filters.
 * @param {{ name: string, path: string, query: import("../lib/api.js").Query, fields: [string, (row: any) => unknown][] }} p
 *   `fields` has the title and the text of each column
 */
export function Save({ name, path, query, fields }) {
  const { run, isBusy, error } = useAction(async () => {
    const { rows, isComplete } = await readAll(path, query, MOST_ROWS);
    const lines = [fields.map(([title]) => guarded(title)), ...rows.map((row) => fields.map(([, text]) => guarded(text(row))))];
    download(`${name}-${new Date().toISOString().slice(0, 10)}.csv`, `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`, "text/csv");
    toast(isComplete ? t.lists.saved(number(rows.length)) : t.lists.cut(number(rows.length)), isComplete ? undefined : "bad");
  });
  return html`<${Button} busy=${isBusy} onClick=${run}>${t.lists.save}</${Button}>${error && html`<${Problem} error=${error} />`}`;
}
