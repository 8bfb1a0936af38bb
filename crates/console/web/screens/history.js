// The history of an objective or a summary: its changes, and the reason why it was sent back.

import { Changes } from "../lib/changes.js";
import { useList } from "../lib/data.js";
import { verbName } from "../lib/format.js";
import { Person } from "../lib/people.js";
import { Prose, Shown, Time } from "../lib/ui.js";
import { html } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").HistoryEntry} HistoryEntry */

/** The history at a path of a resource, newest first; null reads nothing. @param {string | null} path */
export const useHistory = (path) => useList(/** @type {"/summaries/{}/history" | null} */ (path && `${path}/history`));

/** @param {{ actor: HistoryEntry["actor"] }} p */
export const Actor = ({ actor }) => actor.id?.startsWith("emp_") ? html`<${Person} id=${actor.id} />` : html`<span dir="auto">${actor.id === null ? "Candor" : actor.name}</span>`;

/** @param {{ of: ReturnType<typeof useHistory> }} p */
export const HistorySteps = ({ of }) => html`<${Shown} of=${of}>${(/** @type {HistoryEntry[]} */ rows) => html`<ol class="steps">
  ${rows.map((row) => html`<li key=${row.id}><div class="step-head"><strong title=${row.action}>${verbName(row.action.split(".")[1] ?? "")}</strong><${Actor} actor=${row.actor} />
      <span class="muted"><${Time} at=${row.occurred_at} /></span></div>
    ${row.comment && html`<${Prose}>${row.comment}</${Prose}>`}
    <${Changes} changes=${row.changes} /></li>`)}</ol>`}</${Shown}>`;

/** The reason why a proposal or a draft came back, until it is submitted again. @param {{ rows: HistoryEntry[] | null }} p */
export function SentBack({ rows }) {
  const last = rows?.find((row) => /\.(submit|approve|reject|return)$/.test(row.action));
  if (!last || !/\.(reject|return)$/.test(last.action)) return null;
  return html`<section class="sent-back" aria-label=${t.work.sentBack}><strong>${t.work.sentBack}</strong>
    <span class="muted"><${Actor} actor=${last.actor} /> · <${Time} at=${last.occurred_at} /></span>
    <${Prose}>${last.comment}</${Prose}></section>`;
}
