// Forms of a subscription: create and change it, rotate its secret, replay events.

import { readAll, request } from "../lib/api.js";
import { useAction } from "../lib/data.js";
import { Dialog, Secret } from "../lib/dialog.js";
import { changed, Stale } from "../lib/stale.js";
import { number, relative } from "../lib/format.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Button, Field, Problem, fieldError } from "../lib/ui.js";
import { html, useEffect, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { FilterFields, filterOf, formOf } from "./webhooks_filter.js";
import { EVENT_TYPES } from "./webhooks_types.js";

/** @typedef {import("../types").Webhook} Webhook */

const DAY_S = 86_400;
/** Entries that are read to count a replay; more is shown as "at least". */
const MOST_COUNTED = 1000;

/**
 * @param {{ webhook?: Webhook, etag?: string | null, onClose: () => void, onSaved: (saved: Webhook) => void }} p
 */
export function Edit({ webhook, etag, onClose, onSaved }) {
  const [url, setUrl] = useState(webhook?.url ?? "https://");
  const [description, setDescription] = useState(webhook?.description ?? "");
  const [types, setTypes] = useState(() => new Set(/** @type {string[]} */ (webhook?.event_types ?? ["*"])));
  const [filter, setFilter] = useState(() => formOf(webhook?.filter));
  const [rate, setRate] = useState(String(webhook?.max_per_second ?? ""));
  const [made, setMade] = useState(/** @type {(Webhook & { secret: string }) | null} */ (null));
  const [was] = useState(webhook);
  const typed = { url: url.trim(), description: description.trim() || null, event_types: [...types],
    filter: filterOf(filter), max_per_second: rate === "" ? null : Number(rate) };
  const save = async (/** @type {string | null | undefined} */ match) => {
    const { data } = webhook
      ? await request("PATCH", `/webhooks/${webhook.id}`, { body: changed(typed, was ?? {}), etag: match })
      : await request("POST", "/webhooks", { body: typed });
    if (data.secret) return setMade(data);
    onSaved(data);
    onClose();
  };
  const { run, isBusy, error } = useAction(save);
  const toggle = (/** @type {string} */ type) => {
    const next = new Set(types);
    if (!next.delete(type)) next.add(type);
    setTypes(next);
  };
  // The screen that opens next would take the secret away, which no other answer shows.
  const stored = () => (onClose(), made && onSaved(made));
  if (made)
    return html`<${Secret} title=${t.webhooks.secret} text=${t.webhooks.secretText} value=${made.secret}
      onClose=${stored} />`;
  if (error?.status === 412 && webhook) {
    return html`<${Stale} path=${`/webhooks/${webhook.id}`} was=${was} fields=${Object.keys(typed)}
      mine=${changed(typed, was ?? {})} onClose=${onClose} onSave=${run}
      onReload=${onSaved} />`;
  }
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} disabled=${types.size === 0} onClick=${() => run(etag)}>
      ${webhook ? t.save : t.create}</${Button}>`;
  return html`<${Dialog} title=${webhook ? t.edit : t.webhooks.create} onClose=${onClose} foot=${foot}>
    <div class="form">
      <${Field} label=${t.webhooks.url} hint=${t.webhooks.urlHint} error=${fieldError(error, "url")}>
        <input type="url" name="url" value=${url} maxlength="2048"
          onInput=${(/** @type {any} */ e) => setUrl(e.target.value)} /></${Field}>
      <${Field} label=${t.description} error=${fieldError(error, "description")}>
        <input value=${description} maxlength="200"
          onInput=${(/** @type {any} */ e) => setDescription(e.target.value)} /></${Field}>
      <fieldset class="checks"><legend class="field-label">${t.webhooks.types}</legend>
        ${["*",
          ...EVENT_TYPES].map((type) =>
            html`<label key=${type} class="check"><input type="checkbox" checked=${types.has(type)}
          onChange=${() => toggle(type)} />
        <span>${type === "*" ? t.webhooks.every : type}</span></label>`)}</fieldset>
      <${FilterFields} form=${filter} onChange=${setFilter} error=${error} />
      <${Field} label=${t.webhooks.rateLimit} hint=${t.webhooks.rateLimitHint}
        error=${fieldError(error, "max_per_second")}>
        <input type="number" name="max_per_second" min="1" max="1000" value=${rate}
          onInput=${(/** @type {any} */ e) => setRate(e.target.value)} /></${Field}>
      ${error && html`<${Problem} error=${error} />`}
    </div>
  </${Dialog}>`;
}

const OVERLAPS = [0, 3600, DAY_S];

/** @param {{ id: string, onClose: () => void }} p */
export function Rotate({ id, onClose }) {
  const [overlap, setOverlap] = useState(DAY_S);
  const [secret, setSecret] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    const { data } = await request("PATCH", `/webhooks/${id}`,
      { body: { rotate_secret: true, overlap_seconds: overlap } });
    setSecret(data.secret);
  });
  if (secret) {
    const end = new Date(Date.now() + overlap * 1000).toISOString();
    const text = overlap ? t.webhooks.rotated(relative(end)) : t.webhooks.rotatedNow;
    return html`<${Secret} title=${t.webhooks.secret} text=${text} value=${secret} onClose=${onClose} />`;
  }
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} onClick=${run}>${t.webhooks.rotate}</${Button}>`;
  return html`<${Dialog} title=${t.webhooks.rotate} onClose=${onClose} foot=${foot}>
    <p>${t.webhooks.rotateText}</p>
    <${Field} label=${t.webhooks.overlap}>
      <select value=${String(overlap)} onChange=${(/** @type {any} */ e) => setOverlap(Number(e.target.value))}>
      ${OVERLAPS.map((one) => html`<option value=${one}>${t.webhooks.overlaps[one]}</option>`)}</select></${Field}>
    ${error && html`<${Problem} error=${error} />`}
  </${Dialog}>`;
}

/** Start of a time range as the form shows it: local time without a zone. @param {number} at */
const local = (at) => new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/**
 * Number of events that a replay would deliver, from the log or the feed.
 * @param {Webhook} webhook @param {string} since @param {string} only @param {AbortSignal} signal
 */
async function count(webhook, since, only, signal) {
  if (only === "all") {
    if (!can("events:read")) return null;
    const types = /** @type {string[]} */ (webhook.event_types);
    const query = { since, "filter[event]": types.includes("*") ? undefined : types };
    const { rows, isComplete } = await readAll("/events", query, MOST_COUNTED, signal);
    return { events: rows.length, isComplete };
  }
  const { rows, isComplete } = await readAll(`/webhooks/${webhook.id}/deliveries`, {}, MOST_COUNTED, signal);
  const done = new Set(rows.filter((row) => row.status === "success").map((row) => row.event_id));
  const open = rows.filter((row) => row.attempted_at >= since && !done.has(row.event_id) &&
    !row.event_id.startsWith("evt_test_"));
  return { events: new Set(open.map((row) => row.event_id)).size, isComplete };
}

/** @param {{ webhook: Webhook, onClose: () => void }} p */
export function Replay({ webhook, onClose }) {
  const [since, setSince] = useState(local(Date.now() - DAY_S * 1000));
  const [only, setOnly] = useState("failed");
  const [counted, setCounted] =
    useState(/** @type {{ events: number, isComplete: boolean } | null | undefined} */ (undefined));
  const at = Number.isNaN(Date.parse(since)) ? null : new Date(since).toISOString();
  useEffect(() => {
    const stop = new AbortController();
    setCounted(undefined);
    if (at) count(webhook, at, only, stop.signal).then(setCounted, () => stop.signal.aborted || setCounted(null));
    return () => stop.abort();
  }, [since, only]);
  const { run, isBusy, error } = useAction(async () => {
    const { data } = await request("POST", `/webhooks/${webhook.id}/replay`, { body: { since: at, only } });
    toast(t.webhooks.replayed(data.enqueued));
    onClose();
  });
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} disabled=${!at} onClick=${run}>${t.webhooks.replay}</${Button}>`;
  const text = counted === undefined ? t.loading : counted === null ? t.webhooks.notCounted
    : (counted.isComplete ? t.webhooks.wouldSend : t.webhooks.wouldSendMore)(number(counted.events));
  return html`<${Dialog} title=${t.webhooks.replay} onClose=${onClose} foot=${foot}>
    <p>${t.webhooks.replayText}</p>
    <div class="form-row">
      <${Field} label=${t.webhooks.since} error=${fieldError(error, "since")}>
        <input type="datetime-local" value=${since}
          onInput=${(/** @type {any} */ e) => setSince(e.target.value)} /></${Field}>
      <${Field} label=${t.webhooks.only}>
        <select value=${only} onChange=${(/** @type {any} */ e) => setOnly(e.target.value)}>
        <option value="failed">${t.webhooks.onlyFailed}</option>
        <option value="all">${t.webhooks.onlyAll}</option></select></${Field}>
    </div>
    <p role="status"><strong>${text}</strong></p>
    ${error && html`<${Problem} error=${error} />`}
  </${Dialog}>`;
}
