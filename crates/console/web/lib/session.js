// The key of the console: in memory; in sessionStorage if the person ticks the box, signed in, or came with a portal
// link. The address never carries a key, only the code of a sign-in or a link. A new tab of this browser asks the open
// tabs for the key, which it has in memory only. A sign-in of a person has a key of its own, the session (decision B10).
//
//   can("webhooks:write")   true if the key has the scope; screens show no button for what the key may not do
//   isAdmin()               true for a key of the admin level

import { ApiError, access, request } from "./api.js";
import { forgetDrafts } from "./drafts.js";
import { store } from "./view.js";

/** @typedef {import("../types").Me} Me */
/** @typedef {{ key: string, me: Me }} Session */

const KEPT = "candor-key";
/** Channel between the tabs of this origin. A key is sent only on the channel that the asking tab names. */
const CHANNEL = "candor-session";
/** Time within which other tabs answer. */
const ANSWER_MS = 250;
const tabs = new BroadcastChannel(CHANNEL);

/** Reasons why a sign-in was refused, as the address names them. */
const REASONS = ["denied", "expired", "not_linked", "provider"];

/** @typedef {{ ask?: string, left?: string, entered?: boolean }} Message */
/** @typedef {{ port: number, challenge: string, state: string }} CommandLine */

/** The current session. After a refusal it stays, with `ended`, so that the screen keeps what was typed. */
export const session = store(/** @type {Session | null} */ (null));
/** Grows when the new session may not see all that the former one saw, so that nothing of it stays on the screen. */
export const sight = store(0);
/** Session of a link that was opened over the current one, until the person has chosen. */
export const offered = store(/** @type {Session | null} */ (null));
/** Reason why a link that was pasted into this tab does not open. */
export const linkProblem = store(/** @type {ApiError | null} */ (null));
/** The command line of this computer that waits to be signed in. */
export const commandLine = store(/** @type {CommandLine | null} */ (null));
/** Reason why the key has to be given again, while the screen behind it stays. */
export const ended = store(/** @type {"refused" | "left" | null} */ (null));

access.refused = (key) => {
  if (key !== access.key) return;
  access.key = null;
  sessionStorage.removeItem(KEPT);
  ended.set("refused");
};

/** @param {string} key @returns {Promise<Session>} */
const describe = async (key) => ({ key, me: (await request("GET", "/me", { key, quiet: true })).data });

/** A person sees on what the same person saw before; a key of the organization needs the access of the former one. @param {Me} me @param {Me} former */
const seesAll = (me, former) => me.organization_id === former.organization_id && me.environment === former.environment &&
  (me.employee_id ? me.employee_id === former.employee_id
    : (me.access_level === "admin" || former.access_level !== "admin") &&
      (me.scopes.includes("*") || former.scopes.every((scope) => me.scopes.includes(scope))));

/**
 * Opens a session.
 * @param {Session} opened
 * @param {boolean} keep in sessionStorage, until the tab is closed
 */
export function enter(opened, keep) {
  access.key = opened.key;
  if (keep) sessionStorage.setItem(KEPT, opened.key);
  if (session.value && !seesAll(opened.me, session.value.me)) sight.set(sight.value + 1);
  session.set(opened);
  offered.set(null);
  ended.set(null);
  tabs.postMessage({ entered: true });
}

/**
 * Begins a sign-in: the browser goes to the provider of this work address, and comes back with a code. Nothing is kept.
 * @param {string} email
 * @param {{ start?: string, command_line?: CommandLine }} rest
 */
export async function beginSignIn(email, rest) {
  const options = { body: { email, ...rest }, key: "", quiet: true };
  const begun = await request("POST", "/sign-in", options).catch((error) => {
    throw error.status === 404 ? new ApiError(404, { code: "no_provider", request_id: error.requestId }) : error;
  });
  location.assign(begun.data.url);
}

/** True for the session of a person who signed in, rather than a key. @param {Me} me */
export const isSession = (me) => me.session_id === me.key_id;

/**
 * Signs in with a key.
 * @param {string} key
 * @param {boolean} keep in sessionStorage, until the tab is closed
 */
export async function signIn(key, keep) {
  enter(await describe(key), keep);
}

/**
 * Forgets the key and everything shown, in all tabs with this key. A session ends at the service, too, and the browser goes
 * to the provider if that has an address for it.
 */
export async function signOut() {
  const me = session.value?.me;
  const isOpen = me && isSession(me) && !ended.value;
  const logout = isOpen ? await request("POST", "/sign-in/logout", { quiet: true }).catch((error) => error) : null;
  tabs.postMessage({ left: me?.key_id });
  leave();
  if (logout?.data?.url) location.assign(logout.data.url);
  // The key is forgotten here, but the session itself goes on.
  if (logout instanceof ApiError && logout.status !== 401) linkProblem.set(new ApiError(0, { code: "session_open" }));
}

function leave() {
  access.key = null;
  forgetDrafts();
  sessionStorage.removeItem(KEPT);
  ended.set("left");
  session.set(null);
}

/** Takes the new session that the person of the ended one opened in another tab, so that nothing typed is lost. */
async function follow() {
  const before = session.value?.me;
  if (ended.value !== "refused" || !before?.employee_id) return;
  const key = await keyOfTabs();
  const next = key ? await describe(key).catch(() => null) : null;
  const isSame = next && next.me.employee_id === before.employee_id &&
    next.me.organization_id === before.organization_id && next.me.environment === before.environment;
  if (isSame && ended.value === "refused") enter(next, false);
}

/** Answers other tabs: with the key, with the end of the session when one signs out, and with its return. */
export function listenToTabs() {
  tabs.addEventListener("message", (/** @type {MessageEvent<Message>} */ { data: { ask, left, entered } }) => {
    if (left && left === session.value?.me.key_id) leave();
    if (entered) void follow();
    if (!ask || !access.key || ended.value) return;
    const reply = new BroadcastChannel(ask);
    reply.postMessage(access.key);
    reply.close();
  });
}

/** The key of the other tabs, if they all have the same one. @returns {Promise<string | null>} */
async function keyOfTabs() {
  const name = `${CHANNEL} ${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
  const replies = new BroadcastChannel(name);
  /** @type {Set<string>} */
  const keys = new Set();
  replies.addEventListener("message", ({ data }) => void keys.add(String(data)));
  tabs.postMessage({ ask: name });
  await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
  replies.close();
  const [key = null] = keys;
  return keys.size === 1 ? key : null;
}

/** Exchanges the code of a sign-in or a portal link for its key. @param {string} code */
async function exchange(code) {
  const options = { body: { code }, key: "", quiet: true };
  const read = await request("POST", "/portal-links/exchange", options).catch((error) => {
    throw error.status === 404 ? new ApiError(404, { code: "link_ended", request_id: error.requestId }) : error;
  });
  return read.data.key;
}

/**
 * Signs in with the kept key. A code in the fragment of the address opens a session only after the person was asked: who
 * sent the link decides which organization it shows.
 */
export async function resume() {
  const { code, error } = takeFragment();
  const kept = sessionStorage.getItem(KEPT);
  const lost = kept ? await signIn(kept, true).then(() => null, (error) => error) : null;
  // A kept key that is not refused (a lost connection, a stopped service) is still a person's session.
  if (lost && (!code || lost.status !== 401)) throw lost;
  if (code) return openLink(code);
  if (error && !session.value) throw error;
  const other = kept ? null : await keyOfTabs();
  // A key that has ended leads to the entrance, which says nothing about other tabs.
  if (other) await signIn(other, false).catch((error) => { if (error.status !== 401) throw error; });
}

/** Takes the fragment out of the address, so that the address bar and the history do not keep a code. */
function takeFragment() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(history.state, "", location.pathname + location.search);
  const reason = fragment.get("error");
  const error = reason && new ApiError(0, { code: `sign_in_${REASONS.includes(reason) ? reason : "provider"}` });
  const [, port, challenge, state] = /^(\d{4,5})\.([\w-]{43})\.([\w-]{43})$/.exec(fragment.get("command-line") ?? "") ?? [];
  if (port && challenge && state) commandLine.set({ port: Number(port), challenge, state });
  return { code: fragment.get("code"), error };
}

/** Follows a link that is pasted into an open tab: the browser changes the fragment only, and loads nothing. */
export function listenToLinks() {
  addEventListener("hashchange", () => {
    const { code, error } = takeFragment();
    linkProblem.set(session.value ? null : error || null);
    if (code) openLink(code).catch((error) => linkProblem.set(error));
  });
}

/** @param {string} code */
async function openLink(code) {
  const current = session.value;
  // Another tab may have a session, which this one does not know. So the person is always asked.
  const linked = await exchange(code).then(describe).catch((error) => {
    if (!current) throw error;
    return null;
  });
  if (!linked) return;
  // Only the browser that began a sign-in can exchange its code, so nobody else has sent it.
  if (!current && isSession(linked.me)) enter(linked, true);
  else offered.set(linked);
}

/** @param {string} scope */
export function can(scope) {
  const scopes = /** @type {string[]} */ (session.value?.me.scopes ?? []);
  return scopes.includes("*") || scopes.includes(scope);
}

export const isAdmin = () => session.value?.me.access_level === "admin";
export const isTest = () => session.value?.me.environment === "test";
/** Keys of the admin level manage keys, connectors and settings of the live data. */
export const isOperator = () => isAdmin() && !isTest();
/** The audit log, the events and the webhooks are closed to keys that act for one person. */
export const isBound = () => Boolean(session.value?.me.employee_id);
