// CSV import of people: choose a file, see what it would change, apply it, and take back the refused rows.

import { Changes } from "../lib/changes.js";
import { cell, download, pick } from "../lib/csv.js";
import { CUSTOM, FIELDS, sentHeader } from "../lib/csv_columns.js";
import { agree, apply, checkAgain, choose, clearWith, current, forget } from "../lib/csv_import.js";
import { number, plain } from "../lib/format.js";
import { href } from "../lib/router.js";
import { Badge, Button, Card, Facts, Figure, Page, Problem, Status, Table } from "../lib/ui.js";
import { html, useRef, useState, useStore } from "../lib/view.js";
import { t } from "../texts.js";
import { Columns } from "./import_columns.js";
import { RefusedRows } from "./import_refused.js";

const SHOWN_ROWS = 100;
/** Cells that show whether the encoding is right. */
const SHOWN_CELLS = 5;

/** @typedef {import("../types").CsvReport} Report */
/** @typedef {import("../lib/csv_import.js").Chosen} Chosen */
/** @typedef {import("../lib/csv_import.js").Import} Current */

export default function Import() {
  const now = useStore(current);
  const { file, isAgreed, plan, result, done, busy, error, reason } = now;
  const shown = result ?? plan;
  return html`<${Page} title=${t.screens.import} lead=${t.csv.lead}
    actions=${file && busy !== "apply" && html`<${Button} onClick=${forget}>${t.csv.another}</${Button}>`}>
    ${reason && html`<div class="problem" role="alert"><strong>${t.csv.unreadable[reason].title}</strong>
      <p>${t.csv.unreadable[reason].text}</p></div>`}
    ${!file && html`<${Drop} onFile=${choose} />`}
    ${file && html`<${About} now=${now} file=${file} />`}
    ${file && !isAgreed && html`<${Encoding} file=${file} />`}
    ${error && (file && lacksEmail(error) ? html`<div class="problem" role="alert"><strong>${t.csv.noEmail}</strong></div>` : html`<${Problem} error=${error} />`)}
    ${busy === "check" && html`<p role="status">${t.csv.checking}</p>`}
    ${busy === "apply" && file &&
      html`<p role="status"><progress value=${done} max=${file.rows} aria-label=${t.csv.applying}></progress>
      ${t.csv.progress(done, file.rows)}</p>`}
    ${file && shown &&
      html`<${Outcome} report=${shown} file=${file} now=${now} />`}
  </${Page}>`;
}

/** `true` if no column has the addresses. @param {import("../lib/api.js").ApiError} error */
const lacksEmail = ({ details }) => details.some(({ field, code }) => field === "email" && code === "required");

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
  const template = () => download("people.csv", `${[...FIELDS.map(cell), `${CUSTOM}city`].join(",")}\n`, "text/csv");
  return html`<div class=${`drop ${isOver ? "is-over" : ""}`} onDragOver=${over}
    onDragLeave=${() => setIsOver(false)} onDrop=${drop}>
    <h2>${t.csv.drop}</h2><p class="muted">${t.csv.dropText}</p>
    <input ref=${input} class="hidden" type="file" accept=".csv,text/csv" aria-label=${t.csv.choose} tabindex="-1"
      onChange=${(/** @type {any} */ event) => onFile(event.target.files[0])} />
    <div class="actions"><${Button} kind="primary" onClick=${() => input.current?.click()}>
      ${t.csv.choose}</${Button}>
      <${Button} onClick=${template}>${t.csv.template}</${Button}></div></div>`;
}

/** @param {{ now: Current, file: Chosen }} p */
function About({ now, file }) {
  const { fields, isAgreed, isRecalled, isChanged, isClearing, busy, plan, result, error } = now;
  return html`<${Card} title=${file.name}>
    <${Facts} entries=${[[t.csv.rows, number(file.rows)],
      ...(file.separator === "," ? [] : [[t.csv.separator, t.csv.separators[file.separator]]])]} />
    ${isAgreed && html`<${Columns} file=${file} fields=${fields} report=${result ?? plan} isRecalled=${isRecalled}
      isRefused=${error !== null} isFixed=${busy !== null} />`}
    <label class="check"><input type="checkbox" checked=${isClearing} disabled=${Boolean(result) || busy !== null}
      onChange=${(/** @type {any} */ event) => clearWith(event.target.checked)} />
      <span>${t.csv.clearing}</span></label>
    ${isChanged && html`<${CheckAgain} isBusy=${busy !== null} />`}</${Card}>`;
}

/** Checks the file with its changes. @param {{ isBusy: boolean }} p */
const CheckAgain = ({ isBusy }) => html`<div class="actions"><${Button} busy=${isBusy} onClick=${checkAgain}>
  ${t.csv.checkAgain}</${Button}><span class="muted">${t.csv.changedText}</span></div>`;

/** @param {{ report: Report, file: Chosen, now: Current }} p */
function Outcome({ report, file, now }) {
  const { busy, corrections, fields, isChanged } = now;
  const isDone = now.result !== null;
  const { created, updated, deactivated, skipped, errors } = report.data;
  const changed = created + updated + deactivated;
  const labels = isDone ? t.csv : t.csv.planned;
  const reasons = new Map(errors.map((one) => [one.row_number, one.message]));
  const take = () => download(file.name.replace(/(\.csv)?$/i, "-refused.csv"), pick(file.source, reasons, file.separator),
    "text/csv");
  // The table of columns has the other warnings.
  const sent = sentHeader(file.header, fields);
  const warnings = (report.warnings ?? []).filter((one) => !sent.includes(one.column));
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
        : html`<${Button} kind="primary" busy=${busy === "apply"} disabled=${changed === 0 || isChanged || busy !== null}
          onClick=${apply}>
          ${changed ? t.csv.apply(created, updated, deactivated) : t.csv.noChanges}</${Button}>`}
      ${errors.length > 0 && html`<${Button} onClick=${take}>${t.csv.take(errors.length)}</${Button}>`}
      <span class="muted">${isDone ? (errors.length ? t.csv.doneText : "") : t.csv.planText}</span></div>
    ${warnings.map((one) =>
      html`<p key=${one.column}><${Badge} tone="warn">${one.column}</${Badge}> ${one.message}</p>`)}
    ${errors.length > 0 && html`<${RefusedRows} errors=${errors} file=${file} fields=${fields}
      corrections=${corrections} isFixed=${busy !== null} />${isChanged && corrections.size > 0 && html`<${CheckAgain} isBusy=${busy !== null} />`}`}
    ${changes.length > 0 && html`<${Card} title=${t.csv.changes}><${Plan} rows=${changes.slice(0, SHOWN_ROWS)} />
      ${changes.length > SHOWN_ROWS &&
        html`<p class="muted">${t.csv.others(number(changes.length - SHOWN_ROWS))}</p>`}
      ${report.plan_has_more && html`<p class="muted">${t.csv.planEndsEarly}</p>`}</${Card}>`}`;
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
