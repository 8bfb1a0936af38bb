// CSV import of people: choose a file, see what it would change, apply it, and take back the refused rows.

import { cell, download, pick } from "../lib/csv.js";
import { agree, apply, choose, clearWith, current, forget } from "../lib/csv_import.js";
import { number, plain } from "../lib/format.js";
import { href } from "../lib/router.js";
import { Badge, Button, Card, Changes, Facts, Figure, Page, Problem, Status, Table } from "../lib/ui.js";
import { html, useRef, useState, useStore } from "../lib/view.js";
import { t } from "../texts.js";

const KNOWN = ["email", "first_name", "last_name", "role", "manager_email", "department_name", "status",
  "job_title", "external_id"];
const SHOWN_ROWS = 100;
/** Cells that show whether the encoding is right. */
const SHOWN_CELLS = 5;

/** @typedef {import("../types").CsvReport} Report */
/** @typedef {import("../lib/csv_import.js").Chosen} Chosen */
/** @typedef {import("../types").CsvReportDataError} Refused */

export default function Import() {
  const { file, isAgreed, plan, result, isClearing, done, busy, error, reason } = useStore(current);
  const shown = result ?? plan;
  return html`<${Page} title=${t.screens.import} lead=${t.csv.lead}
    actions=${file && busy !== "apply" && html`<${Button} onClick=${forget}>${t.csv.another}</${Button}>`}>
    ${reason && html`<div class="problem" role="alert"><strong>${t.csv.unreadable[reason].title}</strong>
      <p>${t.csv.unreadable[reason].text}</p></div>`}
    ${!file && html`<${Drop} onFile=${choose} />`}
    ${file && html`<${About} file=${file} isClearing=${isClearing} onClear=${clearWith}
      isFixed=${Boolean(result) || busy === "apply"} />`}
    ${file && !isAgreed && html`<${Encoding} file=${file} />`}
    ${error && html`<${Problem} error=${error} />`}
    ${busy === "check" && html`<p role="status">${t.csv.checking}</p>`}
    ${busy === "apply" && file &&
      html`<p role="status"><progress value=${done} max=${file.rows} aria-label=${t.csv.applying}></progress>
      ${t.csv.progress(done, file.rows)}</p>`}
    ${file && shown &&
      html`<${Outcome} report=${shown} file=${file} isDone=${Boolean(result)} onApply=${apply}
        isBusy=${busy === "apply"} />`}
  </${Page}>`;
}

/** Asks before a file is read as Windows-1252. @param {{ file: Chosen }} p */
const Encoding = ({ file }) => html`<${Card} title=${t.csv.encoding}>
  <p>${t.csv.encodingText(file.foreign.length)}</p>
  <ul>${file.foreign.slice(0, SHOWN_CELLS).map((one) => html`<li>${plain(one)}</li>`)}</ul>
  <p class="muted">${t.csv.encodingHint}</p>
  <div class="actions"><${Button} kind="primary" onClick=${agree}>${t.csv.agree}</${Button}></div></${Card}>`;

/** @param {{ onFile: (file: File | undefined) => void }} p */
function Drop({ onFile }) {
  const [isOver, setIsOver] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const over = (/** @type {DragEvent} */ event) => (event.preventDefault(), setIsOver(true));
  const drop = (/** @type {DragEvent} */ event) =>
    (event.preventDefault(), setIsOver(false), onFile(event.dataTransfer?.files[0]));
  const template = () => download("people.csv", `${[...KNOWN.map(cell), "custom.city"].join(",")}\n`, "text/csv");
  return html`<div class=${`drop ${isOver ? "is-over" : ""}`} onDragOver=${over}
    onDragLeave=${() => setIsOver(false)} onDrop=${drop}>
    <h2>${t.csv.drop}</h2><p class="muted">${t.csv.dropText}</p>
    <input ref=${input} class="hidden" type="file" accept=".csv,text/csv" aria-label=${t.csv.choose} tabindex="-1"
      onChange=${(/** @type {any} */ event) => onFile(event.target.files[0])} />
    <div class="actions"><${Button} kind="primary" onClick=${() => input.current?.click()}>
      ${t.csv.choose}</${Button}>
      <${Button} onClick=${template}>${t.csv.template}</${Button}></div></div>`;
}

/** @param {{ file: Chosen, isClearing: boolean, onClear: (clears: boolean) => void, isFixed: boolean }} p */
function About({ file, isClearing, onClear, isFixed }) {
  const isKnown = (/** @type {string} */ column) => KNOWN.includes(column.toLowerCase()) ||
    column.startsWith("custom.");
  const columns =
    html`<div class="tags">
      ${file.header.map((column) =>
        html`<${Badge} tone=${isKnown(column) ? "good" : "warn"}>${column}
          ${isKnown(column) ? "" : ` · ${t.csv.ignored}`}</${Badge}>`)}</div>`;
  return html`<${Card} title=${file.name}>
    <${Facts} entries=${[[t.csv.rows, number(file.rows)],
      ...(file.separator === "," ? [] : [[t.csv.separator, t.csv.separators[file.separator]]]),
      [t.csv.columns, columns]]} />
    <label class="check"><input type="checkbox" checked=${isClearing} disabled=${isFixed}
      onChange=${(/** @type {any} */ event) => onClear(event.target.checked)} />
      <span>${t.csv.clearing}</span></label></${Card}>`;
}

/** @param {{ report: Report, file: Chosen, isDone: boolean, onApply: () => void, isBusy: boolean }} p */
function Outcome({ report, file, isDone, onApply, isBusy }) {
  const { created, updated, deactivated, skipped, errors } = report.data;
  const changed = created + updated + deactivated;
  const labels = isDone ? t.csv : t.csv.planned;
  const reasons = new Map(errors.map((one) => [one.row_number, one.message]));
  const take = () => download(file.name.replace(/(\.csv)?$/i, "-refused.csv"), pick(file.source, reasons, file.separator),
    "text/csv");
  const columns = [
    { name: "row", label: t.csv.row, isNumber: true,
      cell: (/** @type {Refused} */ one) => number(one.row_number) },
    { name: "email", label: t.people.email, isMain: true, cell: (/** @type {Refused} */ one) => one.email || "–" },
    { name: "field", label: t.field,
      cell: (/** @type {Refused} */ one) =>
        html`${one.problems.map((problem) => html`<div><code>${problem.field}</code></div>`)}` },
    { name: "problem", label: t.csv.problem, isWide: true,
      cell: (/** @type {Refused} */ one) =>
        html`${one.problems.map((problem) => html`<div>${problem.message}</div>`)}` },
  ];
  const changes = (report.plan ?? []).filter((one) => one.action !== "skip" && one.action !== "reject");
  return html`<div class="figures">
      <${Figure} label=${labels.created} value=${number(created)} />
      <${Figure} label=${labels.updated} value=${number(updated)} />
      <${Figure} label=${labels.deactivated} value=${number(deactivated)} />
      <${Figure} label=${t.csv.skipped} value=${number(skipped)} />
      <${Figure} label=${t.csv.refused} value=${number(errors.length)}
        tone=${errors.length ? "bad" : "good"} /></div>
    <div class="actions">
      ${isDone ? html`<a class="button primary" href=${href("/people", { view: "tree" })}>${t.csv.tree}</a>`
        : html`<${Button} kind="primary" busy=${isBusy} disabled=${changed === 0} onClick=${onApply}>
          ${changed ? t.csv.apply(created, updated, deactivated) : t.csv.noChanges}</${Button}>`}
      ${errors.length > 0 && html`<${Button} onClick=${take}>${t.csv.take(errors.length)}</${Button}>`}
      <span class="muted">${isDone ? (errors.length ? t.csv.doneText : "") : t.csv.planText}</span></div>
    ${(report.warnings ?? []).map((one) =>
      html`<p key=${one.column}><${Badge} tone="warn">${one.column}</${Badge}> ${one.message}</p>`)}
    ${errors.length > 0 &&
      html`<${Card} title=${t.csv.problems}>
        <${Table} caption=${t.csv.problems} columns=${columns} rows=${errors.slice(0, SHOWN_ROWS)}
      keyOf=${(/** @type {Refused} */ one) => String(one.row_number)} /></${Card}>`}
    ${changes.length > 0 && html`<${Card} title=${t.csv.changes}><${Plan} rows=${changes.slice(0, SHOWN_ROWS)} />
      ${changes.length > SHOWN_ROWS &&
        html`<p class="muted">${t.csv.others(number(changes.length - SHOWN_ROWS))}</p>`}</${Card}>`}`;
}

/** @param {{ rows: import("../types").CsvReportPlan[] }} p */
function Plan({ rows }) {
  const columns = [
    { name: "row", label: t.csv.row, isNumber: true, cell: (/** @type {any} */ one) => number(one.row_number) },
    { name: "email", label: t.people.email, isMain: true, cell: (/** @type {any} */ one) => plain(one.email) },
    { name: "action", label: t.csv.action,
      cell: (/** @type {any} */ one) => html`<${Status} word=${one.action} />` },
    { name: "changes", label: t.csv.change, isWide: true,
      cell: (/** @type {any} */ one) => html`<${Changes} changes=${one.changes} />` },
  ];
  return html`<${Table} caption=${t.csv.changes} columns=${columns} rows=${rows}
    keyOf=${(/** @type {any} */ one) => String(one.row_number)} />`;
}
