// The dialog after 412: the resource was saved while a form was open. It shows both versions and loses neither. A form sends
// only what the person has changed, so that "Save my version" keeps what others have saved in other fields.

import { t } from "../texts.js";
import { Dialog } from "./dialog.js";
import { useGet } from "./data.js";
import { plain } from "./format.js";
import { Button, Shown, Table } from "./ui.js";
import { html } from "./view.js";

/** @param {unknown} one @param {unknown} other */
const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/**
 * The fields of a form that are not as the form began.
 * @param {Record<string, unknown>} form @param {Record<string, any>} was
 * @returns {Record<string, unknown>}
 */
export const changed = (form, was) => Object.fromEntries(Object.entries(form).filter(([name, value]) => !isSame(value, was[name])));

/**
 * @param {{ path: string, was: Record<string, any>, fields: string[], mine: Record<string, unknown>, onClose: () => void,
 *   onSave: (etag: string | null) => unknown, onReload: (stored: any) => void }} p `was` is the resource as the form began
 */
export function Stale({ path, was, fields, mine, onClose, onSave, onReload }) {
  const stored = useGet(path);
  const theirs = stored.data ? fields.filter((field) => !isSame(stored.data?.[field], was[field])) : [];
  const keep = () => (onReload(stored.data), onClose());
  const foot = html`<${Button} onClick=${keep}>${t.stale.theirs}</${Button}>
    <${Button} kind="primary" disabled=${!stored.data} onClick=${() => onSave(stored.etag)}>
      ${t.stale.mine}</${Button}>`;
  const columns = [
    { name: "field", label: t.field, isMain: true,
      cell: (/** @type {string} */ field) => html`<code>${field}</code>` },
    { name: "stored", label: t.stale.stored, cell: (/** @type {string} */ field) => plain(stored.data?.[field]) },
    { name: "mine", label: t.stale.typed, cell: (/** @type {string} */ field) => field in mine ? plain(mine[field])
      : html`<span class="muted">${t.stale.untouched}</span>` },
  ];
  return html`<${Dialog} title=${t.stale.title} onClose=${onClose} foot=${foot}>
    <${Shown} of=${stored} rows=${2}>
      ${() => theirs.length === 0 ? html`<p>${t.stale.others}</p>` : html`<p>${t.stale.text}</p>
        <${Table} caption=${t.stale.title} columns=${columns} rows=${theirs}
          keyOf=${(/** @type {string} */ field) => field} />`}</${Shown}></${Dialog}>`;
}
