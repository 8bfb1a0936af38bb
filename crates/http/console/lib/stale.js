// The dialog after 412: another person changed the same resource. It shows both versions and loses neither.

import { t } from "../texts.js";
import { Dialog } from "./dialog.js";
import { useGet } from "./data.js";
import { plain } from "./format.js";
import { Button, Shown, Table } from "./ui.js";
import { html } from "./view.js";

/**
 * @param {{ path: string, mine: Record<string, unknown>, onClose: () => void,
 *   onSave: (etag: string | null) => unknown, onReload: (stored: any) => void }} p
 */
export function Stale({ path, mine, onClose, onSave, onReload }) {
  const stored = useGet(path);
  const differs = (/** @type {string} */ field) =>
    JSON.stringify(stored.data?.[field] ?? null) !== JSON.stringify(mine[field] ?? null);
  const keep = () => (onReload(stored.data), onClose());
  const foot = html`<${Button} onClick=${keep}>${t.stale.theirs}</${Button}>
    <${Button} kind="primary" disabled=${!stored.data} onClick=${() => onSave(stored.etag)}>
      ${t.stale.mine}</${Button}>`;
  const columns = [
    { name: "field", label: t.field, isMain: true,
      cell: (/** @type {string} */ field) => html`<code>${field}</code>` },
    { name: "stored", label: t.stale.stored, cell: (/** @type {string} */ field) => plain(stored.data?.[field]) },
    { name: "mine", label: t.stale.typed, cell: (/** @type {string} */ field) => plain(mine[field]) },
  ];
  return html`<${Dialog} title=${t.stale.title} onClose=${onClose} foot=${foot}><p>${t.stale.text}</p>
    <${Shown} of=${stored} rows=${2}>
      ${() => html`<${Table} caption=${t.stale.title} columns=${columns} rows=${Object.keys(mine).filter(differs)}
      keyOf=${(/** @type {string} */ field) => field} />`}</${Shown}></${Dialog}>`;
}
