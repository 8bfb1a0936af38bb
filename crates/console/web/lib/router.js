// Addresses: the path chooses the screen, the query holds its filters, so that a view can be sent to a colleague.
//
//   href("/webhooks", { state: "failed" })   address of a view
//   go("/webhooks/whk_…")                    opens a view, with an entry in the history
//   setQuery({ state: "failed" })            changes filters of this view; null removes one. Back brings the former ones
//   const { path, query } = useRoute()
//
// A plain link (<a href=${href(…)}>) is enough: clicks on links of the console do not load the page again.

import { keptOf } from "./kept.js";
import { store, useStore } from "./view.js";

export const BASE = "/console";

/**
 * @typedef {object} Route
 * @property {string} path
 * @property {Record<string, string>} query
 * @property {number} entry number of the entry in the history
 * @property {boolean} isReturn the person came back to this entry, rather than to a new one
 */

// A page that is loaded again continues the history of the tab, whose numbers are lower.
let lastEntry = Date.now();

/** @param {boolean} isReturn @returns {Route} */
function current(isReturn) {
  const entry = history.state?.entry ?? ++lastEntry;
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, "");
  return { path: path || "/", query: Object.fromEntries(new URLSearchParams(location.search)), entry, isReturn };
}

export const route = store(current(false));

export const useRoute = () => useStore(route);

/**
 * @param {string} path
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export function href(path, query = {}) {
  const entries = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return BASE + (path === "/" ? "/" : path) + (text ? `?${text}` : "");
}

/** Remembers where the view is scrolled to, before another one replaces it. */
const leave = () => void (keptOf(route.value.entry).scroll = scrollY);

/** @param {string} address @param {string} [typed] parameter of a text that is typed */
function open(address, typed) {
  leave();
  history.pushState({ entry: ++lastEntry, typed }, "", address);
  route.set(current(false));
}

/**
 * @param {string} path
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export const go = (path, query) => open(href(path, query));

/**
 * @param {Record<string, string | number | null | undefined>} changes
 * @param {string} [typed] parameter of a text that is typed: all of its letters are one entry of the history
 */
export function setQuery(changes, typed) {
  const { path, query } = route.value;
  const address = href(path, { ...query, ...changes });
  if (!typed || history.state?.typed !== typed) return open(address, typed);
  history.replaceState(history.state, "", address);
  route.set(current(false));
}

/** Opens a view whose address is whole, as href() makes it. @param {string} address */
export const openAddress = (address) => open(address);

/** @param {string} path */
export const isAt = (path) => route.value.path === path || route.value.path.startsWith(`${path}/`);

/** @param {MouseEvent} event */
function follow(event) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = /** @type {Element | null} */ (event.target)?.closest?.("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
  const { origin, pathname } = new URL(link.href);
  if (origin !== location.origin || !(pathname === BASE || pathname.startsWith(`${BASE}/`))) return;
  event.preventDefault();
  open(link.href);
}

/** Starts to follow links and the buttons of the browser. */
export function listen() {
  // A screen is drawn after the browser would have scrolled it.
  history.scrollRestoration = "manual";
  history.replaceState({ ...history.state, entry: route.value.entry }, "");
  document.addEventListener("click", follow);
  addEventListener("popstate", () => (leave(), route.set(current(true))));
}
