// Webhooks: subscriptions with their health, the deliveries of all of them, one subscription, one delivery.

import { request } from "../lib/api.js";
import { Bars, Spark } from "../lib/charts.js";
import { useGet, useList, usePoll } from "../lib/data.js";
import { BulkBar, useBulk } from "../lib/bulk.js";
import { barsOf, isFailure, nameOf, reported, statsOf, useAllDeliveries } from "../lib/deliveries.js";
import { Confirm } from "../lib/dialog.js";
import { duration, number, percent, time } from "../lib/format.js";
import { go, href, useRoute } from "../lib/router.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Empty, Facts, Figure, Filters, Id, More, Page, Shown, Status, Table, Tabs, Time } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { Delivery } from "./webhooks_delivery.js";
import { filterText } from "./webhooks_filter.js";
import { Edit, Replay, Rotate } from "./webhooks_forms.js";
import { EVENT_TYPES } from "./webhooks_types.js";

/** @typedef {import("../types").Webhook} Webhook */
/** @typedef {import("../types").Delivery} DeliveryEntry */

const POLL_MS = 5000;

export default function Webhooks() {
  const { path, query } = useRoute();
  const [, , id, section, delivery] = path.split("/");
  if (id && section === "deliveries" && delivery) return html`<${Delivery} webhookId=${id} id=${delivery} />`;
  if (id) return html`<${Subscription} id=${id} />`;
  return html`<${Overview} view=${query.view ?? "subscriptions"} />`;
}

/** @param {{ view: string }} p */
function Overview({ view }) {
  const webhooks = useList("/webhooks", { limit: 100, expand: view === "deliveries" ? null : "stats" });
  const [isNew, setIsNew] = useState(false);
  const create = (/** @type {string} */ kind) => can("webhooks:write") &&
    html`<${Button} kind=${kind} onClick=${() => setIsNew(true)}>${t.webhooks.create}</${Button}>`;
  return html`<${Page} title=${t.screens.webhooks} lead=${t.webhooks.lead} actions=${create("primary")}>
    <${Tabs} label=${t.screens.webhooks}
      tabs=${[["subscriptions", t.webhooks.subscriptions], ["deliveries", t.webhooks.deliveries]]} />
    ${view === "deliveries" ? html`<${Log} webhooks=${webhooks} />`
      : html`<${Subscriptions} webhooks=${webhooks} create=${create("")} />`}
    ${isNew &&
      html`<${Edit} onClose=${() => setIsNew(false)}
        onSaved=${(/** @type {Webhook} */ made) => go(`/webhooks/${made.id}`)} />`}
  </${Page}>`;
}

/** State of a subscription in one word. @param {Webhook} one */
const stateOf = (one) =>
  (one.active ? (one.last_delivery_status && one.last_delivery_status !== "success" ? "failing" : "active")
    : "paused");

/** @param {{ webhooks: any, create: any }} p */
function Subscriptions({ webhooks, create }) {
  const rate = (/** @type {Webhook} */ one) => {
    const of = statsOf(one);
    return of
      ? html`${percent(of.successes, of.attempts)}
        <span class="cell-note">${t.webhooks.attempts(of.attempts)}</span><${Spark} bars=${barsOf([of])} />`
      : html`<span class="cell-note">${t.webhooks.uncounted}</span>`;
  };
  const columns = [
    { name: "url", label: t.webhooks.receiver, isMain: true, isLine: true, cell: (/** @type {Webhook} */ one) => html`
      <a href=${href(`/webhooks/${one.id}`)} dir="auto">${nameOf(one)}</a>
      ${one.description && html`<span class="cell-note" title=${one.url}>${one.url}</span>`}` },
    { name: "state", label: t.state,
      cell: (/** @type {Webhook} */ one) => html`<${Status} word=${stateOf(one)} />` },
    { name: "rate", label: t.webhooks.rate, isNumber: true, cell: rate },
    { name: "p95", label: t.webhooks.p95, isNumber: true,
      cell: (/** @type {Webhook} */ one) => { const p95 = statsOf(one)?.p95;
        return p95 == null ? "–" : duration(p95); } },
    { name: "next", label: t.webhooks.nextAttempt,
      cell: (/** @type {Webhook} */ one) => html`<${Time} at=${statsOf(one)?.nextAttemptAt} />` },
    { name: "last", label: t.webhooks.lastAttempt,
      cell: (/** @type {Webhook} */ one) => html`<${Time} at=${one.last_delivery_at} none=${t.never} />` },
  ];
  const empty = html`<${Empty} title=${t.webhooks.none} text=${t.webhooks.noneText}>${create}</${Empty}>`;
  return html`<${Shown} of=${webhooks} empty=${empty}>${(/** @type {Webhook[]} */ rows) => html`
    <${Table} caption=${t.webhooks.subscriptions} columns=${columns} rows=${rows} />`}</${Shown}>`;
}

/** Columns of a log. @param {Map<string, Webhook> | null} webhooks */
const logColumns = (webhooks) => [
  { name: "type", label: t.webhooks.event, isMain: true, cell: (/** @type {DeliveryEntry} */ one) => html`
    <a href=${href(`/webhooks/${one.subscription_id}/deliveries/${one.id}`)}>${one.event_type}</a>` },
  ...(webhooks ? [{ name: "to", label: t.webhooks.receiver, isLine: true, cell: (/** @type {DeliveryEntry} */ one) => {
    const receiver = webhooks.get(one.subscription_id);
    return html`<a href=${href(`/webhooks/${one.subscription_id}`)} title=${one.request_url} dir="auto">${receiver ? nameOf(receiver) : one.request_url}</a>`;
  } }] : []),
  { name: "status", label: t.webhooks.result, cell: (/** @type {DeliveryEntry} */ one) => one.failure && !one.response_status
    ? html`<${Badge} tone="bad">${t.failures[one.failure] ?? one.failure}</${Badge}>` : html`<${Status} word=${one.status} />` },
  { name: "answer", label: t.webhooks.answer, isNumber: true,
    cell: (/** @type {DeliveryEntry} */ one) => one.response_status || "–" },
  { name: "took", label: t.webhooks.took, isNumber: true,
    cell: (/** @type {DeliveryEntry} */ one) => duration(one.response_duration_ms) },
  { name: "attempt", label: t.webhooks.attempt, isNumber: true,
    cell: (/** @type {DeliveryEntry} */ one) => one.attempt },
  { name: "at", label: t.time,
    cell: (/** @type {DeliveryEntry} */ one) => html`<${Time} at=${one.attempted_at} exact />` },
];

/** @type {[string, string][]} */
const STATES = [["success", t.words.success ?? ""], ["failed", t.words.failed ?? ""],
  ["dropped", t.words.dropped ?? ""]];
/** @type {[string, string][]} */
const TYPES = EVENT_TYPES.map((type) => [type, type]);

/** @param {{ webhooks: any }} p */
function Log({ webhooks }) {
  const { query } = useRoute();
  const deliveries = useAllDeliveries(query);
  const bulk = useBulk(deliveries.rows, { name: (one) => `${one.event_type}, ${time(one.attempted_at)}`, may: can("webhooks:write"),
    isOpen: (one) => one.status !== "success" });
  usePoll(deliveries.reload, POLL_MS, !deliveries.hasMore && bulk.rows.length === 0);
  const byId = new Map((webhooks.rows ?? []).map((/** @type {Webhook} */ one) => [one.id, one]));
  const filters = [
    { name: "state", label: t.webhooks.result, options: STATES },
    { name: "type", label: t.webhooks.event, options: TYPES },
    { name: "webhook", label: t.webhooks.receiver, options: [...byId.values()].map((one) => [one.id, nameOf(one)]) },
    { name: "event", label: t.webhooks.eventId, hint: "evt_…", isMore: true },
    { name: "from", label: t.from, type: "date", isMore: true },
    { name: "to", label: t.to, type: "date", isMore: true },
  ];
  const empty = html`<${Empty} title=${t.webhooks.noDeliveries} text=${t.webhooks.noDeliveriesText} />`;
  return html`<${Filters} filters=${filters} />
    <${Shown} of=${webhooks.error ? webhooks : deliveries} empty=${empty}>
      ${(/** @type {DeliveryEntry[]} */ rows) => html`
      <${Table} caption=${t.webhooks.deliveries} columns=${[...bulk.column, ...logColumns(byId)]} rows=${rows} />`}</${Shown}>
    <${BulkBar} of=${bulk} actions=${RESEND} />`;
}

/** @type {import("../lib/bulk.js").BulkAction[]} */
const RESEND = [{ name: "resend", text: t.work.bulk.resendText, send: (one, _, quiet) =>
  request("POST", `/webhooks/${one.subscription_id}/deliveries/${one.id}/redeliver`, quiet) }];

/** @param {{ id: string }} p */
function Subscription({ id }) {
  const webhook = useGet(`/webhooks/${id}`);
  const stats = useGet(`/webhooks/${id}/stats`, { window: "24h" });
  const [dialog, setDialog] = useState("");
  const [turn, setTurn] = useState(0);
  const close = () => setDialog("");
  const back = { href: href("/webhooks"), text: t.screens.webhooks };
  /** @type {Webhook | null} */
  const one = webhook.data;
  const saved = () => (webhook.reload(), stats.reload(), setTurn((count) => count + 1));
  const button = (/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ kind = "") =>
    html`<${Button} kind=${kind} onClick=${() => setDialog(name)}>${text}</${Button}>`;
  const actions = one && can("webhooks:write") && html`
    ${one.active ? button("test", t.webhooks.test, "primary") : html`${button("active", t.webhooks.enable, "primary")}${button("test", t.webhooks.test)}`}
    ${button("replay", t.webhooks.replay)}${button("edit", t.edit)}
    <${More}>${button("rotate", t.webhooks.rotate)}${one.active && button("active", t.webhooks.pause)}${button("delete", t.delete, "danger")}</${More}>`;
  return html`<${Page} title=${one ? nameOf(one) : t.webhooks.subscription} lead=${one?.description && html`<span class="break">${one.url}</span>`} back=${back}
    state=${one && html`<${Status} word=${stateOf(one)} />`} actions=${actions}>
    <${Shown} of=${webhook}>
      ${(/** @type {Webhook} */ data) => html`<${Health} webhook=${data} stats=${stats} />`}</${Shown}>
    <${OwnLog} id=${id} turn=${turn} />
    ${one && dialog === "test" && html`<${Test} id=${id} onClose=${() => (close(), saved())} />`}
    ${one && dialog === "replay" && html`<${Replay} webhook=${one} onClose=${() => (close(), saved())} />`}
    ${one && dialog === "rotate" && html`<${Rotate} id=${id} onClose=${() => (close(), saved())} />`}
    ${one && dialog === "edit" &&
      html`<${Edit} webhook=${one} etag=${webhook.etag} onClose=${close} onSaved=${saved} />`}
    ${one && dialog === "active" && html`<${Confirm} title=${one.active ? t.webhooks.pause : t.webhooks.enable}
      text=${one.active ? t.webhooks.pauseText : t.webhooks.enableText}
      action=${one.active ? t.webhooks.pause : t.webhooks.enable} onClose=${close}
      work=${async () => (await request("PATCH", `/webhooks/${id}`, { body: { active: !one.active } }),
        saved())} />`}
    ${one && dialog === "delete" &&
      html`<${Confirm} title=${t.webhooks.deleteTitle} text=${t.webhooks.deleteText} action=${t.delete}
        kind="danger"
      onClose=${close} work=${async () => (await request("DELETE", `/webhooks/${id}`), go("/webhooks"))} />`}
  </${Page}>`;
}

/** @param {{ webhook: Webhook, stats: any }} p */
function Health({ webhook, stats }) {
  const types =
    html`<div class="tags">
      ${webhook.event_types.map((type) =>
        html`<${Badge}>${type === "*" ? t.webhooks.every : type}</${Badge}>`)}</div>`;
  return html`<${Shown} of=${stats} rows=${3}>${(/** @type {import("../types").DeliveryStats} */ data) => {
    const one = reported(data);
    const share = one.attempts ? one.successes / one.attempts : 1;
    return html`<div class="stack"><div class="figures">
      <${Figure} label=${t.webhooks.rate24} value=${percent(one.successes, one.attempts)}
        note=${t.webhooks.attempts(one.attempts)}
        tone=${share < 0.9 ? "bad" : share < 1 ? "warn" : undefined} />
      <${Figure} label=${t.webhooks.p95} value=${one.p95 === null ? "–" : duration(one.p95)}
        note=${one.p50 === null ? "" : t.webhooks.median(duration(one.p50))} />
      <${Figure} label=${t.webhooks.failed} value=${number(one.failures)}
        note=${one.reasons[0] && (t.failures[one.reasons[0].reason] ?? one.reasons[0].reason)}
        tone=${one.failures ? "bad" : undefined} />
      <${Figure} label=${t.webhooks.nextAttempt} value=${html`<${Time} at=${one.nextAttemptAt} />`}
        note=${t.webhooks.queued(one.queued)} />
    </div>
    <${Card} title=${t.webhooks.chart}><${Bars} label=${t.webhooks.chartLabel(one.successes, one.failures)}
      bars=${barsOf([one])}
      names=${{ good: t.webhooks.successes, bad: t.webhooks.failures }} />
      <${Facts}
        entries=${[[t.webhooks.types, types],
          ...(webhook.filter ? [[t.webhooks.filter, filterText(webhook.filter)]] : []),
          ...(webhook.max_per_second ? [[t.webhooks.rateLimit, number(webhook.max_per_second)]] : []),
          [t.created, html`<${Time} at=${webhook.created_at} />`], [t.id, html`<${Id} value=${webhook.id} />`]]} /></${Card}></div>`;
  }}</${Shown}>`;
}

/** @param {{ id: string, turn: number }} p */
function OwnLog({ id, turn }) {
  const { query } = useRoute();
  const log = useList(`/webhooks/${id}/deliveries`, {
    "filter[status]": query.state, "filter[event_type]": query.type, "filter[event_id]": query.event,
  });
  const [seen, setSeen] = useState(turn);
  if (seen !== turn) {
    setSeen(turn);
    log.reload();
  }
  usePoll(log.reload, POLL_MS, !log.hasMore);
  const filters = [
    { name: "state", label: t.webhooks.result, options: STATES }, { name: "type", label: t.webhooks.event, options: TYPES },
    { name: "event", label: t.webhooks.eventId, hint: "evt_…" },
  ];
  const empty = html`<${Empty} title=${t.webhooks.noDeliveries} text=${t.webhooks.noDeliveriesText} />`;
  return html`<${Card} title=${t.webhooks.log}><${Filters} filters=${filters} />
    <${Shown} of=${log} empty=${empty}>${(/** @type {DeliveryEntry[]} */ rows) => html`
      <${Table} caption=${t.webhooks.log} columns=${logColumns(null)} rows=${rows} />`}</${Shown}></${Card}>`;
}

/** Longest wait for the answer to a test, longer than the service itself waits. */
const ANSWER_MS = 40_000;

/**
 * Waits for the result of a test, which is in the log once the receiver has answered or the service gave up.
 * @param {string} webhook @param {string} delivery @returns {Promise<DeliveryEntry | null>}
 */
async function resultOf(webhook, delivery) {
  const end = Date.now() + ANSWER_MS;
  // From the list: a GET of the delivery would be a 404 until then, in the log of the browser.
  const query = { "filter[event_type]": "test.ping", limit: 10 };
  for (let pause = 100; Date.now() < end; pause = Math.min(pause * 2, 2000)) {
    const { data } = await request("GET", `/webhooks/${webhook}/deliveries`, { query, quiet: true });
    const result = data.data.find((/** @type {DeliveryEntry} */ one) => one.id === delivery);
    if (result) return result;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return null;
}

/** @param {{ id: string, onClose: () => void }} p */
function Test({ id, onClose }) {
  const work = async () => {
    const { data } = await request("POST", `/webhooks/${id}/test`);
    const result = await resultOf(id, data.delivery_id);
    if (!result) return toast(t.webhooks.testOpen, "bad");
    const reason = t.failures[result.failure ?? ""] ?? result.failure ?? result.status;
    toast(result.response_status ? t.webhooks.tested(result.response_status, duration(result.response_duration_ms))
      : t.webhooks.testFailed(reason), isFailure(result) ? "bad" : "good");
  };
  return html`<${Confirm} title=${t.webhooks.test} text=${t.webhooks.testText} action=${t.webhooks.test}
    onClose=${onClose} work=${work} />`;
}
