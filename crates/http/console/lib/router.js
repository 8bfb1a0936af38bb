// Addresses: the path chooses the screen, the query holds its filters, so that a view can be sent to a colleague.
//
//   href("/webhooks", { state: "failed" })   address of a view
//   go("/webhooks/whk_…")                    opens a view, with an entry in the history
//   setQuery({ state: "failed" })            changes filters of this view; null removes one
//   const { path, query } = useRoute()
//
// A plain link (<a href=${href(…)}>) is enough: clicks on links of the console do not load the page again.

import { store, useStore } from "./view.js";

export const BASE = "/console";

/** @typedef {{ path: string, query: Record<string, string> }} Route */

/** @returns {Route} */
function current() {
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, "");
  return { path: path || "/", query: Object.fromEntries(new URLSearchParams(location.search)) };
}

export const route = store(current());

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

/**
 * @param {string} path
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export function go(path, query) {
  history.pushState(null, "", href(path, query));
  route.set(current());
}

/** @param {Record<string, string | number | null | undefined>} changes */
export function setQuery(changes) {
  const { path, query } = route.value;
  history.replaceState(null, "", href(path, { ...query, ...changes }));
  route.set(current());
}

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
  history.pushState(null, "", link.href);
  route.set(current());
}

/** Starts to follow links and the buttons of the browser. */
export function listen() {
  document.addEventListener("click", follow);
  addEventListener("popstate", () => route.set(current()));
}
