// The connector of an identity provider: its activity, open issues, newest requests, mappings and brake.

import { request } from "../lib/api.js";
import { useAction, useGet, useList } from "../lib/data.js";
import { number } from "../lib/format.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Facts, Problem, Shown, Status, Table, Time } from "../lib/ui.js";
import { html } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").Connector} Connector */
/** @typedef {import("../types").ConnectorDetails} ConnectorDetails */
/** @typedef {import("../types").SyncIssue} SyncIssue */
/** @typedef {import("../types").ScimRequest} ScimRequest */

const SHOWN_REQUESTS = 20;

/** @param {{ connector: Connector, onChange: () => void }} p */
export function Provider({ connector, onChange }) {
  const path = `/connectors/${connector.id}`;
  const details = useGet(path);
  const issues = useList(`${path}/sync-issues`);
  const requests = useList(`${path}/requests`, { limit: SHOWN_REQUESTS });
  const changed = () => [details, issues].forEach((read) => read.reload());
  return html`<${Paused} connector=${connector} path=${path} onChange=${onChange} />
    <${Shown} of=${details}>
      ${(/** @type {ConnectorDetails} */ shown) => html`<${Facts} entries=${facts(shown)} />`}</${Shown}>
    <h3>${t.provider.issues}</h3>
    <${Shown} of=${issues} empty=${html`<p class="muted">${t.provider.noIssues}</p>`}>
      ${(/** @type {SyncIssue[]} */ rows) => html`<div class="list">${rows.map((issue) =>
        html`<${Issue} key=${issue.id} path=${path} issue=${issue} onChange=${changed} />`)}</div>`}</${Shown}>
    <h3>${t.provider.requests}</h3>
    <${Shown} of=${requests} empty=${html`<p class="muted">${t.provider.noRequests}</p>`}>
      ${(/** @type {ScimRequest[]} */ rows) =>
        html`<${Table} caption=${t.provider.requests} columns=${COLUMNS} rows=${rows}
          keyOf=${(/** @type {ScimRequest} */ row) => row.request_id} />`}</${Shown}>`;
}

const COLUMNS = [
  {
    name: "at", label: t.provider.at, cell: (/** @type {ScimRequest} */ row) =>
      html`<${Time} at=${row.occurred_at} exact />`,
  },
  {
    name: "request", label: t.provider.request, isMain: true, cell: (/** @type {ScimRequest} */ row) =>
      html`<code>${row.method} ${row.path}</code>`,
  },
  {
    name: "status", label: t.state, cell: (/** @type {ScimRequest} */ row) =>
      html`<${Badge} tone=${row.status < 400 ? "good" : "bad"}>${row.status}${row.scim_type && ` ${row.scim_type}`}</${Badge}>`,
  },
  {
    name: "duration", label: t.provider.duration, isNumber: true, cell: (/** @type {ScimRequest} */ row) =>
      `${number(row.duration_ms)} ms`,
  },
];

/** @param {ConnectorDetails} shown */
function facts(shown) {
  const mappings = Object.entries(shown.custom_field_mappings);
  const mapped = html`<div class="tags">
    ${mappings.map(([field, path]) => html`<${Badge}>${field} ← ${path}</${Badge}>`)}</div>`;
  return [
    [t.provider.lastRequest, html`<${Time} at=${shown.last_request_at} none=${t.never} />`],
    [t.provider.lastChange, html`<${Time} at=${shown.last_change_at} none=${t.never} />`],
    [t.provider.agent, shown.user_agent ?? "–"],
    [t.provider.people, number(shown.people)],
    [t.provider.brake, t.provider.brakeText(shown.brake.percent, shown.brake.at_least)],
    [t.provider.mappings, mappings.length ? mapped : "–"],
  ];
}

/** @param {{ connector: Connector, path: string, onChange: () => void }} p */
function Paused({ connector, path, onChange }) {
  const { run, isBusy, error } = useAction(async () => {
    await request("POST", `${path}/resume`);
    toast(t.provider.resumed);
    onChange();
  });
  if (connector.status !== "paused") return null;
  return html`<div class="problem"><strong>${t.provider.paused}</strong><p>${t.provider.pausedText}</p>
    ${can("settings:write") && html`<${Button} kind="primary" busy=${isBusy} onClick=${run}>${t.provider.resume}</${Button}>`}
    ${error && html`<${Problem} error=${error} />`}</div>`;
}

/** @param {{ path: string, issue: SyncIssue, onChange: () => void }} p */
function Issue({ path, issue, onChange }) {
  const { run, isBusy, error } = useAction(async () => {
    await request("POST", `${path}/sync-issues/${issue.id}/resolve`);
    toast(t.provider.resolvedIssue);
    onChange();
  });
  const name = issue.user_name ?? issue.external_id ?? "";
  return html`<div class="problem"><strong><${Status} word=${issue.kind} /> ${name}</strong>
    <p class="prose" dir="auto">${issue.message}</p>
    <p class="muted">${t.provider.times(issue.count)} · <${Time} at=${issue.occurred_at} /></p>
    ${can("settings:write") && html`<${Button} busy=${isBusy} onClick=${run}>${t.provider.resolve}</${Button}>`}
    ${error && html`<${Problem} error=${error} />`}</div>`;
}
