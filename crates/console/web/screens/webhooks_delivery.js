// One delivery: the present state of its event, all attempts on a time line, the request, and the action that repeats it.

import { addressOf, eventTitle, Resource } from "../lib/addresses.js";
import { request } from "../lib/api.js";
import { useAction, useGet, usePoll } from "../lib/data.js";
import { isFailure, nameOf } from "../lib/deliveries.js";
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
    { "filter[event_id]": one?.event_id, limit: 100, sort: "-created_at" });
  const event = useGet(one && can("events:read") && !one.event_id.startsWith("evt_test_")
    ? `/events/${one.event_id}` : null);
  usePoll(attempts.reload, POLL_MS);
  const { run, isBusy, error } = useAction(async () => {
    await request("POST", `/webhooks/${webhookId}/deliveries/${id}/redeliver`);
    toast(t.delivery.resent);
    attempts.reload();
  });
  const actions = one && can("webhooks:write") &&
    html`<${Button} kind=${attempts.data?.data.some((other) => !isFailure(other)) ? undefined : "primary"} busy=${isBusy} onClick=${run}>${t.delivery.resend}</${Button}>`;
  const back = { href: href(`/webhooks/${webhookId}`), text: webhook.data ? nameOf(webhook.data) : t.webhooks.subscription };
  return html`<${Page} title=${eventTitle(event.data) ?? one?.event_type ?? t.webhooks.delivery} back=${back} actions=${actions}>
    ${error && html`<${Problem} error=${error} />`}
    ${attempts.data && html`<${Present} page=${attempts.data} />`}
    <${Shown} of=${entry}>
      ${(/** @type {Entry} */ data) => html`<${Summary} entry=${data} event=${event.data} />`}</${Shown}>
    ${one && html`<div class="balance">
      <${Card} title=${t.delivery.attempts}><${Shown} of=${attempts} rows=${3}>
        ${(/** @type {Attempts} */ page) => html`
        <${Attempts} rows=${page.data.toReversed()} current=${id} />`}</${Shown}></${Card}>
      <${Sent} entry=${one} event=${event} webhook=${webhook} /></div>`}
  </${Page}>`;
}

/** The state of the event at this subscription, which follows from all of its attempts. @param {{ page: Attempts }} p */
function Present({ page }) {
  const [latest] = page.data;
  if (!latest) return null;
  const isDone = page.data.some((one) => !isFailure(one));
  // Of more attempts than the page has, one may have been acknowledged.
  const isKnown = isDone || !page.has_more;
  const word = isDone ? "success" : latest.status;
  const text = isKnown ? t.delivery.present[word] : t.delivery.latestFailed;
  return html`<${Card} title=${t.delivery.presentState}>
    <p><${Status} word=${word} /> <strong>${text}</strong>
      ${latest.next_attempt_at && html` ${t.delivery.nextAt} <${Time} at=${latest.next_attempt_at} />`}</p>
    ${isFailure(latest) && html`<p>${isDone ? t.delivery.latestFailed
      : t.failureTexts[latest.failure ?? ""] ?? t.delivery.latestFailed}</p>`}</${Card}>`;
}

/** @param {{ entry: Entry, event: import("../types").Event | null }} p */
function Summary({ entry, event }) {
  const data = event?.data;
  const resource = data && "id" in data ? String(data.id) : undefined;
  return html`<${Card} title=${t.delivery.thisAttempt(entry.attempt)}><${Facts} entries=${[
    [t.webhooks.result, html`<${Status} word=${entry.status} />`],
    [t.webhooks.answer, entry.response_status || t.delivery.noAnswer],
    [t.webhooks.took, duration(entry.response_duration_ms)],
    [t.delivery.failure, entry.failure ? (t.failures[entry.failure] ?? entry.failure) : "–"],
    [t.time, html`<${Time} at=${entry.attempted_at} exact />`],
    [t.webhooks.eventId,
      html`<${Id} value=${entry.event_id} to=${can("events:read") ? href(`/events/${entry.event_id}`)
        : undefined} />`],
    ...(data ? [[t.events.resource, html`<${Resource} of=${data} />`]] : []),
    ...(resource ? [[t.events.resourceId, html`<${Id} value=${resource} to=${addressOf(resource)} />`]] : []),
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

/**
 * The request. The log keeps its URL and ids. Custom headers and body are not kept, so they are those that the subscription
 * has now, and say so.
 * @param {{ entry: Entry, event: import("../lib/data.js").Read<import("../types").Event>,
 *   webhook: import("../lib/data.js").Read<import("../types").Webhook> }} p
 */
function Sent({ entry, event, webhook }) {
  const logged = [
    `POST ${entry.request_url}`,
    `X-Service-Event: ${entry.event_type}`,
    `X-Service-Event-Id: ${entry.event_id}`,
    `X-Service-Delivery-Id: ${entry.id}`,
  ].join("\n");
  const subscription = webhook.data;
  const headers = Object.entries(subscription?.headers ?? {}).map(([name, value]) => `${name}: ${value}`).join("\n");
  const isThin = subscription?.payload === "thin";
  const body = event.data && subscription ? JSON.stringify(isThin ? thin(event.data) : event.data, null, 2) : null;
  return html`<${Card} title=${t.delivery.request}><pre class="code" tabindex="0">${logged}</pre>
      <p class="muted">${t.delivery.loggedText}</p>
      ${event.error && html`<${Problem} error=${event.error} />`}</${Card}>
    ${(headers || body) && html`<${Card} title=${t.delivery.wouldBe}><p class="muted">${t.delivery.wouldBeText}</p>
    ${headers && html`<pre class="code" tabindex="0" aria-label=${t.delivery.headers}>${headers}</pre>`}
    ${body &&
      html`<div class="languages"><h3>${isThin ? t.delivery.thinBody : t.delivery.body}</h3>
        <${Copy} value=${body} label=${t.delivery.body} /></div>
      <pre class="code" tabindex="0" dir="auto">${body}</pre>`}</${Card}>`}`;
}

/** The body of a thin delivery. It names the type and the URL of the resource, which only the service composes. @param {any} event */
const thin = (event) => ({ ...event, data: { id: event.data?.id, type: "…", url: "…" }, payload: "thin" });
