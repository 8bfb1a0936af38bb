// Addresses of the pages of resources, by the first part of their ids.

import { fullName, short } from "./format.js";
import { href } from "./router.js";
import { html } from "./view.js";

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

const MOST_LETTERS = 90;

/** Short name of a resource, from the data of its event. @param {any} data @returns {string} */
export function nameIn(data) {
  const name = data?.title || (data?.first_name && fullName(data)) || (data?.observation ?? data?.body ?? data?.message ?? data?.name ?? data?.hris_source ??
    (data?.description || data?.url) ?? data?.id);
  return short(name ?? "", MOST_LETTERS);
}

/** The type of an event with its resource. @param {any} event @returns {string | undefined} */
export const eventTitle = (event) => event && [event.event, nameIn(event.data)].filter(Boolean).join(" · ");

/** The resource of an event by its name, with a link where there is a page. @param {{ of: any }} p */
export const Resource = ({ of }) => {
  const address = addressOf(of?.id);
  return address ? html`<a href=${address} dir="auto">${nameIn(of)}</a>` : html`<span dir="auto">${nameIn(of) || "–"}</span>`;
};

/** The address of an objective. @param {{ id: string, scope: string }} one */
export const objectiveHref = (one) => href(`/feedback/${one.scope === "employee" ? "objectives" : "manager-objectives"}/${one.id}`);
