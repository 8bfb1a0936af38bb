// Events: the feed as it comes, and one event with its deliveries, its resource and its audit entries.

import { addressOf, eventTitle, nameIn, Resource } from "../lib/addresses.js";
import { request } from "../lib/api.js";
import { Changes } from "../lib/changes.js";
import { asApiError, useGet, useList } from "../lib/data.js";
import { useAllDeliveries } from "../lib/deliveries.js";
import { href, useRoute } from "../lib/router.js";
import { can, isBound } from "../lib/session.js";
import { Badge, Button, Card, Copy, Empty, Facts, Filters, Id, Page, Shown, Status,
  Table, Time } from "../lib/ui.js";
import { actionName } from "../lib/format.js";
import { html, useEffect, useRef, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { EVENT_TYPES } from "./webhooks_types.js";

const TAIL_MS = 2000;
/** Events that are read at once. */
const PAGE = 100;
/** Events kept on the screen, so that memory stays flat in a busy feed. */
const MOST_SHOWN = 200;
/** @type {[string, string][]} */
const TYPES = EVENT_TYPES.map((type) => [type, type]);

/** @typedef {{ id: string, event: string, created_at: string, data: any }} Event */

export default function Events() {
  const { path } = useRoute();
  const id = path.split("/")[2];
  return id ? html`<${One} id=${id} />` : html`<${Feed} />`;
}

/** Shows the newest events and follows the feed. @param {string | undefined} type @param {boolean} isPaused */
function useTail(type, isPaused) {
  const first = { rows: /** @type {Event[] | null} */ (null), error: /** @type {any} */ (null), isLoading: true, isCut: false };
  const [state, setState] = useState(first);
  const [turn, setTurn] = useState(0);
  const cursor = useRef(/** @type {string | null} */ (null));
  const readOn = async (/** @type {AbortSignal} */ signal) => {
    const query = { "filter[event]": type, limit: PAGE };
    const ask = async (/** @type {any} */ start) => (await request("GET", "/events", { query: { ...query, ...start }, signal })).data;
    const known = cursor.current;
    let page = await ask(known ? { cursor: known } : { since: "newest" });
    // More than a page since the last look: the newest are shown, and those between are not.
    const isCut = Boolean(known && page.has_more);
    if (isCut) page = await ask({ since: "newest" });
    if (signal.aborted) return;
    cursor.current = page.next_cursor;
    const read = [...page.data].reverse();
    setState((before) => {
      if (read.length === 0 && before.rows && !before.error) return before;
      const rows = isCut ? read : [...read, ...(before.rows ?? [])].slice(0, MOST_SHOWN);
      return { rows, error: null, isLoading: false, isCut: isCut || (before.isCut && rows.length < MOST_SHOWN) };
    });
  };
  useEffect(() => (setState(first), void (cursor.current = null)), [type, turn]);
  useEffect(() => {
    const stop = new AbortController();
    let isReading = false;
    const look = async () => {
      if (isReading || document.visibilityState !== "visible") return;
      isReading = true;
      await readOn(stop.signal).catch((error) => stop.signal.aborted ||
        setState((before) => ({ ...before, error: asApiError(error), isLoading: false })));
      isReading = false;
    };
    if (!cursor.current) void look();
    const timer = isPaused ? undefined : setInterval(look, TAIL_MS);
    return () => (clearInterval(timer), stop.abort());
  }, [type, turn, isPaused]);
  return { ...state, reload: () => setTurn((count) => count + 1) };
}

function Feed() {
  const { query } = useRoute();
  const [isPaused, setIsPaused] = useState(false);
  const tail = useTail(query.type, isPaused);
  const columns = [
    { name: "type", label: t.webhooks.event, isMain: true,
      cell: (/** @type {Event} */ one) =>
        html`<a href=${href(`/events/${one.id}`)}>${one.event}</a>` },
    { name: "what", label: t.events.resource, isWide: true, isLine: true,
      cell: (/** @type {Event} */ one) => html`<span dir="auto">${nameIn(one.data)}</span>` },
    ...(can("webhooks:read")
      ? [{ name: "deliveries", label: t.webhooks.deliveries, cell: (/** @type {Event} */ one) => html`
      <a href=${href("/webhooks", { view: "deliveries", event: one.id })}>${t.events.deliveries}</a>` }] : []),
    { name: "at", label: t.time, cell: (/** @type {Event} */ one) => html`<${Time} at=${one.created_at} exact />` },
  ];
  const actions =
    html`<${Badge} tone=${isPaused || tail.error ? "warn" : "good"}>
      ${isPaused ? t.events.paused : tail.error ? t.events.stopped : t.events.live}</${Badge}>
    <${Button} onClick=${() => setIsPaused(!isPaused)}>${isPaused ? t.events.resume : t.events.pause}</${Button}>`;
  const empty = html`<${Empty} title=${t.events.none} text=${t.events.noneText} />`;
  return html`<${Page} title=${t.screens.events} lead=${t.events.lead} actions=${actions}>
    <${Filters} filters=${[{ name: "type", label: t.webhooks.event, options: TYPES }]} />
    ${tail.isCut && html`<p class="muted" role="status">${t.events.cut}</p>`}
    <${Shown} of=${tail} empty=${empty}>${(/** @type {Event[]} */ rows) => html`
      <${Table} caption=${t.screens.events} columns=${columns} rows=${rows} />`}</${Shown}>
  </${Page}>`;
}

/** @param {{ id: string }} p */
function One({ id }) {
  const event = useGet(`/events/${id}`);
  const mayReadWebhooks = can("webhooks:read") && !isBound();
  const deliveries = useAllDeliveries(mayReadWebhooks ? { event: id } : null);
  const resource = event.data?.data;
  const target = resource && "id" in resource ? String(resource.id) : null;
  const audit = useList(target && can("audit:read") && !isBound() ? "/audit-log" : null,
    { "filter[target_id]": target, limit: 10 });
  const body = event.data ? JSON.stringify(event.data, null, 2) : "";
  return html`<${Page} title=${eventTitle(event.data) ?? t.events.event}
    back=${{ href: href("/events"), text: t.screens.events }}>
    <${Shown} of=${event}>
      ${(/** @type {Event} */ one) => html`<${Card} title=${t.events.event}><${Facts} entries=${[
      [t.time, html`<${Time} at=${one.created_at} exact />`],
      [t.events.resource, html`<${Resource} of=${one.data} />`],
      [t.webhooks.eventId, html`<${Id} value=${one.id} />`],
      ...(target ? [[t.events.resourceId, html`<${Id} value=${target} to=${addressOf(target)} />`]] : []),
    ]} /></${Card}>`}</${Shown}>
    <div class="balance">
      <${Card} title=${t.delivery.body} actions=${html`<${Copy} value=${body} label=${t.delivery.body} />`}>
        <pre class="code" tabindex="0" dir="auto">${body}</pre></${Card}>
        ${can("webhooks:read") &&
          html`<${Card} title=${t.webhooks.deliveries}>
            <${Shown} of=${deliveries} rows=${2} empty=${html`<p class="muted">${t.events.noDeliveries}</p>`}>
          ${(/** @type {import("../types").Delivery[]} */ rows) =>
            html`<ul class="attention">${rows.map((row) => html`<li key=${row.id}><${Status} word=${row.status} />
            <span class="grow"><a href=${href(`/webhooks/${row.subscription_id}/deliveries/${row.id}`)}>
              ${row.request_url}</a></span>
            <span class="muted"><${Time} at=${row.attempted_at} /></span></li>`)}</ul>`}</${Shown}></${Card}>`}
        ${can("audit:read") && !isBound() &&
          html`<${Card} title=${t.screens.audit}>
            <${Shown} of=${audit} rows=${2} empty=${html`<p class="muted">${t.audit.none}</p>`}>
          ${(/** @type {import("../types").AuditEntry[]} */ rows) =>
            html`<ul class="attention">
              ${rows.map((row) =>
                html`<li key=${row.id}><span class="grow"><strong title=${row.action}>${actionName(row.action)}</strong> ${row.actor.name}
            <${Changes} changes=${row.changes} /></span>
          <span class="muted"><${Time} at=${row.occurred_at} /></span></li>`)}</ul>`}</${Shown}></${Card}>`}
    </div>
  </${Page}>`;
}
