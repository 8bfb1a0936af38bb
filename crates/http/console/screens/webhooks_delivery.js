// One delivery: all attempts of its event on a time line, the request, and the action that repeats it.

import { request } from "../lib/api.js";
import { useAction, useGet, usePoll } from "../lib/data.js";
import { isFailure } from "../lib/deliveries.js";
import { duration } from "../lib/format.js";
import { href } from "../lib/router.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Button, Card, Copy, Facts, Id, Page, Problem, Shown, Status, Time } from "../lib/ui.js";
import { html } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../lib/data.js").Page<import("../types").Delivery>} Attempts */
/** @typedef {import("../types").Delivery} Entry */

const POLL_MS = 3000;

/** @param {{ webhookId: string, id: string }} p */
export function Delivery({ webhookId, id }) {
  const entry = useGet(`/webhooks/${webhookId}/deliveries/${id}`);
  const webhook = useGet(`/webhooks/${webhookId}`);
  /** @type {Entry | null} */
  const one = entry.data;
  const attempts = useGet(one ? `/webhooks/${webhookId}/deliveries` : null,
    { "filter[event_id]": one?.event_id, limit: 100, sort: "created_at" });
  const event = useGet(one && can("events:read") && !one.event_id.startsWith("evt_test_")
    ? `/events/${one.event_id}` : null);
  usePoll(attempts.reload, POLL_MS);
  const { run, isBusy, error } = useAction(async () => {
    await request("POST", `/webhooks/${webhookId}/deliveries/${id}/redeliver`);
    toast(t.delivery.resent);
    attempts.reload();
  });
  const actions = one && can("webhooks:write") &&
    html`<${Button} kind="primary" busy=${isBusy} onClick=${run}>${t.delivery.resend}</${Button}>`;
  const back = { href: href(`/webhooks/${webhookId}`), text: webhook.data?.url ?? t.webhooks.subscription };
  return html`<${Page} title=${one?.event_type ?? t.webhooks.delivery} back=${back} actions=${actions}
    lead=${one && isFailure(one) ? (t.failureTexts[one.failure ?? ""] ?? t.delivery.failedText) : null}>
    ${error && html`<${Problem} error=${error} />`}
    <${Shown} of=${entry}>
      ${(/** @type {Entry} */ data) => html`<${Summary} entry=${data} event=${event.data} />`}</${Shown}>
    ${one && html`<div class="grid2">
      <${Card} title=${t.delivery.attempts}><${Shown} of=${attempts} rows=${3}>
        ${(/** @type {Attempts} */ page) => html`
        <${Attempts} rows=${page.data} current=${id} />`}</${Shown}></${Card}>
      <${Card} title=${t.delivery.request}><${Sent} entry=${one} event=${event} /></${Card}></div>`}
  </${Page}>`;
}

/** A newer attempt was made if the time is past. @param {string | null} at */
const isAhead = (at) => at !== null && new Date(at).getTime() > Date.now();

/** @param {{ entry: Entry, event: import("../types").Event | null }} p */
function Summary({ entry, event }) {
  const data = event?.data;
  const resource = data && "id" in data ? String(data.id) : undefined;
  return html`<${Card} title=${t.delivery.result}><${Facts} entries=${[
    [t.state, html`<${Status} word=${entry.status} />`],
    [t.delivery.answer, entry.response_status || t.delivery.noAnswer],
    [t.webhooks.took, duration(entry.response_duration_ms)],
    [t.delivery.failure, entry.failure ? (t.failures[entry.failure] ?? entry.failure) : "–"],
    [t.time, html`<${Time} at=${entry.attempted_at} exact />`],
    ...(isAhead(entry.next_attempt_at)
      ? [[t.webhooks.nextAttempt, html`<${Time} at=${entry.next_attempt_at} />`]] : []),
    [t.webhooks.eventId,
      html`<${Id} value=${entry.event_id} to=${can("events:read") ? href(`/events/${entry.event_id}`)
        : undefined} />`],
    ...(resource
      ? [[t.delivery.resource,
        html`<${Id} value=${resource} to=${resource.startsWith("emp_") ? href(`/people/${resource}`)
          : undefined} />`]] : []),
    [t.delivery.id, html`<${Id} value=${entry.id} />`],
  ]} /></${Card}>`;
}

/** @param {{ rows: Entry[], current: string }} p */
function Attempts({ rows, current }) {
  const next = rows.at(-1)?.next_attempt_at;
  return html`<ol class="steps">
    ${rows.map((row) => html`<li key=${row.id} class=${isFailure(row) ? "bad" : "good"}>
      <div class="step-head"><strong>${row.id === current ? t.delivery.thisAttempt(row.attempt) : html`
        <a href=${href(`/webhooks/${row.subscription_id}/deliveries/${row.id}`)}>
          ${t.delivery.attempt(row.attempt)}</a>`}</strong>
        <${Status} word=${row.status} /><span class="muted"><${Time} at=${row.attempted_at} /></span></div>
      <span class="muted">
        ${row.response_status ? t.delivery.answered(row.response_status, duration(row.response_duration_ms))
          : t.delivery.noAnswer}
        ${row.failure ? ` · ${t.failures[row.failure] ?? row.failure}` : ""}</span></li>`)}
    ${next &&
      html`<li class="next"><div class="step-head"><strong>${t.delivery.next}</strong>
        <span class="muted"><${Time} at=${next} /></span></div></li>`}
  </ol>`;
}

/** @param {{ entry: Entry, event: import("../lib/data.js").Read<import("../types").Event> }} p */
function Sent({ entry, event }) {
  const body = event.data ? JSON.stringify(event.data, null, 2) : null;
  const head = [
    `POST ${entry.request_url}`,
    "Content-Type: application/json",
    "User-Agent: Service-Webhooks/v1",
    `X-Service-Event: ${entry.event_type}`,
    `X-Service-Event-Id: ${entry.event_id}`,
    `X-Service-Delivery-Id: ${entry.id}`,
    `X-Service-Timestamp: ${Math.floor(new Date(entry.attempted_at).getTime() / 1000)}`,
    "X-Service-Signature: t=…,v1=…",
  ].join("\n");
  return html`<p class="muted">${t.delivery.requestText}</p><pre class="code" tabindex="0">${head}</pre>
    ${body &&
      html`<div class="languages"><h3>${t.delivery.body}</h3>
        <${Copy} value=${body} label=${t.delivery.body} /></div>
      <pre class="code" tabindex="0" dir="auto">${body}</pre>`}
    ${event.error && html`<${Problem} error=${event.error} />`}`;
}
