// The data about one person: its download, the legal hold, and the erasure; and the receipts of all erasures.

import { ApiError, request } from "../lib/api.js";
import { download } from "../lib/csv.js";
import { useAction, useGet, useList } from "../lib/data.js";
import { Confirm, Dialog } from "../lib/dialog.js";
import { fullName, number } from "../lib/format.js";
import { fileOf, namesIn, printable } from "../lib/print.js";
import { href } from "../lib/router.js";
import { can, isBound, isOperator } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Button, Card, Empty, Facts, Field, Id, Problem, Shown, Skeleton, Status, Table, Time,
  fieldError } from "../lib/ui.js";
import { html, useEffect, useState } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").Employee} Employee */
/** @typedef {import("../types").Erasure} Erasure */

/** `true` if the key may erase people and hold their data. */
export const canErase = () => can("employees:erase") && isOperator() && !isBound();

/** A pseudonym in place of an erased person. @param {Employee} person */
export const isErased = (person) => person.email === `erased-${person.id}@erased.invalid`;

/** Counts of kinds that are not zero. @param {Record<string, number>} counts */
const countsOf = (counts) => Object.entries(counts).filter(([, count]) => count > 0)
  .map(([kind, count]) => /** @type {[string, any]} */ ([t.data.kinds[kind] ?? kind, number(count)]));

/** @param {{ person: Employee, isRead: boolean, onSaved: () => void }} p `isRead` unless the last read of the person failed */
export function PersonData({ person, isRead, onSaved }) {
  const [dialog, setDialog] = useState("");
  const close = () => setDialog("");
  const take = useAction(async (/** @type {boolean} */ isPage) => {
    const { data } = await request("GET", /** @type {string} */ (`/employees/${person.id}/personal-data`),
      { lines: true });
    const lines = /** @type {string} */ (/** @type {unknown} */ (data));
    const page = isPage ? printable(t.work.print.title(fullName(person)), lines, await namesIn(lines)) : lines;
    if (page === null) throw new ApiError(0, { code: "console_error", message: t.work.print.cut });
    if (isPage) download(fileOf(person, "html"), page, "text/html");
    else download(fileOf(person, "ndjson"), page, "application/x-ndjson");
    toast(t.data.taken);
  });
  if (isErased(person)) {
    return html`<${Card} title=${t.data.title}><p>${t.data.erased}
      ${" "}<a href=${href("/people", { view: "erasures" })}>${t.data.receipts}</a></p></${Card}>`;
  }
  // A failed read says nothing about the hold.
  const isKnown = isRead && "legal_hold" in person;
  const held = (isKnown && person.legal_hold) || null;
  const isFree = isKnown && held === null;
  const isGone = person.status === "deactivated";
  const actions = html`
    <${Button} busy=${take.isBusy} onClick=${() => take.run(true)}>${t.work.print.take}</${Button}>
    <${Button} busy=${take.isBusy} onClick=${() => take.run(false)}>${t.data.take}</${Button}>
    ${isKnown && html`<${Button} onClick=${() => setDialog(held ? "release" : "hold")}>
      ${held ? t.data.release : t.data.hold}</${Button}>`}
    ${isGone && isFree && html`<${Button} kind="danger" onClick=${() => setDialog("erase")}>
      ${t.data.erase}</${Button}>`}`;
  return html`<${Card} title=${t.data.title} actions=${actions}>
    <${Facts} entries=${[
      [t.data.holdState, held ? html`<${Status} word="held" /> ${held.reason}` : isFree ? t.none : "…"],
      ...(held ? [[t.data.heldAt, html`<${Time} at=${held.held_at} />`]] : []),
    ]} />
    <p class="hint">${held ? t.data.heldText : isGone ? t.data.eraseText : t.data.activeText}</p>
    ${take.error && html`<${Problem} error=${take.error} />`}
    ${dialog === "hold" && html`<${Hold} id=${person.id} onClose=${close} onSaved=${onSaved} />`}
    ${dialog === "release" && html`<${Confirm} title=${t.data.release} text=${t.data.releaseText}
      action=${t.data.release} kind="danger" onClose=${close} work=${async () =>
        (await request("DELETE", `/employees/${person.id}/legal-hold`), toast(t.data.released), onSaved())} />`}
    ${dialog === "erase" && html`<${Erase} person=${person} onClose=${close} onSaved=${onSaved} />`}
  </${Card}>`;
}

/** @param {{ id: string, onClose: () => void, onSaved: () => void }} p */
function Hold({ id, onClose, onSaved }) {
  const [reason, setReason] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    await request("PUT", `/employees/${id}/legal-hold`, { body: { reason } });
    toast(t.data.heldNow);
    onSaved();
    onClose();
  });
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} disabled=${!reason.trim()} onClick=${run}>${t.data.hold}</${Button}>`;
  return html`<${Dialog} title=${t.data.hold} onClose=${onClose} foot=${foot}><p>${t.data.holdText}</p>
    <${Field} label=${t.data.reason} error=${fieldError(error, "reason")}>
      <input name="reason" value=${reason} dir="auto"
        onInput=${(/** @type {any} */ event) => setReason(event.target.value)} /></${Field}>
    ${error && html`<${Problem} error=${error} />`}</${Dialog}>`;
}

/** Shows what an erasure would remove, and asks for the e-mail address before it begins.
 * @param {{ person: Employee, onClose: () => void, onSaved: () => void }} p */
function Erase({ person, onClose, onSaved }) {
  const path = `/employees/${person.id}/erasure`;
  const [email, setEmail] = useState("");
  const [reason, setReason] = useState("");
  const [receipt, setReceipt] = useState(/** @type {Erasure | null} */ (null));
  const dry = useAction(async () => {
    const { data } = await request("POST", path, { query: { dry_run: true } });
    setReceipt(data.data);
  });
  useEffect(() => void dry.run(), []);
  const { run, isBusy, error } = useAction(async () => {
    await request("POST", path, { body: reason.trim() ? { reason } : {} });
    toast(t.data.begun);
    onSaved();
    onClose();
  });
  const counts = receipt && countsOf(receipt.counts);
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="danger" busy=${isBusy} disabled=${!receipt || email.trim() !== person.email} onClick=${run}>
      ${t.data.erase}</${Button}>`;
  const input = (/** @type {(text: string) => void} */ set) => (/** @type {any} */ event) => set(event.target.value);
  return html`<${Dialog} title=${t.data.eraseTitle(fullName(person))} onClose=${onClose} foot=${foot}>
    <p><strong>${t.data.cannotUndo}</strong> ${t.data.stays}</p>
    ${dry.error && html`<${Problem} error=${dry.error} />`}
    ${dry.isBusy && html`<${Skeleton} rows=${3} />`}
    ${counts && (counts.length ? html`<${Facts} entries=${counts} />` : html`<p class="muted">${t.data.nothing}</p>`)}
    ${receipt && html`<p class="hint">${t.data.outOfReach}</p>`}
    <div class="form"><${Field} label=${t.data.reason} hint=${t.data.reasonHint} error=${fieldError(error, "reason")}>
        <input name="reason" value=${reason} dir="auto" onInput=${input(setReason)} /></${Field}>
      <${Field} label=${t.data.confirm} hint=${person.email}>
        <input name="confirm" value=${email} autocomplete="off" onInput=${input(setEmail)} /></${Field}></div>
    ${error && html`<${Problem} error=${error} />`}</${Dialog}>`;
}

/** The receipts of all erasures, newest first. */
export function Erasures() {
  const list = useList("/erasures");
  const columns = [
    { name: "person", label: t.people.person, isMain: true,
      cell: (/** @type {Erasure} */ one) => html`<${Id} value=${one.employee_id} />
        <span class="cell-note">${one.id}</span>` },
    { name: "state", label: t.state, cell: (/** @type {Erasure} */ one) => html`<${Status} word=${one.status} />` },
    { name: "rows", label: t.data.rows, cell: (/** @type {Erasure} */ one) => html`<ul class="counts">
      ${countsOf(one.counts).map(([kind, count]) => html`<li key=${kind}>${kind} ${count}</li>`)}</ul>
      ${one.kept_by_hold > 0 && html`<span class="cell-note">${t.data.keptByHold(number(one.kept_by_hold))}</span>`}` },
    { name: "requested", label: t.data.requestedAt,
      cell: (/** @type {Erasure} */ one) => html`<${Time} at=${one.requested_at} />` },
    { name: "completed", label: t.data.completedAt,
      cell: (/** @type {Erasure} */ one) => html`<${Time} at=${one.completed_at} />` },
  ];
  return html`<${Shown} of=${list} empty=${html`<${Empty} title=${t.data.none} text=${t.data.noneText} />`}>
    ${(/** @type {Erasure[]} */ rows) =>
      html`<${Table} caption=${t.data.receipts} columns=${columns} rows=${rows} />`}</${Shown}>
    <p class="hint">${t.data.outOfReach}</p>`;
}
