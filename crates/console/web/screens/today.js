// Today: what needs attention, and whether deliveries arrive.

import { objectiveHref } from "../lib/addresses.js";
import { quotas } from "../lib/api.js";
import { Bars, Meter } from "../lib/charts.js";
import { useGet, useList, usePoll } from "../lib/data.js";
import { barsOf, total, useStats } from "../lib/deliveries.js";
import { date, duration, fullName, hour, number, percent, short, words } from "../lib/format.js";
import { Older, titleOf, unreadMessages, useNotices, useSentBack } from "../lib/notices.js";
import { href } from "../lib/router.js";
import { can, isBound, isOperator, isSession, session } from "../lib/session.js";
import { Badge, Card, Empty, Figure, Page, Problem, Shown, Skeleton, Time } from "../lib/ui.js";
import { html, useStore } from "../lib/view.js";
import { t } from "../texts.js";
import { quietSince } from "./objectives_progress.js";

const REFRESH_MS = 30_000;
const SOON_MS = 14 * 86_400_000;
const SHOWN = 5;
/** Characters of a reason in one line. */
const MOST_REASON = 80;

/**
 * @typedef {{ key: string, tone: "bad" | "warn" | "info", kind: string, text: any, note?: any, to: string }}
 *   Matter
 */

export default function Today() {
  const webhooks = useList(can("webhooks:read") && !isBound() ? "/webhooks" : null, { limit: 100 });
  const stats = useStats(webhooks.rows?.map((one) => one.id) ?? null);
  const keys = useList(isOperator() && can("settings:read") ? "/api-keys" : null,
    { limit: 100, "filter[kind]": "key" });
  const connectors = useList(isOperator() && can("settings:read") ? "/connectors" : null, { limit: 100 });
  const objectives = useGet(can("objectives:read") ? "/employee-objectives" : null,
    { "filter[in_review]": true, expand: can("employees:read") ? "owner" : null, limit: 100 });
  const shared = useGet(can("objectives:read") ? "/manager-objectives" : null,
    { "filter[in_review]": true, expand: can("employees:read") ? "owner" : null, limit: 100 });
  const quietQuery = { "filter[status]": "in_progress", "filter[last_check_in_at][lte]": quietSince(),
    sort: "last_check_in_at", expand: can("employees:read") ? "owner" : null, limit: 10 };
  const quiet = useGet(can("objectives:read") ? "/employee-objectives" : null, quietQuery);
  const quietShared = useGet(can("objectives:read") ? "/manager-objectives" : null, quietQuery);
  const summaries = useGet(can("summaries:read") ? "/summaries" : null,
    { "filter[status]": "pending_review", limit: 100 });
  const assignments = useGet(can("assignments:read") ? "/assignments" : null,
    { "filter[status]": "open", sort: "due_date", limit: 100 });
  const notices = useNotices();
  const { returned, reads: returns } = useSentBack(notices.newest);
  const requests = useGet(isOperator() && can("settings:read") ? "/request-stats" : null, { window: "24h" });
  const reads = [webhooks, keys, connectors, objectives, shared, quiet, quietShared, summaries, assignments, notices, ...returns];
  usePoll(() => [...reads, stats, requests].forEach((one) => one.reload()), REFRESH_MS);
  const matters =
    collect({ webhooks: webhooks.rows, keys: keys.rows, connectors: connectors.rows,
      objectives: [...(objectives.data?.data ?? []), ...(shared.data?.data ?? [])],
      quiet: [...(quiet.data?.data ?? []), ...(quietShared.data?.data ?? [])],
    summaries: summaries.data?.data, assignments: assignments.data?.data, messages: unreadMessages(notices.newest), isCut: notices.hasMore, returned });
  const isLoading = reads.some((one) => one.isLoading && !("rows" in one ? one.rows : one.data) && !one.error);
  const isFailed = reads.some((one) => one.error);
  const isCut = reads.some((one) => ("rows" in one ? one.hasMore : one.data?.has_more));
  const isWhole = (/** @type {{ rows: unknown, hasMore: boolean }} */ list) => list.rows && !list.hasMore;
  // Only what was read to its end is said to be well.
  const calm = [isWhole(webhooks) && t.today.calmOf.webhooks, isWhole(connectors) && t.today.calmOf.connectors,
    isWhole(keys) && t.today.calmOf.keys, objectives.data && shared.data && t.today.calmOf.objectives,
    summaries.data && t.today.calmOf.summaries, assignments.data && t.today.calmOf.assignments].filter(Boolean);
  const sum = stats.data ? total(Object.values(stats.data)) : null;
  const beside = isOperator() && can("settings:read") && html`<${Card} title=${t.today.requests}>
    <${Shown} of=${requests}>${(/** @type {RequestStats} */ all) => html`<${Requests} all=${all} />`}</${Shown}>
  </${Card}>`;
  const me = session.value?.me;
  return html`<${Page} title=${t.screens.today} lead=${me && (isSession(me) || isBound()) ? t.today.leadOfPerson : t.today.lead(me?.name ?? "")}>
    <div class=${isBound() ? "" : "grid2 first"}>
      <${Card} title=${t.today.attention}>
        ${matters.length > 0 ? html`<${Matters} matters=${matters} isCut=${isCut} />` : isLoading
          ? html`<${Skeleton} rows=${3} />`
          : isFailed || notices.hasMore ? html`<p class="muted">${calm.join(" ")}</p>`
          : html`<${Empty} title=${calm.length > 0 ? t.today.calm : t.today.unseen} text=${calm.join(" ")} />`}
        <${Older} of=${notices} />
        ${reads.filter((one) => one.error)
          .map((one) => html`<${Problem} error=${one.error} retry=${one.reload} />`)}
      </${Card}>
      ${!isBound() && html`<${Card} title=${t.today.quota}><${Quotas} /></${Card}>`}
    </div>
    ${can("webhooks:read") && !isBound()
      ? html`<${Deliveries} webhooks=${webhooks} stats=${stats} sum=${sum} beside=${beside} />` : beside}
  </${Page}>`;
}

/** Requests of the last 24 hours by hour and by status. @param {{ all: RequestStats }} p */
function Requests({ all }) {
  // The window touches 25 clock hours; the chart of attempts beside has 24.
  const bars = all.by_hour.slice(-24).map((one) => ({ name: hour(new Date(one.hour).getTime()),
    good: one.requests - one.refused - one.failed, bad: one.refused + one.failed }));
  const bad = bars.reduce((sum, bar) => sum + bar.bad, 0);
  return html`<${Bars} label=${t.today.requestsLabel(all.requests - bad, bad)} bars=${bars}
      names=${{ good: t.today.answered, bad: t.today.refusedOrFailed }} />
    <ul class="statuses">${all.by_status.map((one) => html`<li key=${one.status}>
      <${Badge} tone=${one.status >= 500 ? "bad" : one.status >= 400 ? "warn" : "good"}>${one.status}</${Badge}>
      ${number(one.count)}</li>`)}</ul>`;
}

/**
 * @param {{ webhooks: any, stats: any, sum: import("../lib/deliveries.js").Stats | null, beside: any }} p `beside` is
 *   the card beside the chart.
 */
function Deliveries({ webhooks, stats, sum, beside }) {
  if (webhooks.rows?.length === 0) {
    return html`<${Empty} title=${t.webhooks.none} text=${t.webhooks.noneText}>
      <a class="button" href=${href("/webhooks")}>${t.screens.webhooks}</a></${Empty}>${beside}`;
  }
  if (webhooks.error ?? stats.error)
    return html`<${Problem} error=${webhooks.error ?? stats.error} retry=${stats.reload} />${beside}`;
  if (!sum) return html`<${Skeleton} rows=${4} />${beside}`;
  const share = sum.attempts ? sum.successes / sum.attempts : 1;
  const failing = webhooks.rows.filter((/** @type {Webhook} */ one) => !one.active ||
    (one.last_delivery_status ?? "success") !== "success").length;
  return html`<div class="figures">
      <${Figure} label=${t.today.success} to=${href("/webhooks", { view: "deliveries" })}
        value=${percent(sum.successes, sum.attempts)}
        note=${t.webhooks.attempts(sum.attempts)} tone=${share < 0.9 ? "bad" : share < 1 ? "warn" : sum.attempts
          ? "good" : undefined} />
      <${Figure} label=${t.webhooks.p95} value=${sum.p95 === null ? "–" : duration(sum.p95)}
        note=${t.today.slowest} />
      <${Figure} label=${t.today.queue} value=${number(sum.queued)}
        note=${sum.nextAttemptAt && html`${t.webhooks.nextAttempt} <${Time} at=${sum.nextAttemptAt} />`} />
      <${Figure} label=${t.today.failing} to=${href("/webhooks")} value=${number(failing)}
        note=${!webhooks.hasMore && t.today.ofSubscriptions(webhooks.rows.length)}
        tone=${failing ? "bad" : "good"} />
    </div>
    <div class=${beside ? "grid2" : ""}><${Card} title=${t.webhooks.chart}
      actions=${html`<a href=${href("/webhooks", { view: "deliveries" })}>${t.webhooks.deliveries}</a>`}>
      <${Bars} label=${t.webhooks.chartLabel(sum.successes, sum.failures)} bars=${barsOf([sum])}
        names=${{ good: t.webhooks.successes, bad: t.webhooks.failures }} /></${Card}>${beside}</div>`;
}

/** @typedef {import("../types").Webhook} Webhook */
/** @typedef {import("../types").ApiKey} ApiKey */
/** @typedef {import("../types").Connector} Connector */
/** @typedef {import("../types").Objective} Objective */
/** @typedef {import("../types").Summary} Summary */
/** @typedef {import("../types").Assignment} Assignment */
/** @typedef {import("../types").RequestStats} RequestStats */

/**
 * Everything that waits for a person, the urgent first.
 * @param {{ webhooks?: Webhook[] | null, keys?: ApiKey[] | null, connectors?: Connector[] | null,
 *   objectives?: Objective[], quiet?: Objective[], summaries?: Summary[], assignments?: Assignment[],
 *   messages: ReturnType<typeof unreadMessages>, isCut: boolean, returned: ReturnType<typeof useSentBack>["returned"] }} of
 * @returns {Matter[]}
 */
function collect({ webhooks, keys, connectors, objectives, quiet, summaries, assignments, messages, isCut, returned }) {
  const now = Date.now();
  const today = new Date(now).toISOString().slice(0, 10);
  /** @type {Matter[]} */
  const matters = [];
  for (const one of webhooks ?? []) {
    const to = href(`/webhooks/${one.id}`);
    if (!one.active)
      matters.push({ key: one.id, tone: "bad", kind: t.today.pausedWebhook, text: one.url,
        note: html`<${Time} at=${one.updated_at} />`, to });
    else if ((one.last_delivery_status ?? "success") !== "success") {
      matters.push({ key: one.id, tone: "bad", kind: t.today.failingWebhook, text: one.url,
        note: html`<${Time} at=${one.last_delivery_at} />`, to });
    }
  }
  for (const one of (connectors ?? []).filter((connector) => connector.status === "paused")) {
    matters.push({
      key: one.id, tone: "bad", kind: t.today.pausedConnector, text: one.hris_source,
      note: html`<${Time} at=${one.paused_at} />`, to: href("/connectors"),
    });
  }
  for (const one of connectors ?? []) {
    if (one.status === "failing" || one.last_sync_status === "partial") {
      matters.push({ key: one.id, tone: one.status === "failing" ? "bad" : "warn", kind: t.today.connector,
        text: one.hris_source, note: html`<${Time} at=${one.last_sync_at} />`, to: href("/connectors") });
    }
  }
  for (const one of keys ?? []) {
    const end = one.expires_at && !one.revoked_at ? new Date(one.expires_at).getTime() : null;
    if (end && end > now && end < now + SOON_MS) {
      matters.push({ key: one.id, tone: "warn", kind: t.today.key, text: one.name,
        note: html`<${Time} at=${one.expires_at} />`, to: href("/keys") });
    }
  }
  for (const { id, title, to, reason } of returned) {
    matters.push({ key: `back-${id}`, tone: "warn", kind: t.work.sentBack, text: title, note: short(reason, MOST_REASON), to });
  }
  for (const one of objectives ?? []) {
    matters.push({ key: one.id, tone: "warn", kind: t.today.objective, text: one.title,
      note: one.owner && fullName(one.owner), to: objectiveHref(one) });
  }
  for (const one of summaries ?? []) {
    matters.push({ key: one.id, tone: "warn", kind: t.today.summary, text: one.title,
      note: html`<${Time} at=${one.submitted_at} />`, to: href(`/feedback/summaries/${one.id}`) });
  }
  for (const one of (assignments ?? []).filter((assignment) => assignment.due_date &&
    assignment.due_date < today)) {
    matters.push({ key: one.id, tone: "warn", kind: t.today.assignment, text: one.title,
      note: date(one.due_date ?? today),
      to: href("/feedback", { view: "assignments" }) });
  }
  for (const [id, [newest, ...older]] of messages) {
    if (newest) matters.push({ key: id, tone: "info", kind: t.work.unread(older.length + 1, isCut), text: titleOf(newest),
      note: html`<${Time} at=${newest.created_at} />`, to: href("/me", { view: "conversations", talk: id }) });
  }
  for (const one of quiet ?? []) {
    matters.push({ key: `quiet-${one.id}`, tone: "info", kind: one.last_check_in_at ? t.today.quiet : t.progress.none, text: one.title,
      note: one.owner && fullName(one.owner), to: objectiveHref(one) });
  }
  return matters;
}

/** @param {{ matters: Matter[], isCut: boolean }} p `isCut` if a list that was read has more rows. */
const Matters = ({ matters, isCut }) =>
  html`<ul class="attention">${matters.slice(0, 3 * SHOWN).map((one) => html`<li key=${one.key}>
    <${Badge} tone=${one.tone}>${one.kind}</${Badge}>
    <span class="grow"><a href=${one.to} dir="auto">${one.text}</a></span>
    ${one.note && html`<span class="muted">${one.note}</span>`}</li>`)}</ul>
  ${matters.length > 3 * SHOWN && html`<p class="muted">
    ${(isCut ? t.today.othersAtLeast : t.today.others)(matters.length - 3 * SHOWN)}</p>`}`;

function Quotas() {
  const used = useStore(quotas);
  const limits = session.value?.me.quotas;
  if (!limits) return html`<${Skeleton} rows=${2} />`;
  return html`${Object.entries(limits).map(([name, { limit }]) => {
    const quota = used[name];
    const part = quota ? quota.limit - quota.remaining : 0;
    return html`<${Meter} key=${name} label=${t.quotas[name] ?? words(name)} part=${part} whole=${limit}
      text=${quota ? t.today.used(number(part), number(limit)) : t.today.most(number(limit))} />`;
  })}<p class="muted">${t.today.quotaText}</p>`;
}
