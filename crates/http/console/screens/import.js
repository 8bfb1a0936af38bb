// CSV import of people: choose a file, see what it would change, apply it, and take back the refused rows.

import { request } from "../lib/api.js";
import { cell, cells, download, pick, records } from "../lib/csv.js";
import { useAction } from "../lib/data.js";
import { number, plain } from "../lib/format.js";
import { href } from "../lib/router.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Changes, Facts, Figure, Page, Problem, Status, Table } from "../lib/ui.js";
import { html, useRef, useState } from "../lib/view.js";
import { t } from "../texts.js";

const MOST_BYTES = 5 * 1024 * 1024;
const KNOWN = ["email", "first_name", "last_name", "role", "manager_email", "department_name", "status",
  "job_title", "external_id"];
/** Rows in one request of the apply, so that its progress is seen. */
const CHUNK_ROWS = 1000;
const SHOWN_ROWS = 100;

/** @typedef {import("../types").CsvReport} Report */
/** @typedef {{ name: string, text: string, header: string[], rows: number }} Chosen */
/** @typedef {import("../types").CsvReportDataError} Refused */

export default function Import() {
  const [file, setFile] = useState(/** @type {Chosen | null} */ (null));
  const [plan, setPlan] = useState(/** @type {Report | null} */ (null));
  const [result, setResult] = useState(/** @type {Report | null} */ (null));
  const [isClearing, setIsClearing] = useState(false);
  const [done, setDone] = useState(0);
  const check = useAction(async (/** @type {Chosen} */ chosen, /** @type {boolean} */ clears) => {
    const query = { dry_run: true, empty: clears ? "clear" : undefined };
    setPlan((await request("POST", "/employees/csv", { csv: chosen.text, query })).data);
  });
  const apply = useAction(async () => {
    if (!file) return;
    setDone(0);
    setResult(await applied(file, isClearing, setDone));
    toast(t.csv.applied);
  });
  const choose = async (/** @type {File | undefined} */ given) => {
    if (!given) return;
    if (given.size > MOST_BYTES) return void toast(t.csv.tooLarge, "bad");
    const text = (await given.text()).replace(/^\uFEFF/, "");
    const all = records(text);
    const chosen = { name: given.name, text, header: cells(all[0] ?? "").map((one) => one.trim()),
      rows: all.length - 1 };
    setFile(chosen);
    setPlan(null);
    setResult(null);
    await check.run(chosen, isClearing);
  };
  const again = () => (setFile(null), setPlan(null), setResult(null));
  const clear = (/** @type {boolean} */ clears) =>
    (setIsClearing(clears), setPlan(null), file && check.run(file, clears));
  const shown = result ?? plan;
  return html`<${Page} title=${t.screens.import} lead=${t.csv.lead}
    actions=${file && html`<${Button} onClick=${again}>${t.csv.another}</${Button}>`}>
    ${!file && html`<${Drop} onFile=${choose} />`}
    ${file && html`<${About} file=${file} isClearing=${isClearing} onClear=${clear} isFixed=${Boolean(result)} />`}
    ${(check.error ?? apply.error) && html`<${Problem} error=${check.error ?? apply.error} />`}
    ${check.isBusy && html`<p role="status">${t.csv.checking}</p>`}
    ${apply.isBusy && file &&
      html`<p role="status"><progress value=${done} max=${file.rows} aria-label=${t.csv.applying}></progress>
      ${t.csv.progress(number(done), number(file.rows))}</p>`}
    ${file && shown &&
      html`<${Outcome} report=${shown} file=${file} isDone=${Boolean(result)} onApply=${apply.run}
        isBusy=${apply.isBusy} />`}
  </${Page}>`;
}

/**
 * Applies a file in parts and adds their reports up. Managers that a later part creates are resolved by a second
 * pass over the rows that the first one refused.
 * @param {Chosen} file @param {boolean} isClearing @param {(rows: number) => void} onDone
 * @returns {Promise<Report>}
 */
async function applied(file, isClearing, onDone) {
  const [header = "", ...rows] = records(file.text);
  const query = { empty: isClearing ? "clear" : undefined };
  if (rows.length <= 2 * CHUNK_ROWS) {
    const { data } = await request("POST", "/employees/csv", { csv: file.text, query });
    onDone(rows.length);
    return data;
  }
  const sum = { created: 0, updated: 0, deactivated: 0, skipped: 0, errors: /** @type {Refused[]} */ ([]) };
  let open = rows.map((row, at) => ({ row, at }));
  for (let pass = 0; pass < 2 && open.length > 0; pass += 1) {
    /** @type {Refused[]} */
    const errors = [];
    for (let start = 0; start < open.length; start += CHUNK_ROWS) {
      const part = open.slice(start, start + CHUNK_ROWS);
      const { data } = await request("POST", "/employees/csv",
        { csv: [header, ...part.map(({ row }) => row), ""].join("\n"), query });
      for (const name of /** @type {const} */ (["created", "updated", "deactivated",
        "skipped"])) sum[name] += data.data[name];
      errors.push(...data.data.errors.map((/** @type {Refused} */ one) =>
        ({ ...one, row_number: (part[one.row_number - 2]?.at ?? 0) + 2 })));
      onDone(Math.min(rows.length, start + CHUNK_ROWS));
    }
    sum.errors = errors;
    const refused = new Set(errors.map((one) => one.row_number - 2));
    open = rows.map((row, at) => ({ row, at })).filter(({ at }) => refused.has(at));
  }
  return { data: sum };
}

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
    <${Facts} entries=${[[t.csv.rows, number(file.rows)], [t.csv.columns, columns]]} />
    <label class="check"><input type="checkbox" checked=${isClearing} disabled=${isFixed}
      onChange=${(/** @type {any} */ event) => onClear(event.target.checked)} />
      <span>${t.csv.clearing}</span></label></${Card}>`;
}

/** @param {{ report: Report, file: Chosen, isDone: boolean, onApply: () => void, isBusy: boolean }} p */
function Outcome({ report, file, isDone, onApply, isBusy }) {
  const { created, updated, deactivated, skipped, errors } = report.data;
  const changed = created + updated + deactivated;
  const reasons = new Map(errors.map((one) => [one.row_number, one.message]));
  const take = () => download(file.name.replace(/(\.csv)?$/i, "-refused.csv"), pick(file.text, reasons),
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
      <${Figure} label=${t.csv.created} value=${number(created)} />
      <${Figure} label=${t.csv.updated} value=${number(updated)} />
      <${Figure} label=${t.csv.deactivated} value=${number(deactivated)} />
      <${Figure} label=${t.csv.skipped} value=${number(skipped)} />
      <${Figure} label=${t.csv.refused} value=${number(errors.length)}
        tone=${errors.length ? "bad" : "good"} /></div>
    <div class="actions">
      ${isDone ? html`<a class="button primary" href=${href("/people", { view: "tree" })}>${t.csv.tree}</a>`
        : html`<${Button} kind="primary" busy=${isBusy} disabled=${changed === 0} onClick=${onApply}>
          ${t.csv.apply(number(changed))}</${Button}>`}
      ${errors.length > 0 && html`<${Button} onClick=${take}>${t.csv.take(number(errors.length))}</${Button}>`}
      <span class="muted">${isDone ? t.csv.doneText : t.csv.planText}</span></div>
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
