// The columns of a file, and the field that each of them is.

import { cells, records } from "../lib/csv.js";
import { AS_NAMED, CUSTOM, FIELDS, guess, isKnown, keyFor, LEFT_OUT, normalized, sentHeader } from "../lib/csv_columns.js";
import { chooseField } from "../lib/csv_import.js";
import { fieldName, short } from "../lib/format.js";
import { Badge, Table } from "../lib/ui.js";
import { html, useMemo } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").CsvReport} Report */
/** @typedef {import("../lib/csv_import.js").Chosen} Chosen */
/** @typedef {{ place: number, name: string, example: string, field: string, isGuess: boolean, notes: string[] }} Column */

/** Rows in which an example of each column is searched. */
const EXAMPLE_ROWS = 20;
const EXAMPLE_LETTERS = 40;

/** The first cell with content of each column. @param {Chosen} file */
function examples(file) {
  const rows = records(file.source).slice(1, EXAMPLE_ROWS + 1).map((record) => cells(record, file.separator));
  return file.header.map((_, place) => rows.map((row) => row[place] ?? "").find((cell) => cell.trim()) ?? "");
}

/**
 * The columns, folded away while the service reads all of them under their names.
 * @param {{ file: Chosen, fields: string[], report: Report | null, isRecalled: boolean, isRefused: boolean,
 *   isFixed: boolean }} p
 */
export function Columns({ file, fields, report, isRecalled, isRefused, isFixed }) {
  const shown = useMemo(() => examples(file), [file]);
  const sent = sentHeader(file.header, fields);
  const likely = guess(file.header);
  const rows = file.header.map((name, place) => ({ place, name: name || t.csv.unnamed(place + 1),
    example: shown[place] ?? "", field: fields[place] ?? AS_NAMED, isGuess: !isRecalled && likely[place] !== AS_NAMED && likely[place] === fields[place],
    notes: (report?.warnings ?? []).filter((one) => one.column === sent[place]).map((one) => one.message) }));
  const columns = [
    { name: "name", label: t.csv.inFile, isMain: true,
      cell: (/** @type {Column} */ one) => html`<span dir="auto">${one.name}</span>` },
    { name: "example", label: t.csv.example, cell: (/** @type {Column} */ one) =>
      html`<span class="muted" dir="auto">${short(one.example, EXAMPLE_LETTERS) || "–"}</span>` },
    { name: "field", label: t.csv.readAs,
      cell: (/** @type {Column} */ one) => html`<${Choice} column=${one} isFixed=${isFixed} />` },
    ...(rows.some((one) => one.isGuess || one.notes.length > 0) ? [{ name: "notes", label: t.csv.note, isWide: true, cell: (/** @type {Column} */ one) =>
      html`${one.isGuess && html`<div><${Badge} tone="info">${t.csv.guessed}</${Badge}></div>`}
        ${one.notes.map((note) => html`<div><${Badge} tone="warn">${note.replaceAll("`", "")}</${Badge}></div>`)}` }] : []),
  ];
  const isOpen = isRefused || rows.some((one) => one.field !== AS_NAMED || one.notes.length > 0);
  return html`<details class="columns" open=${isOpen}><summary>${t.csv.columnsOf(rows.length)}</summary>
    <p class="muted">${isRecalled ? t.csv.recalled : t.csv.columnsText}</p>
    <${Table} caption=${t.csv.columns} columns=${columns} rows=${rows}
      keyOf=${(/** @type {Column} */ one) => String(one.place)} /></details>`;
}

/** The name of a field with its name in files. @param {string} field */
const labelOf = (field) => `${fieldName(field)} (${field})`;

/** @param {{ column: Column, isFixed: boolean }} p */
function Choice({ column, isFixed }) {
  const { place, field, name } = column;
  const isCustom = field.startsWith(CUSTOM);
  const own = normalized(name);
  const choose = (/** @type {string} */ value) => chooseField(place, value === CUSTOM ? CUSTOM + keyFor(name) : value);
  return html`<div class="choice"><select aria-label=${t.csv.readAsOf(name)} value=${isCustom ? CUSTOM : field}
      disabled=${isFixed} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
      <option value=${AS_NAMED}>${!isKnown(name) ? t.csv.notRead : FIELDS.includes(own) ? labelOf(own) : own}</option>
      ${FIELDS.filter((one) => one !== own).map((one) => html`<option key=${one} value=${one}>${labelOf(one)}</option>`)}
      <option value=${CUSTOM}>${t.csv.custom}</option>
      <option value=${LEFT_OUT}>${t.csv.leftOut}</option></select>
    ${isCustom && html`<input aria-label=${t.csv.keyOf(name)} value=${field.slice(CUSTOM.length)} disabled=${isFixed}
      autocomplete="off" spellcheck="false"
      onInput=${(/** @type {any} */ event) => chooseField(place, CUSTOM + event.target.value)} />`}</div>`;
}
