// Events: the feed as it comes, and one event with its deliveries, its resource and its audit entries.

import { addressOf } from "../lib/addresses.js";
import { request } from "../lib/api.js";
import { asApiError, useGet, useList } from "../lib/data.js";
import { useAllDeliveries } from "../lib/deliveries.js";
import { href, useRoute } from "../lib/router.js";
import { can, isBound } from "../lib/session.js";
import { Badge, Button, Card, Changes, Copy, Empty, Facts, Filters, Id, Page, Parts, Shown, Status,
  Table, Time } from "../lib/ui.js";
import { html, useEffect, useRef, useState } from "../lib/view.js";
import { fullName, short } from "../lib/format.js";
import { t } from "../texts.js";
import { EVENT_TYPES } from "./webhooks_types.js";

const TAIL_MS = 2000;
/** Events kept on the screen, so that memory stays flat in a busy feed. */
const MOST_SHOWN = 200;
/** Spans of the feed that the screen starts with, up to a day. */
const SPANS_MS = [60_000, 600_000, 3_600_000, 21_600_000, 86_400_000];
/** Number of events that suffice, so that no longer span is read. */
const FEW = 50;
/** Pages of 100 events that are read at once. */
const MOST_PAGES = 20;
/** @type {[string, string][]} */
const TYPES = EVENT_TYPES.map((type) => [type, type]);

/** @typedef {{ id: string, event: string, created_at: string, data: any }} Event */

export default function Events() {
  const { path } = useRoute();
  const id = path.split("/")[2];
  return id ? html`<${One} id=${id} />` : html`<${Feed} />`;
}

/** Follows the feed from the last day on. @param {string | undefined} type @param {boolean} isPaused */
function useTail(type, isPaused) {
  const first = { rows: /** @type {Event[] | null} */ (null), error: /** @type {any} */ (null), isLoading: true };
  const [state, setState] = useState(first);
  const [turn, setTurn] = useState(0);
  const cursor = useRef(/** @type {string | null} */ (null));
  const isStarting = useRef(false);
  const query = { "filter[event]": type, limit: 100 };
  useEffect(() => {
    const stop = new AbortController();
    setState(first);
    cursor.current = null;
    isStarting.current = true;
    newest(query, stop.signal).then(({ rows, next }) => {
      cursor.current = next;
      setState({ rows, error: null, isLoading: false });
    }, (error) => stop.signal.aborted || setState({ ...first, error: asApiError(error), isLoading: false }))
      .finally(() => stop.signal.aborted || (isStarting.current = false));
    return () => stop.abort();
  }, [type, turn]);
  useEffect(() => {
    if (isPaused) return undefined;
    let isReading = false;
    const timer = setInterval(async () => {
      if (isReading || isStarting.current || document.visibilityState !== "visible") return;
      isReading = true;
      try {
        const { rows, next } = cursor.current ? await last({ cursor: cursor.current }, query)
          : await newest(query);
        cursor.current = next;
        setState((before) => rows.length === 0 && !before.error ? before
          : { rows: [...rows, ...(before.rows ?? [])].slice(0, MOST_SHOWN), error: null, isLoading: false });
      } catch (error) {
        setState((before) => ({ ...before, error: asApiError(error) }));
      } finally {
        isReading = false;
      }
    }, TAIL_MS);
    return () => clearInterval(timer);
  }, [type, isPaused]);
  return { ...state, reload: () => setTurn((count) => count + 1) };
}

/**
 * The newest events, newest first, and the cursor behind them. The feed has no descending order, so a longer span is
 * read only if the shorter one has few events.
 * @param {any} query
 * @param {AbortSignal} [signal]
 */
async function newest(query, signal) {
  let found = { rows: /** @type {Event[]} */ ([]), next: /** @type {string | null} */ (null) };
  for (const span of SPANS_MS) {
    found = await last({ since: new Date(Date.now() - span).toISOString() }, query, signal);
    if (found.rows.length >= FEW) break;
  }
  return found;
}

/**
 * Reads the feed to its end, or `MOST_PAGES`, after which the tail goes on.
 * @param {{ since: string } | { cursor: string }} start
 * @param {any} query
 * @param {AbortSignal} [signal]
 */
async function last(start, query, signal) {
  /** @type {Event[]} */
  let rows = [];
  let where = start;
  for (let page = 1; ; page += 1) {
    const { data } = await request("GET", "/events", { query: { ...query, ...where }, signal });
    rows = [...data.data.reverse(), ...rows].slice(0, MOST_SHOWN);
    if (!data.has_more || page === MOST_PAGES) return { rows, next: data.next_cursor };
    where = { cursor: data.next_cursor ?? "" };
  }
}

/** Short name of the resource of an event. @param {any} data */
function subject(data) {
  if (data?.title) return data.title;
  if (data?.first_name) return fullName(data);
  return data?.observation ?? data?.body ?? data?.message ?? data?.name ?? data?.hris_source ?? data?.url ??
    data?.id ?? "";
}

function Feed() {
  const { query } = useRoute();
  const [isPaused, setIsPaused] = useState(false);
  const tail = useTail(query.type, isPaused);
  const columns = [
    { name: "type", label: t.webhooks.event, isMain: true,
      cell: (/** @type {Event} */ one) =>
        html`<a href=${href(`/events/${one.id}`)}><${Parts} text=${one.event} /></a>` },
    { name: "what", label: t.events.resource, isWide: true,
      cell: (/** @type {Event} */ one) => html`<span dir="auto">${short(subject(one.data), 90)}</span>` },
    ...(can("webhooks:read")
      ? [{ name: "deliveries", label: t.webhooks.deliveries, cell: (/** @type {Event} */ one) => html`
      <a href=${href("/webhooks", { view: "deliveries", event: one.id })}>${t.events.deliveries}</a>` }] : []),
    { name: "at", label: t.time, cell: (/** @type {Event} */ one) => html`<${Time} at=${one.created_at} />` },
  ];
  const actions =
    html`<${Badge} tone=${isPaused || tail.error ? "warn" : "good"}>
      ${isPaused ? t.events.paused : tail.error ? t.events.stopped : t.events.live}</${Badge}>
    <${Button} onClick=${() => setIsPaused(!isPaused)}>${isPaused ? t.events.resume : t.events.pause}</${Button}>`;
  const empty = html`<${Empty} title=${t.events.none} text=${t.events.noneText} />`;
  return html`<${Page} title=${t.screens.events} lead=${t.events.lead} actions=${actions}>
    <${Filters} filters=${[{ name: "type", label: t.webhooks.event, options: TYPES }]} />
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
  return html`<${Page} title=${event.data?.event ?? t.events.event}
    back=${{ href: href("/events"), text: t.screens.events }}>
    <${Shown} of=${event}>
      ${(/** @type {Event} */ one) => html`<${Card} title=${t.events.event}><${Facts} entries=${[
      [t.time, html`<${Time} at=${one.created_at} exact />`],
      [t.webhooks.eventId, html`<${Id} value=${one.id} />`],
      [t.events.resource,
        html`<${Id} value=${one.data?.id}
          to=${addressOf(one.data?.id)} />`],
    ]} /></${Card}>`}</${Shown}>
    <div class="grid2">
      <${Card} title=${t.delivery.body} actions=${html`<${Copy} value=${body} label=${t.delivery.body} />`}>
        <pre class="code" tabindex="0" dir="auto">${body}</pre></${Card}>
      <div class="list">
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
                html`<li key=${row.id}><span class="grow"><strong>${row.action}</strong> ${row.actor.name}
            <${Changes} changes=${row.changes} /></span>
          <span class="muted"><${Time} at=${row.occurred_at} /></span></li>`)}</ul>`}</${Shown}></${Card}>`}
      </div>
    </div>
  </${Page}>`;
}
