// Notifications of the person of the session: what was sent back, with the reason, and messages that were not read.

import { request } from "./api.js";
import { useGet } from "./data.js";
import { can, session } from "./session.js";

/** @typedef {import("../types").Notification} Notification */

const SENT_BACK = ["objective.rejected", "summary.returned"];
/** Notifications that are read, the newest ones. */
const MOST = 100;

/** The newest notifications of the person; none for a key that acts for nobody. */
export function useNotices() {
  const me = session.value?.me.employee_id;
  const read = useGet(me && can("notifications:read") ? "/notifications" : null, { "filter[recipient_id]": me, limit: MOST });
  return { ...read, newest: read.data?.data ?? [] };
}

/** Reasons by the id of what was sent back. It may have been submitted again since. @param {Notification[]} rows newest first @returns {Map<string, string>} */
export const sentBack = (rows) => new Map(rows.filter((one) => SENT_BACK.includes(one.type)).reverse().map((one) => [one.target.id, one.body ?? ""]));

/** Unread messages by the id of their conversation, newest first. @param {Notification[]} rows @returns {Map<string, Notification[]>} */
export function unreadMessages(rows) {
  const byTalk = new Map();
  for (const one of rows) {
    if (one.type === "conversation.message" && !one.read_at) byTalk.set(one.target.id, [...(byTalk.get(one.target.id) ?? []), one]);
  }
  return byTalk;
}

/** The title of what a notification is about, which the service puts behind a colon. @param {Notification} one */
export const titleOf = (one) => (one.title ?? "").replace(/^[^:]*: /, "");

/** @param {Notification[]} rows */
export const markRead = (rows) => Promise.all(rows.map(({ id }) => request("POST", `/notifications/${id}/read`, { quiet: true })));
