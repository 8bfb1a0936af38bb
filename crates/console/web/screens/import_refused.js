// The rows that an import refuses. Their cells are corrected here, and the plan is made again.

import { cells, records } from "../lib/csv.js";
import { normalized, sentHeader } from "../lib/csv_columns.js";
import { correct } from "../lib/csv_import.js";
import { number } from "../lib/format.js";
import { Card, Table } from "../lib/ui.js";
import { html, useMemo } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").CsvReportDataError} Refused */
/** @typedef {import("../lib/csv_import.js").Chosen} Chosen */

const SHOWN_ROWS = 100;

/** Returns the rows to show: those with a problem of their own first, if there are too many. @param {Refused[]} errors */
function shownOf(errors) {
  const isCause = (/** @type {Refused} */ one) => one.caused_by_row === undefined;
  const shown = [...errors.filter(isCause), ...errors.filter((one) => !isCause(one))].slice(0, SHOWN_ROWS);
  return shown.sort((one, other) => one.row_number - other.row_number);
}

/**
 * Places of the cells that can solve the problems of a row: those of the fields that the problems name, or all cells if
 * a problem is of the whole row.
 * @param {Refused} one @param {string[]} sent @param {number} width
 */
function placesOf(one, sent, width) {
  const fields = new Set(one.problems.map((problem) => normalized(problem.field)));
  const named = sent.flatMap((name, place) => (fields.has(normalized(name)) ? [place] : []));
  return named.length > 0 && !fields.has("row") ? named : Array.from({ length: Math.max(width, sent.length) }, (_, at) => at);
}

/**
 * @param {{ errors: Refused[], file: Chosen, fields: string[], corrections: Map<number, Map<number, string>>,
 *   isFixed: boolean }} p
 */
export function RefusedRows({ errors, file, fields, corrections, isFixed }) {
  const all = useMemo(() => records(file.source), [file.source]);
  const sent = sentHeader(file.header, fields);
  const correction = (/** @type {Refused} */ one) => {
    const row = cells(all[one.row_number - 1] ?? "", file.separator);
    return html`<div class="corrections">${placesOf(one, sent, row.length).map((place) => {
      const name = file.header[place] || t.csv.unnamed(place + 1);
      return html`<label key=${place}><span class="muted" dir="auto">${name}</span>
        <input value=${corrections.get(one.row_number)?.get(place) ?? row[place] ?? ""} dir="auto" disabled=${isFixed}
          aria-label=${t.csv.cellOf(name, one.row_number)} autocomplete="off" spellcheck="false"
          onInput=${(/** @type {any} */ event) => correct(one.row_number, place, event.target.value)} /></label>`;
    })}</div>`;
  };
  const columns = [
    { name: "row", label: t.csv.row, isNumber: true,
      cell: (/** @type {Refused} */ one) => number(one.row_number) },
    { name: "email", label: t.people.email, isMain: true, cell: (/** @type {Refused} */ one) => one.email || "–" },
    { name: "problem", label: t.csv.problem, isWide: true,
      cell: (/** @type {Refused} */ one) => html`${one.problems.map((problem) =>
        html`<div><code>${problem.field}</code> ${problem.message}</div>`)}` },
    { name: "correction", label: t.csv.correction, cell: correction },
  ];
  return html`<${Card} title=${t.csv.problems}>
    <${Table} caption=${t.csv.problems} columns=${columns} rows=${shownOf(errors)}
      keyOf=${(/** @type {Refused} */ one) => String(one.row_number)} />
    ${errors.length > SHOWN_ROWS &&
      html`<p class="muted">${t.csv.others(number(errors.length - SHOWN_ROWS))}</p>`}</${Card}>`;
}
