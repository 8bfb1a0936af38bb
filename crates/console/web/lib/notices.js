// Notifications of the person of the session: messages that were not read.

import { request } from "./api.js";
import { useList } from "./data.js";
import { can, session } from "./session.js";
import { Button } from "./ui.js";
import { html, store, useEffect } from "./view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").Notification} Notification */

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
