// Retention: the periods after which data is removed, a preview of the removals, and the receipts of the runs.

import { request } from "../lib/api.js";
import { useGet, useList } from "../lib/data.js";
import { Confirm } from "../lib/dialog.js";
import { number } from "../lib/format.js";
import { can, isBound, isOperator } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Button, Card, Empty, Field, Problem, Shown, Status, Table, Time } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").RetentionRun} RetentionRun */
/** @typedef {import("../types").RetentionPreview} RetentionPreview */
/** @typedef {Record<string, string | null>} Periods */

/** `true` if the key may see and change the retention. */
export const canRetain = () => can("employees:erase") && can("settings:read") && isOperator() && !isBound();

const RULES = ["archived_observations", "archived_objectives", "archived_summaries", "archived_conversations",
  "deactivated_people"];
const PERIODS = ["P1Y", "P2Y", "P3Y", "P5Y", "P7Y", "P10Y"];

/** The periods that are set. @param {Periods} periods */
const setOnes = (periods) => Object.fromEntries(Object.entries(periods).filter(([, period]) => period));

export function Retention() {
  const stored = useGet("/organization");
  return html`<${Shown} of=${stored}>${(/** @type {{ retention: Periods }} */ organization) => html`
    <${Rules} key=${JSON.stringify(organization.retention)} stored=${organization.retention}
      onSaved=${stored.reload} />`}</${Shown}>
    <${Runs} />`;
}

/** @param {{ stored: Periods, onSaved: () => void }} p */
function Rules({ stored, onSaved }) {
  const [periods, setPeriods] = useState(stored);
  const [asks, setAsks] = useState(false);
  const isChanged = RULES.some((rule) => periods[rule] !== stored[rule]);
  const preview = useGet("/retention/preview", setOnes(periods));
  const options = (/** @type {string} */ rule) => {
    const own = stored[rule];
    return own && !PERIODS.includes(own) ? [own, ...PERIODS] : PERIODS;
  };
  const save = async () => {
    const changed = RULES.filter((rule) => periods[rule] !== stored[rule]).map((rule) => [rule, periods[rule]]);
    await request("PATCH", "/organization", { body: { retention: Object.fromEntries(changed) } });
    toast(t.retention.saved);
    onSaved();
  };
  const choose = (/** @type {string} */ rule) => (/** @type {any} */ event) =>
    setPeriods({ ...periods, [rule]: event.target.value || null });
  const actions = can("settings:write") && html`<${Button} kind="primary" disabled=${!isChanged}
    onClick=${() => setAsks(true)}>${t.retention.save}</${Button}>`;
  return html`<${Card} title=${t.retention.title} actions=${actions}>
    <p>${t.retention.lead}</p>
    <div class="form wide">${RULES.map((rule) => html`<${Field} key=${rule} label=${t.retention.rules[rule]}>
      <select name=${rule} value=${periods[rule] ?? ""} onChange=${choose(rule)}>
        <option value="">${t.retention.keep}</option>
        ${options(rule).map((period) => html`<option value=${period}>${t.retention.period(period)}</option>`)}
      </select></${Field}>`)}</div>
    ${preview.error ? html`<${Problem} error=${preview.error} />`
      : preview.data && html`<${Preview} preview=${preview.data} periods=${periods} />`}
    ${asks && html`<${Confirm} title=${t.retention.save} text=${t.retention.saveText} action=${t.retention.save}
      kind="danger" onClose=${() => setAsks(false)} work=${save}>
      ${preview.data && html`<${Preview} preview=${preview.data} periods=${periods} />`}</${Confirm}>`}
  </${Card}>`;
}

/** The number of rows that each rule will remove, with the day. @param {{ preview: RetentionPreview, periods: Periods }} p */
function Preview({ preview, periods }) {
  const rows = RULES.filter((rule) => periods[rule] && preview.applies_at[rule]);
  const columns = [
    { name: "rule", label: t.retention.rule, isMain: true, cell: (/** @type {string} */ rule) => t.retention.rules[rule] },
    { name: "count", label: t.retention.removes,
      cell: (/** @type {string} */ rule) => number(preview.counts[rule] ?? 0) },
    { name: "at", label: t.retention.appliesAt,
      cell: (/** @type {string} */ rule) => html`<${Time} at=${preview.applies_at[rule]} exact />` },
  ];
  return rows.length > 0 && html`<${Table} caption=${t.retention.preview} columns=${columns} rows=${rows}
    keyOf=${(/** @type {string} */ rule) => rule} />`;
}

/** The receipts of the runs, newest first. */
function Runs() {
  const list = useList("/retention/runs");
  const columns = [
    { name: "started", label: t.retention.startedAt, isMain: true,
      cell: (/** @type {RetentionRun} */ run) => html`<${Time} at=${run.started_at} exact />
        <span class="cell-note">${run.id}</span>` },
    { name: "state", label: t.state, cell: (/** @type {RetentionRun} */ run) => html`<${Status} word=${run.status} />` },
    { name: "removed", label: t.data.rows, cell: (/** @type {RetentionRun} */ run) => html`<ul class="counts">
      ${Object.entries(run.counts).map(([rule, count]) =>
        html`<li key=${rule}>${t.retention.rules[rule] ?? rule} ${number(count)}</li>`)}</ul>` },
  ];
  return html`<${Card} title=${t.retention.runs}><${Shown} of=${list}
      empty=${html`<${Empty} title=${t.retention.none} text=${t.retention.noneText} />`}>
    ${(/** @type {RetentionRun[]} */ rows) =>
      html`<${Table} caption=${t.retention.runs} columns=${columns} rows=${rows} />`}</${Shown}></${Card}>`;
}
