// Addresses of the pages of resources, by the first part of their ids.

import { href } from "./router.js";

/** Resources without an entry have no page of their own. @type {Record<string, (id: string) => string>} */
const PAGES = {
  con: () => "/connectors",
  emp: (id) => `/people/${id}`,
  evt: (id) => `/events/${id}`,
  key: () => "/keys",
  obj: (id) => `/feedback/objectives/${id}`,
  obs: (id) => `/feedback/${id}`,
  sum: (id) => `/feedback/summaries/${id}`,
  whk: (id) => `/webhooks/${id}`,
};

/** The address of a resource, if it has a page. @param {unknown} id */
export function addressOf(id) {
  const text = String(id ?? "");
  const page = PAGES[text.slice(0, Math.max(0, text.indexOf("_")))];
  return page && href(page(text));
}

/** The address of an objective. @param {{ id: string, scope: string }} one */
export const objectiveHref = (one) => href(`/feedback/${one.scope === "employee" ? "objectives" : "manager-objectives"}/${one.id}`);
