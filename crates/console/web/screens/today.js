// Today: what needs attention, and whether deliveries arrive.

import { screenOf, useAttention } from "../lib/attention.js";
import { quotas } from "../lib/api.js";
import { Bars, Meter } from "../lib/charts.js";
import { useGet, useList, usePoll } from "../lib/data.js";
import { barsOf, nameOf, statsOf, total } from "../lib/deliveries.js";
import { date, duration, hour, number, percent, short, words } from "../lib/format.js";
import { Older, titleOf, unreadMessages, useNotices } from "../lib/notices.js";
import { href } from "../lib/router.js";
import { can, isBound, isOperator, isSession, session } from "../lib/session.js";
import { Badge, Card, Empty, Figure, Page, Problem, Shown, Skeleton, Time } from "../lib/ui.js";
import { html, useStore } from "../lib/view.js";
import { t } from "../texts.js";

const REFRESH_MS = 30_000;
/** Matters that are shown. */
const SHOWN = 15;
/** Characters of a reason in one line. */
const MOST_REASON = 80;

/**
 * @typedef {{ key: string, tone: "bad" | "warn" | "info", kind: string, text: any, note?: any, to: string }}
 *   Entry
 */

export default function Today() {
  const attention = useAttention();
  const notices = useNotices();
  const webhooks = useList(can("webhooks:read") && !isBound() ? "/webhooks" : null, { limit: 100, expand: "stats" });
  const requests = useGet(isOperator() && can("settings:read") ? "/request-stats" : null, { window: "24h" });
  usePoll(() => [attention, notices, webhooks, requests].forEach((one) => one.reload()), REFRESH_MS);
  const kinds = attention.data?.kinds ?? [];
  const names = new Map((webhooks.rows ?? []).map((one) => [one.id, nameOf(one)]));
  const matters = (attention.data?.data ?? []).map((one) => entryOf({ ...one, title: names.get(one.id) ?? one.title }));
  const entries = [...matters, ...messagesOf(notices)].sort((one, other) => rank(one) - rank(other));
  const waiting = [attention, notices];
  const isLoading = waiting.some((one) => one.isLoading && !("rows" in one ? one.rows : one.data) && !one.error);
  const isWhole = !waiting.some((one) => one.error) && !notices.hasMore;
  const isCut = kinds.some((one) => one.has_more);
  const me = session.value?.me;
  const beside = isOperator() && can("settings:read") && html`<${Card} title=${t.today.requests}>
    <${Shown} of=${requests}>${(/** @type {RequestStats} */ all) => html`<${Requests} all=${all} />`}</${Shown}>
  </${Card}>`;
  const calm = calmOf(kinds).join(" ");
  return html`<${Page} title=${t.screens.today} lead=${me && (isSession(me) || isBound()) ? t.today.leadOfPerson : t.today.lead(me?.name ?? "")}>
    <${Card} title=${t.today.attention}>
      ${entries.length > 0 ? html`<${Entries} entries=${entries} isCut=${isCut} />` : isLoading
        ? html`<${Skeleton} rows=${3} />`
        : isWhole ? html`<${Empty} title=${calm ? t.today.calm : t.today.unseen} text=${calm} />`
        : html`<p class="muted">${calm}</p>`}
      <${Older} of=${notices} />
      ${waiting.filter((one) => one.error)
        .map((one) => html`<${Problem} error=${one.error} retry=${one.reload} />`)}
    </${Card}>
    ${can("webhooks:read") && !isBound() ? html`<${Deliveries} webhooks=${webhooks} beside=${beside} />` : beside}
    ${!isBound() && html`<${Card} title=${t.today.quota}><${Quotas} /></${Card}>`}
  </${Page}>`;
}

/** The kinds of resources of which nothing waits. Only what was read to its end is said to be well. @param {KindCount[]} kinds */
function calmOf(kinds) {
  /** @type {Record<string, string[]>} */
  const groups = { webhooks: ["webhook_inactive", "webhook_failing"], connectors: ["connector_paused", "connector_failing"], keys: ["api_key_expiring"],
    objectives: ["objective_in_review"], summaries: ["summary_in_review"], assignments: ["assignment_overdue"] };
  const isCalm = (/** @type {string} */ kind) => kinds.some((one) => one.kind === kind && one.count === 0 && !one.has_more);
  return Object.entries(groups).flatMap(([name, group]) => group.every(isCalm) ? [t.today.calmOf[name]] : []);
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

/** @param {{ webhooks: any, beside: any }} p `beside` is the card beside the chart. */
function Deliveries({ webhooks, beside }) {
  if (webhooks.rows?.length === 0) {
    return html`<${Empty} title=${t.webhooks.none} text=${t.webhooks.noneText}>
      <a class="button" href=${href("/webhooks")}>${t.screens.webhooks}</a></${Empty}>${beside}`;
  }
  if (webhooks.error) return html`<${Problem} error=${webhooks.error} retry=${webhooks.reload} />${beside}`;
  if (!webhooks.rows) return html`<${Skeleton} rows=${4} />${beside}`;
  const all = webhooks.rows.map(statsOf);
  const sum = total(all.filter(Boolean));
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
    ${all.includes(null) && html`<p class="muted">${t.webhooks.uncounted}</p>`}
    <div class=${beside ? "grid2" : ""}><${Card} title=${t.webhooks.chart}
      actions=${html`<a href=${href("/webhooks", { view: "deliveries" })}>${t.webhooks.deliveries}</a>`}>
      <${Bars} label=${t.webhooks.chartLabel(sum.successes, sum.failures)} bars=${barsOf([sum])}
        names=${{ good: t.webhooks.successes, bad: t.webhooks.failures }} /></${Card}>${beside}</div>`;
}

/** @typedef {import("../types").Webhook} Webhook */
/** @typedef {import("../types").Matter} Matter */
/** @typedef {import("../types").KindCount} KindCount */
/** @typedef {import("../types").RequestStats} RequestStats */

/** Tones of kinds; the others warn. @type {Record<string, "bad" | "info">} */
const TONES = { webhook_inactive: "bad", webhook_failing: "bad", connector_paused: "bad",
  summary_shared: "info", objective_quiet: "info" };

/** @param {Matter} one @returns {Entry} */
const entryOf = (one) => ({ key: `${one.kind} ${one.id}`, tone: TONES[one.kind] ?? "warn", text: one.title, to: screenOf(one),
  kind: one.kind === "objective_quiet" && !one.at ? t.progress.none : t.matters[one.kind] ?? words(one.kind),
  note: one.reason ? short(one.reason, MOST_REASON) : one.due_date ? t.feedback.due(date(one.due_date)) : one.employee_name
    ?? (one.at && html`<${Time} at=${one.at} />`) });

/** @param {ReturnType<typeof useNotices>} notices @returns {Entry[]} */
const messagesOf = (notices) => [...unreadMessages(notices.newest)].flatMap(([id, [newest, ...older]]) => newest ? [{ key: id, tone: "info",
  kind: t.work.unread(older.length + 1, notices.hasMore), text: titleOf(newest), note: html`<${Time} at=${newest.created_at} />`,
  to: href("/me", { view: "conversations", talk: id }) }] : []);

/** The urgent first. @param {Entry} one */
const rank = (one) => ["bad", "warn", "info"].indexOf(one.tone);

/** @param {{ entries: Entry[], isCut: boolean }} p `isCut` if a list that was read has more rows. */
const Entries = ({ entries, isCut }) =>
  html`<ul class="attention matters">${entries.slice(0, SHOWN).map((one) => html`<li key=${one.key}>
    <${Badge} tone=${one.tone}>${one.kind}</${Badge}>
    <span class="grow"><a href=${one.to} dir="auto">${one.text}</a></span>
    ${one.note && html`<span class="muted" dir="auto">${one.note}</span>`}</li>`)}</ul>
  ${entries.length > SHOWN && html`<p class="muted">
    ${(isCut ? t.today.othersAtLeast : t.today.others)(entries.length - SHOWN)}</p>`}`;

function Quotas() {
  const used = useStore(quotas);
  const limits = session.value?.me.quotas;
  if (!limits) return html`<${Skeleton} rows=${2} />`;
  return html`<div class="meters">${Object.entries(limits).map(([name, { limit }]) => {
    const quota = used[name];
    const part = quota ? quota.limit - quota.remaining : 0;
    return html`<${Meter} key=${name} label=${t.quotas[name] ?? words(name)} part=${part} whole=${limit}
      text=${quota ? t.today.used(number(part), number(limit)) : t.today.most(number(limit))} />`;
  })}</div><p class="muted">${t.today.quotaText}</p>`;
}
