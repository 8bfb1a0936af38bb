// Parts of screens. A screen is one file in `screens/`, exports one component, and is made of:
//
//   Page      title, lead, actions; gives the focus to the title when the screen opens
//   Shown     loading, error and empty states of a read:
//             html`<${Shown} of=${read} empty=${…}>${(data) => …}</${Shown}>`
//   Table     rows with columns [{ name, label, cell: (row) => …, isNumber, isMain, isLine }]; cards on a narrow screen, lines with `isFlow`
//   Filters   fields bound to the query of the address
//   Button, Badge, Status, Time, Id, Facts, Tabs, Field, Problem, Empty, Skeleton
//   Dialog, Confirm in `dialog.js`; toast() in `toast.js`; people in `people.js`; charts in `charts.js`
//
// Every text that people read comes from `texts.js`.

import { t } from "../texts.js";
import { fieldName, relative, time, utc, words } from "./format.js";
import { keptOf } from "./kept.js";
import { href, route, setQuery, useRoute } from "./router.js";
import { isBound } from "./session.js";
import { slow, waiting } from "./api.js";
import { html, store, useEffect, useRef, useState, useStore } from "./view.js";
import { toast } from "./toast.js";

/** @typedef {import("./api.js").ApiError} ApiError */
/** @typedef {any} Content */

/** Shows the drawer with the requests behind the screen. */
export const isDrawerOpen = store(false);

/**
 * @param {{ title: string, lead?: Content, mark?: Content, state?: Content, actions?: Content, back?: { href: string, text: string },
 *   children?: Content }} p `state` stands beside the title
 */
export function Page({ title, lead, mark, state, actions, back, children }) {
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => {
    document.title = `${title} · Candor`;
  }, [title]);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    const { entry, isReturn } = route.value;
    scrollTo(0, isReturn ? keptOf(entry).scroll : 0);
  }, []);
  return html`<div class="page">
    ${back && html`<a class="back" href=${back.href}><span aria-hidden="true">←</span> ${back.text}</a>`}
    <header class="page-head">
      ${mark}<div class="page-title"><div class="entry-head"><h1 tabindex="-1" ref=${heading}>${title}</h1>${state}</div>
        ${lead && html`<p class="lead">${lead}</p>`}</div>
      <div class="actions">${actions}${!isBound() && html`<${Button} kind="quiet of-requests" onClick=${() => isDrawerOpen.set(true)}>
        <code aria-hidden="true">${"</>"}</code>${t.requests}</${Button}>`}</div>
    </header>
    ${children}
  </div>`;
}

/**
 * @param {{ kind?: "primary" | "danger" | "quiet", busy?: boolean, children?: Content,
 *   [attribute: string]: any }} p
 */
export function Button({ kind, busy, children, ...rest }) {
  return html`<button type="button" class=${`button ${kind ?? ""}`} aria-busy=${busy ? "true" : null}
    ...${rest} disabled=${rest.disabled || busy}>${children}</button>`;
}

/** Actions that are rare or take something away, behind a button. @param {{ children?: Content }} p */
export function More({ children }) {
  const [isOpen, setIsOpen] = useState(false);
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const close = () => setIsOpen(false);
  // On the way down: the focus is back on the button before a dialog opens, which gives it back there.
  const choose = () => (close(), frame.current?.querySelector("button")?.focus());
  useEffect(() => {
    const outside = (/** @type {Event} */ event) => frame.current?.contains(/** @type {Node} */ (event.target)) || close();
    for (const name of isOpen ? ["click", "focusin"] : []) document.addEventListener(name, outside);
    return () => ["click", "focusin"].forEach((name) => document.removeEventListener(name, outside));
  }, [isOpen]);
  const press = (/** @type {KeyboardEvent} */ event) => isOpen && event.key === "Escape" && choose();
  return html`<div class="pick" ref=${frame} onKeyDown=${press}>
    <${Button} aria-expanded=${String(isOpen)} onClick=${() => setIsOpen(!isOpen)}>${t.moreActions}</${Button}>
    <div class=${`pick-list menu-list ${isOpen ? "" : "away"}`} onClickCapture=${choose}>${children}</div></div>`;
}

/** @param {{ tone?: "good" | "bad" | "warn" | "info", children?: Content }} p */
export const Badge = ({ tone, children }) => html`<span class=${`badge ${tone ?? ""}`}>${children}</span>`;

/** @type {Record<string, "good" | "bad" | "warn" | "info">} */
const TONES = {
  success: "good", active: "good", approved: "good", completed: "good", succeeded: "good", shared: "good",
  strength: "good",
  create: "good", failed: "bad", dropped: "bad", missed: "bad", failing: "bad", revoked: "bad", reject: "bad",
  expired: "bad", link_over: "bad", off: "bad",
  disabled: "bad", paused: "warn", pending_review: "warn", in_review: "warn", pending_invite: "warn",
  partial: "warn", held: "warn",
  opportunity: "warn", expiring: "warn", deactivate: "warn", in_progress: "info", open: "info",
  running: "info",
  link_open: "info", update: "info",
  test: "info",
};

/** A word of the API with its colour. @param {{ word: string }} p */
export const Status = ({ word }) => html`<${Badge} tone=${TONES[word]}>${t.words[word] ?? words(word)}</${Badge}>`;

/** Marks an observation that its person does not see. @param {{ of: { visibility: string } }} p */
export const Closed = ({ of }) => of.visibility === "managers" && html`<span class="badge closed"><svg viewBox="0 0 16 16" aria-hidden="true">
  <path d="M2 7c2 3 4 4 6 4s4-1 6-4M4 9.7 2.8 11.4M8 11v2M12 9.7l1.2 1.7" /></svg>${t.words.managers}</span>`;

const TICK_MS = 10_000;
/** Ticks, so that a shown distance from now stays true. */
const clock = store(0);
setInterval(() => clock.set(clock.value + 1), TICK_MS);

/** @param {{ at: string | null | undefined, none?: string, exact?: boolean }} p */
export function Time({ at, none = "–", exact }) {
  useStore(clock);
  if (!at) return html`<span class="muted">${none}</span>`;
  return html`<time datetime=${at} title=${`${time(at)} · ${utc(at)}`}>${exact ? time(at) : relative(at)}</time>`;
}

/** @param {{ value: string, label?: string }} p */
export function Copy({ value, label }) {
  const copy = async () => {
    await navigator.clipboard.writeText(value).then(() => toast(t.copied), () => toast(t.notCopied, "bad"));
  };
  return html`<button type="button" class="copy" onClick=${copy} aria-label=${`${t.copy} ${label ?? value}`}
    title=${t.copy}>
    <svg viewBox="0 0 16 16" aria-hidden="true"><rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/>
      <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2"/></svg>
  </button>`;
}

/** @param {{ value: string | null | undefined, to?: string }} p */
export function Id({ value, to }) {
  if (!value) return html`<span class="muted">–</span>`;
  return html`<span class="id">${to ? html`<a href=${to}><code>${value}</code></a>` : html`<code>${value}</code>`}
    <${Copy} value=${value} /></span>`;
}

/** The wait that the service asked for, or a request without an answer yet. Both can be canceled. */
export function Waiting() {
  const wait = useStore(waiting);
  const open = useStore(slow);
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = wait && setInterval(() => tick((count) => count + 1), 500);
    return () => void (timer && clearInterval(timer));
  }, [wait]);
  if (!wait && open.length === 0) return null;
  const seconds = wait ? Math.max(1, Math.ceil((wait.until - Date.now()) / 1000)) : 0;
  const cancel = () => (wait?.cancel(), open.forEach((one) => one.cancel()));
  return html`<div class="waiting"><span role="status">${wait ? t.waiting(wait.status, seconds) : t.unanswered}</span>
    <${Button} onClick=${cancel}>${t.cancelRequest}</${Button}></div>`;
}

/** The reason of a failure in one sentence, without the marks of a text for programs. @param {any} error */
export function reasonOf({ code, message, details }) {
  const state = details?.find((/** @type {any} */ one) => one.attempted_transition && typeof one.current === "string")?.current;
  const first = details?.find((/** @type {any} */ one) => one.field && one.message)?.message;
  return state ? t.inState(t.words[state] ?? words(state)) : t.problemTexts[code] ?? (first ?? message ?? "").replace(/ See `details`\.$/, "").replaceAll("`", "");
}

/** @param {{ error: ApiError, retry?: () => void }} p */
export function Problem({ error, retry }) {
  const scope = error.missingScope;
  const level = error.details.find((detail) => detail.required_access_level);
  const title = t.problems[error.code] ?? t.problems.other(error.status);
  const fields = error.details.filter((detail) => detail.field && detail.message);
  // The sentence of the API is for programs: it names a member of the answer.
  const isListed = error.message.endsWith(" See `details`.") && fields.length > 0;
  const text = scope ? t.missingScope(scope) : level ? t.missingLevel : isListed ? t.problemTexts[error.code] ?? t.listed : reasonOf(error);
  return html`<div class="problem" role="alert">
    <strong>${title}</strong>
    <p>${text}</p>
    ${fields.length > 0 &&
      html`<ul>${fields.map((one) => html`<li><span title=${one.field}>${fieldName(one.field ?? "")}</span>: ${one.message}</li>`)}</ul>`}
    <div class="problem-foot">
      ${retry && error.status !== 403 && html`<${Button} onClick=${retry}>${t.tryAgain}</${Button}>`}
      ${error.requestId && html`<span class="muted">${t.requestId} <${Id} value=${error.requestId} /></span>`}
    </div>
  </div>`;
}

/** @param {{ title: string, text?: Content, children?: Content }} p */
export const Empty = ({ title, text, children }) => html`<div class="empty">
  <svg viewBox="0 0 48 48" aria-hidden="true"><path d="M8 28 14 12h20l6 16v10H8zM8 28h9l3 5h8l3-5h9"/></svg>
  <h2>${title}</h2>${text && html`<p>${text}</p>`}${children}
</div>`;

/** @param {{ rows?: number }} p */
export const Skeleton = ({ rows = 6 }) => html`<div class="skeleton" role="status" aria-label=${t.loading}>
  ${Array.from({ length: rows }, (_, at) => html`<div key=${at}></div>`)}
</div>`;

/**
 * Shows a read: its skeleton, its error, or its data.
 * @param {{ of: { data?: any, rows?: any, error: ApiError | null, isLoading: boolean, reload: () => void,
 *   hasMore?: boolean, isMore?: boolean, more?: () => void }, empty?: Content, rows?: number, children: any }} p
 */
export function Shown({ of, empty, rows, children }) {
  const value = "rows" in of ? of.rows : of.data;
  if (value === null || value === undefined) {
    return of.error ? html`<${Problem} error=${of.error} retry=${of.reload} />`
      : html`<${Skeleton} rows=${rows} />`;
  }
  if (empty && Array.isArray(value) && value.length === 0 && !of.hasMore) return empty;
  return html`<div class=${of.isLoading ? "stale" : ""}>
    ${children(value)}
    ${of.error && html`<${Problem} error=${of.error} retry=${of.reload} />`}
    ${of.hasMore &&
      html`<div class="more"><${Button} busy=${of.isMore} onClick=${of.more}>${t.more}</${Button}></div>`}
  </div>`;
}

/** A value, or a grey dash in place of one that is missing. @param {Content} value */
const orNone = (value) => value === "–" ? html`<span class="muted">–</span>` : value;

/**
 * @typedef {{ name: string, label: Content, cell: (row: any) => Content, isNumber?: boolean, isMain?: boolean,
 *   isWide?: boolean, isBox?: boolean, isLine?: boolean }} Column `isLine` cuts a text at the edge of its column
 */

/** @param {{ caption: string, columns: Column[], rows: any[], keyOf?: (row: any) => string, isFlow?: boolean }} p `isFlow` needs no names of columns on a narrow screen */
export function Table({ caption, columns, rows, keyOf = (row) => row.id, isFlow }) {
  const kind = (/** @type {Column} */ column) =>
    [column.isNumber && "number", column.isMain && "main", column.isWide && "wide", column.isBox && "box", column.isLine && "line"].filter(Boolean).join(" ");
  return html`<div class="table-frame"><table class=${isFlow ? "flow" : null}>
    <caption class="hidden">${caption}</caption>
    <thead>
      <tr>${columns.map((column) => html`<th scope="col" class=${kind(column)}>${column.label}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${keyOf(row)}>${columns.map((column) => html`
      <td class=${kind(column)} data-label=${column.isBox ? null : column.label}>${orNone(column.cell(row))}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

const isId = (/** @type {Content} */ value) => Number(value?.type === Id);

/** Facts with their names; ids stand at the end. @param {{ entries: [string, Content][], isWide?: boolean }} p `isWide` gives each entry a line */
export const Facts = ({ entries, isWide }) => html`<dl class=${`facts ${isWide ? "wide" : ""}`}>
  ${[...entries].sort(([, one], [, other]) => isId(one) - isId(other)).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${orNone(value)}</dd></div>`)}
</dl>`;

/** @param {{ title: string, actions?: Content, children?: Content }} p */
export const Card = ({ title, actions, children }) => html`<section class="card" aria-label=${title}>
  <header><h2>${title}</h2>${actions && html`<div class="actions">${actions}</div>`}</header>${children}
</section>`;

/** @param {{ label: string, value: Content, note?: Content, tone?: "good" | "bad" | "warn", to?: string }} p */
export const Figure = ({ label, value, note, tone, to }) => html`<div class=${`figure ${tone ?? ""}`}>
  <span class="figure-label">${to ? html`<a href=${to}>${label}</a>` : label}</span>
  <strong>${value}</strong>${note && html`<span class="muted">${note}</span>`}
</div>`;

/**
 * Views of one screen, chosen by the parameter `name` of the address.
 * @param {{ label: string, name?: string, tabs: [string, string][] }} p
 */
export function Tabs({ label, name = "view", tabs }) {
  const { path, query } = useRoute();
  const current = query[name] ?? tabs[0]?.[0];
  const bar = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const chosen = /** @type {HTMLElement | null} */ (bar.current?.querySelector("[aria-current]") ?? null);
    // On a narrow screen, the chosen tab can be beyond the edge.
    if (chosen) bar.current?.scrollTo({ left: chosen.offsetLeft + chosen.offsetWidth - bar.current.clientWidth });
  }, [current]);
  return html`<nav class="tabs" aria-label=${label} ref=${bar}>${tabs.map(([word, text], at) => html`
    <a key=${word} href=${href(path, at === 0 ? {} : { [name]: word })}
      aria-current=${word === current ? "page" : null}>${text}</a>`)}</nav>`;
}

/** @param {{ label: string, hint?: Content, error?: string, children: any, wide?: boolean }} p */
export function Field({ label, hint, error, children, wide }) {
  return html`<label class=${`field ${wide ? "wide" : ""} ${error ? "wrong" : ""}`}>
    <span class="field-label">${label}</span>${children}
    ${hint && html`<span class="hint">${hint}</span>`}${error && html`<span class="field-error">${error}</span>`}
  </label>`;
}

/** Message of a field in a failed write. @param {ApiError | null} error @param {string} field */
export const fieldError = (error, field) =>
  error?.details.find((detail) => detail.field === field || detail.field?.startsWith(`${field}.`) || detail.field?.startsWith(`${field}[`))?.message;

/**
 * @typedef {{ name: string, label: string, options?: [string, string][], type?: string, first?: string, hint?: string,
 *   part?: any, isMore?: boolean, isOff?: boolean }} Filter a filter has options [[word, text]], a component of its own, or is free text or a
 *   date. `first` names what the list shows without the filter, if that is not everything; `isMore` shows it on demand, and `isOff` if it does not apply
 */

/**
 * Fields bound to the query, which keep their place: the ones that matter most and those that are set, and the rest behind a button. A
 * phone shows the first one, and the others behind their number. Tools of the list stand at the end.
 * @param {{ filters: Filter[], children?: Content }} p
 */
export function Filters({ filters, children }) {
  const { query } = useRoute();
  const [isOpen, setIsOpen] = useState(false);
  const names = Object.keys(Object.fromEntries(filters.map(({ name }) => [name, null])));
  const set = names.filter((name) => query[name]);
  const hasMore = filters.some((filter) => filter.isMore);
  const clear = () => setQuery(Object.fromEntries(names.map((name) => [name, null])));
  return html`<div class=${`filters ${isOpen ? "is-open" : ""}`} role="search" aria-label=${t.filters}>
    <div class="filter-fields">${filters.filter((filter) => !filter.isMore || isOpen || query[filter.name])
      .map((filter) => html`<${OneFilter} key=${filter.name + filter.label} filter=${filter} />`)}</div>
    ${(children || filters.length > 1) && html`<div class="actions">
      ${filters.length > 1 && html`<${Button} kind="quiet icon" aria-label=${t.clear} title=${t.clear} disabled=${set.length === 0} onClick=${clear}>✕</${Button}>
        <${Button} kind=${`quiet ${hasMore ? "" : "narrow"}`} aria-expanded=${String(isOpen)} onClick=${() => setIsOpen(!isOpen)}>
          <span class="desk">${isOpen ? t.fewerFilters : t.moreFilters}</span><span class="narrow">${t.filtersSet(set.length)}</span></${Button}>`}
      ${children}</div>`}
  </div>`;
}

/** @param {{ filter: Filter }} p */
function OneFilter({ filter }) {
  const { query } = useRoute();
  const { name, label, isOff } = filter;
  const value = query[name] ?? "";
  if (filter.part) return html`<${filter.part} name=${name} label=${label} isOff=${isOff} />`;
  return html`<${Field} label=${label}>${filter.options
    ? html`<select value=${value} disabled=${isOff} onChange=${(/** @type {any} */ event) => setQuery({ [name]: event.target.value })}>
        <option value="">${filter.first ?? t.any}</option>
        ${filter.options.map(([word, text]) => html`<option value=${word}>${text}</option>`)}</select>`
    : html`<${Typed} filter=${filter} value=${value} />`}</${Field}>`;
}

const TYPING_MS = 350;

/** @param {{ filter: { name: string, type?: string, hint?: string }, value: string }} p */
function Typed({ filter, value }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => setQuery({ [filter.name]: text.trim() }, filter.name), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<input type=${filter.type ?? "search"} value=${text} placeholder=${filter.hint} autocomplete="off"
    onInput=${(/** @type {any} */ event) => setText(event.target.value)} />`;
}

/** A text that people wrote, with its line ends. @param {{ children?: Content }} p */
export const Prose = ({ children }) => html`<p class="prose" dir="auto">${children}</p>`;
