// Notifications of the person of the session: what was sent back, with the reason, and messages that were not read.

import { objectiveHref } from "./addresses.js";
import { request } from "./api.js";
import { useList } from "./data.js";
import { href } from "./router.js";
import { can, session } from "./session.js";
import { Button } from "./ui.js";
import { html, store, useEffect } from "./view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").Notification} Notification */

const SENT_BACK = ["objective.rejected", "summary.returned"];
/** Notifications of a page. */
const LIMIT = 100;

/** Number of unread messages among the notifications that were read last, and `true` if there are older ones; null before. */
export const unreadCount = store(/** @type {{ count: number, isCut: boolean } | null} */ (null));

/** Notifications of the person, newest first, a page at a time; none for a key that acts for nobody. */
export function useNotices() {
  const me = session.value?.me.employee_id;
  const read = useList(me && can("notifications:read") ? "/notifications" : null, { "filter[recipient_id]": me, limit: LIMIT });
  const { rows, hasMore } = read;
  useEffect(() => {
    if (rows) unreadCount.set({ count: rows.filter(isUnreadMessage).length, isCut: hasMore });
  }, [rows, hasMore]);
  return { ...read, newest: rows ?? [] };
}

/** Says how far the notifications were read, and reads on. @param {{ of: ReturnType<typeof useNotices> }} p */
export const Older = ({ of }) => of.hasMore && html`<div class="more"><span class="muted">${t.work.noticesRead(of.newest.length)}</span>
  <${Button} busy=${of.isMore} onClick=${of.more} aria-label=${`${t.more}: ${t.work.notices}`}>${t.more}</${Button}></div>`;

/** Reasons by the id of what was sent back. It may have been submitted again since. @param {Notification[]} rows newest first @returns {Map<string, string>} */
const reasonsOf = (rows) => new Map(rows.filter((one) => SENT_BACK.includes(one.type)).reverse()
  .flatMap((one) => one.target.id === null ? [] : [[one.target.id, one.body ?? ""]]));

/**
 * Objectives and drafts of the person that were sent back and not submitted since, with the reason. Nothing is read without such a
 * notification. @param {Notification[]} notices newest first
 */
export function useSentBack(notices) {
  const me = session.value?.me.employee_id;
  const reasons = reasonsOf(notices);
  const has = (/** @type {string} */ prefix) => [...reasons.keys()].some((id) => id.startsWith(prefix));
  const mayGoals = has("obj_") && can("objectives:read");
  const proposals = { "filter[owner_id]": me, "filter[status]": "proposed" };
  const goals = useList(mayGoals ? "/employee-objectives" : null, proposals);
  const wider = useList(mayGoals ? "/manager-objectives" : null, proposals);
  const drafts = useList(has("sum_") && can("summaries:read") ? "/summaries" : null, { "filter[author_id]": me, "filter[status]": "draft" });
  const rows = [
    ...[...(goals.rows ?? []), ...(wider.rows ?? [])].filter((one) => !one.submitted_at).map((one) => ({ one, to: objectiveHref(one) })),
    ...(drafts.rows ?? []).map((one) => ({ one, to: href(`/feedback/summaries/${one.id}`) })),
  ];
  const returned = rows.flatMap(({ one: { id, title }, to }) => reasons.has(id) ? [{ id, title, to, reason: reasons.get(id) ?? "" }] : []);
  return { returned, reads: [goals, wider, drafts] };
}

/** @param {Notification} one */
const isUnreadMessage = (one) => one.type === "conversation.message" && !one.read_at;

/** Unread messages by the id of their conversation, newest first. @param {Notification[]} rows @returns {Map<string, Notification[]>} */
export function unreadMessages(rows) {
  const byTalk = new Map();
  for (const one of rows) {
    if (isUnreadMessage(one) && one.target.id) byTalk.set(one.target.id, [...(byTalk.get(one.target.id) ?? []), one]);
  }
  return byTalk;
}

/** The title of what a notification is about, which the service puts behind a colon. @param {Notification} one */
export const titleOf = (one) => (one.title ?? "").replace(/^[^:]*: /, "");

/** @param {Notification[]} rows */
export const markRead = (rows) => Promise.all(rows.map(({ id }) => request("POST", `/notifications/${id}/read`, { quiet: true })));
