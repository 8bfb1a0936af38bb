// Selection of rows, and one bar that writes to all of them.
//
//   const bulk = useBulk(rows, { name: (row) => …, isOpen: (row) => … });
//   bulk.column                       column of checkboxes for a Table; bulk.box(row) for other lists
//   html`<${BulkBar} of=${bulk} actions=${[{ name: "approve", text: t…, send: (row, values, quiet) => request(…) }]} />`
//
// The writes go one after the other, so that the quota is kept. Rows that the service refuses stay selected, with the reason.

import { t } from "../texts.js";
import { access, written } from "./api.js";
import { useAction } from "./data.js";
import { Dialog } from "./dialog.js";
import { Part } from "./form.js";
import { toast } from "./toast.js";
import { Button, reasonOf } from "./ui.js";
import { html, useRef, useState } from "./view.js";

/**
 * @typedef {{ name: string, verb?: string, text: (count: number) => string, isDanger?: boolean, field?: import("./form.js").FieldOf,
 *   send: (row: any, value: any, quiet: { quiet?: boolean }) => Promise<unknown> }} BulkAction
 */
/** @typedef {{ rows: any[], chosen: Set<string>, setChosen: (next: Set<string>) => void, name: (row: any) => string }} Bulk */

/**
 * @template Row
 * @param {Row[] | null} rows
 * @param {{ name: (row: any) => string, isOpen?: (row: any) => boolean, may?: boolean }} of `isOpen` if the row can be selected
 */
export function useBulk(rows, { name, isOpen = () => true, may = true }) {
  const [chosen, setChosen] = useState(() => /** @type {Set<string>} */ (new Set()));
  const open = may ? (rows ?? []).filter(isOpen) : [];
  const toggle = (/** @type {string} */ id) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const box = (/** @type {any} */ row) => open.includes(row) && html`<input type="checkbox" class="select" aria-label=${t.work.bulk.select(name(row))}
    checked=${chosen.has(row.id)} onChange=${() => toggle(row.id)} />`;
  const isAll = open.length > 0 && open.every((/** @type {any} */ row) => chosen.has(row.id));
  const all = html`<input type="checkbox" class="select" aria-label=${t.work.bulk.all} checked=${isAll}
    onChange=${() => setChosen(isAll ? new Set() : new Set(open.map((/** @type {any} */ row) => row.id)))} />`;
  const column = open.length > 0 ? [{ name: "select", label: all, cell: box, isBox: true }] : [];
  const selected = open.filter((/** @type {any} */ row) => chosen.has(row.id));
  return { rows: selected, chosen, setChosen, name, box, column };
}

/** @param {{ of: Bulk, actions: BulkAction[] }} p */
export function BulkBar({ of, actions }) {
  const [action, setAction] = useState(/** @type {BulkAction | null} */ (null));
  const count = of.rows.length;
  if (count === 0 && !action) return null;
  return html`<div class="bulk" role="region" aria-label=${t.work.bulk.chosen(count)}><strong role="status">${t.work.bulk.chosen(count)}</strong>
    ${actions.map((one) => html`<${Button} key=${one.name} kind=${one.isDanger ? "danger" : undefined} onClick=${() => setAction(one)}>
      ${t.work.bulk[one.name]}</${Button}>`)}
    <${Button} kind="quiet" onClick=${() => of.setChosen(new Set())}>${t.work.bulk.none}</${Button}>
    ${action && html`<${Run} of=${of} action=${action} onClose=${() => setAction(null)} />`}</div>`;
}

/** Asks, and writes to the selected rows. @param {{ of: Bulk, action: BulkAction, onClose: () => void }} p */
function Run({ of, action, onClose }) {
  // The rows of the beginning: rows that are done can leave the list behind the dialog.
  const [rows, setRows] = useState(of.rows);
  const [value, setValue] = useState(/** @type {any} */ (action.field?.kind === "person" ? null : ""));
  const [done, setDone] = useState(0);
  const [refused, setRefused] = useState(/** @type {{ row: any, reason: string }[]} */ ([]));
  const isStopped = useRef(false);
  const { run, isBusy } = useAction(async () => {
    /** @type {{ row: any, reason: string }[]} */
    const failed = [];
    const { key } = access;
    setRefused([]);
    for (const [at, row] of rows.entries()) {
      // The next session may belong to another organization.
      if (isStopped.current || access.key !== key) break;
      setDone(at);
      const isLast = at === rows.length - 1;
      await action.send(row, value, isLast ? {} : { quiet: true }).catch((error) =>
        failed.push({ row, reason: reasonOf(error) }));
    }
    // Only the last request makes the screen read its rows again.
    if (failed.at(-1)?.row === rows.at(-1)) written.set(written.value + 1);
    toast(t.work.bulk.done(rows.length - failed.length, rows.length, t.verbsDone[action.verb ?? action.name]), failed.length > 0 ? "bad" : "good");
    of.setChosen(new Set(failed.map(({ row }) => row.id)));
    if (failed.length === 0 || isStopped.current) return onClose();
    setRows(failed.map(({ row }) => row));
    setRefused(failed);
  });
  const close = () => ((isStopped.current = true), onClose());
  const isReady = !action.field?.isRequired || Boolean(value);
  const foot = html`${isBusy && html`<span class="grow" role="status">${t.work.bulk.progress(done, rows.length)}</span>`}
    <${Button} onClick=${close}>${t.cancel}</${Button}>
    <${Button} kind=${action.isDanger ? "danger" : "primary"} busy=${isBusy} disabled=${!isReady} onClick=${run}>${t.work.bulk[action.name]}</${Button}>`;
  return html`<${Dialog} title=${t.work.bulk[action.name]} onClose=${close} foot=${foot}><p>${action.text(rows.length)}</p>
    ${action.field && html`<${Part} field=${action.field} value=${value} onChange=${setValue} />`}
    ${refused.length > 0 && html`<div class="problem" role="alert"><strong>${t.work.bulk.refused(refused.length)}</strong>
      <ul>${refused.map(({ row, reason }) => html`<li key=${row.id}><span dir="auto">${of.name(row)}</span>: ${reason}</li>`)}</ul></div>`}</${Dialog}>`;
}
