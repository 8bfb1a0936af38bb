// The frame of the console: navigation, the screen of the address, and the entrance.

import { CommandLineEntrance, Entrance } from "./entrance.js";
import { ApiError, log } from "./lib/api.js";
import { asApiError } from "./lib/data.js";
import { forgetKept } from "./lib/kept.js";
import { language, LANGUAGES, setLanguage } from "./lib/language.js";
import { unreadCount } from "./lib/notices.js";
import { forgetPeople } from "./lib/people.js";
import { href, isAt, useRoute } from "./lib/router.js";
import { can, commandLine, ended, enter, isAdmin, isBound, isOperator, isSession, offered, session, sight, signOut } from "./lib/session.js";
import { DENSITIES, density, setDensity, setTheme, theme, THEMES } from "./lib/theme.js";
import { forgetToasts, toast, Toasts } from "./lib/toast.js";
import { Badge, Button, Empty, Field, isDrawerOpen, Problem, Skeleton, Waiting } from "./lib/ui.js";
import { Confirm, Dialog } from "./lib/dialog.js";
import { html, useEffect, useLayoutEffect, useRef, useState, useStore } from "./lib/view.js";
import { t } from "./texts.js";

/**
 * A screen, and who may open it: a key with one of the scopes that is of the given kind.
 * @typedef {{ path: string, name: string, icon: string, load: () => Promise<any>, scopes: string[],
 *   kind?: "operator" | "organization" | "admin" | "unbound" | "bound", isRare?: boolean, isApart?: boolean }} Screen `isRare` keeps it out of the bar
 *   of a phone; `isApart` begins a group
 */

/** All screens, in the order of the navigation. @type {Screen[]} */
const SCREENS = [
  { path: "/", name: "today", icon: "M3 9.5 10 4l7 5.5V17H3z", load: () => import("./screens/today.js"), scopes: [] },
  { path: "/me", name: "me", icon: "M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM5 16h10M3 2h14v16H3z", load: () => import("./screens/me.js"),
    scopes: ["observations:read", "objectives:read", "assignments:read", "summaries:read", "conversations:read"], kind: "bound" },
  { path: "/team", name: "team", icon: "M7 9a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM13.5 9.5a2 2 0 1 0 0-4M2 16c0-3 2-4.5 5-4.5s5 1.5 5 4.5zM14 12c2.5 0 4 1.5 4 4",
    load: () => import("./screens/team.js"), scopes: ["employees:read"], kind: "bound" },
  { path: "/people", name: "people", icon: "M10 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17c0-3 2.5-5 6-5s6 2 6 5z",
    load: () => import("./screens/people.js"), scopes: ["employees:read"] },
  { path: "/feedback", name: "feedback", icon: "M4 4h12v12H4zM7 8h6M7 11h4",
    load: () => import("./screens/feedback.js"),
    scopes: ["observations:read", "objectives:read", "summaries:read", "conversations:read", "assignments:read"] },
  { path: "/import", name: "import", icon: "M10 3v9m-4-4 4 4 4-4M4 16h12",
    load: () => import("./screens/import.js"), scopes: ["employees:write"], isRare: true, isApart: true },
  { path: "/organization", name: "organization", icon: "M3 17V6l7-3 7 3v11zM7 9h1M12 9h1M7 12h1M12 12h1M9 17v-3h2v3",
    load: () => import("./screens/organization.js"), scopes: ["settings:read", "employees:read", "observations:read"], kind: "admin", isRare: true },
  { path: "/webhooks", name: "webhooks", icon: "M4 5h12v8H9l-4 3v-3H4z",
    load: () => import("./screens/webhooks.js"), scopes: ["webhooks:read"], isApart: true },
  { path: "/events", name: "events", icon: "M3 11h3l2-6 3 11 2.5-7H17", load: () => import("./screens/events.js"),
    scopes: ["events:read"] },
  { path: "/keys", name: "keys", icon: "M12.5 11a4 4 0 1 0-3.7-2.5L3 14.5V17h3v-2h2v-2h1.5z",
    load: () => import("./screens/keys.js"), scopes: ["settings:read"], kind: "operator", isApart: true },
  { path: "/audit", name: "audit", icon: "M5 3h10v14H5zM8 7h4M8 10h4M8 13h2",
    load: () => import("./screens/audit.js"), scopes: ["audit:read"], kind: "unbound" },
  { path: "/connectors", name: "connectors", icon: "M7 3v4M13 3v4M5 7h10v3a5 5 0 0 1-10 0zM10 15v3",
    load: () => import("./screens/connectors.js"), scopes: ["settings:read"], kind: "operator" },
  { path: "/settings/sign-in", name: "signIn", icon: "M9 4h7v12H9M3 10h9m-3-3 3 3-3 3",
    load: () => import("./screens/sign_in.js"), scopes: ["settings:read"], kind: "organization" },
];

const hasScope = (/** @type {Screen} */ { scopes }) => scopes.length === 0 || scopes.some(can);
const isOfKind = (/** @type {Screen} */ { kind }) => (kind === "operator" ? isOperator()
  : kind === "organization" ? isOperator() && !isBound()
  : kind === "admin" ? isAdmin() : kind === "bound" ? isBound() : kind !== "unbound" || !isBound());
/** Entries of the bar at the bottom of a narrow screen; the others are behind "More". */
const MOST_IN_BAR = 4;

const isCurrent = (/** @type {Screen} */ screen) => {
  const { path } = screen;
  return path === "/" ? isAt("/") && document.location.pathname.replace(/\/$/, "") === href("/").replace(/\/$/, "")
    : isAt(path);
};

/** @param {{ screen: Screen, onClick?: () => void }} p */
function NavLink({ screen, onClick }) {
  const unread = useStore(unreadCount);
  const hasNumber = screen.name === "me" && unread && unread.count > 0;
  return html`<a href=${href(screen.path)} class=${screen.isApart ? "apart" : null} aria-current=${isCurrent(screen) ? "page" : null} onClick=${onClick}
    title=${hasNumber ? t.work.unread(unread.count, unread.isCut) : null}><svg viewBox="0 0 20 20" aria-hidden="true"><path d=${screen.icon} /></svg>
    <span>${t.screens[screen.name]}</span>${hasNumber && html`<span class="badge info" aria-hidden="true">${unread.count}${unread.isCut && "+"}</span>`}</a>`;
}

/** @param {{ label: string, value: string, options: [string, string][], onChange: (word: any) => void }} p */
const Choice = ({ label, value, options, onChange }) => html`<${Field} label=${label}>
  <select value=${value} onChange=${(/** @type {any} */ event) => onChange(event.target.value)}>
    ${options.map(([word, text]) => html`<option value=${word}>${text}</option>`)}</select></${Field}>`;

/** Settings of the looks of the console in this browser. @param {{ onClose: () => void }} p */
function Display({ onClose }) {
  const foot = html`<${Button} kind="primary" onClick=${onClose}>${t.close}</${Button}>`;
  return html`<${Dialog} title=${t.display} onClose=${onClose} foot=${foot} isFleeting><div class="form">
    <${Choice} label=${t.theme} value=${useStore(theme)} options=${THEMES.map((one) => [one, t.themes[one]])} onChange=${setTheme} />
    <${Choice} label=${t.density} value=${useStore(density)} options=${DENSITIES.map((one) => [one, t.densities[one]])} onChange=${setDensity} />
    <${Choice} label=${t.chooseLanguage} value=${language} options=${Object.entries(LANGUAGES).map(([tag, { name }]) => [tag, name])}
      onChange=${setLanguage} /></div></${Dialog}>`;
}

function Account() {
  const [isDisplay, setIsDisplay] = useState(false);
  const me = useStore(session)?.me;
  if (!me) return null;
  return html`<div class="account"><div class="account-organization">${me.organization_name}</div>
    <div class="account-name"><strong dir="auto">${me.employee_name ?? me.name}</strong>
      <${Badge} tone=${me.environment === "test" ? "warn" : "info"}>
        ${t.environments[me.environment] ?? me.environment}</${Badge}></div>
    <div class="account-row"><${Button} kind="quiet" onClick=${() => setIsDisplay(true)}>${t.display}</${Button}>
      <${Button} kind="quiet" onClick=${signOut}>${t.signOut}</${Button}></div>
    ${isDisplay && html`<${Display} onClose=${() => setIsDisplay(false)} />`}</div>`;
}

/** A module that does not load: the service is away, or an upgrade has replaced it. @param {unknown} error */
const notLoaded = (error) => error instanceof TypeError ? new ApiError(0, { code: "screen_not_loaded" }) : asApiError(error);

/** @param {{ screen: Screen }} p */
function Loaded({ screen }) {
  const [turn, setTurn] = useState(0);
  const [state, setState] =
    useState(/** @type {{ of: string, view: any, error: any }} */ ({ of: "", view: null, error: null }));
  useEffect(() => {
    let isWanted = true;
    const done = (/** @type {any} */ view, /** @type {any} */ error) => isWanted &&
      setState({ of: screen.name, view, error });
    setState({ of: "", view: null, error: null });
    screen.load().then((module) => done(module.default, null), (error) => done(null, notLoaded(error)));
    return () => void (isWanted = false);
  }, [screen.name, turn]);
  if (state.of !== screen.name) return html`<div class="page"><${Skeleton} /></div>`;
  if (!state.error) return html`<${state.view} />`;
  return html`<div class="page"><${Problem} error=${state.error} retry=${() => setTurn(turn + 1)} />
    <div class="actions"><${Button} onClick=${() => location.reload()}>${t.reload}</${Button}></div></div>`;
}

/** An address without a view, or with one that is closed to this key. @param {{ screen?: Screen }} p */
function NotHere({ screen }) {
  const text = !screen ? t.notHereText : !hasScope(screen) ? t.missingScope(screen.scopes.join(t.or))
    : t.missingKind[screen.kind ?? ""];
  return html`<div class="page"><h1 tabindex="-1">${screen ? t.screens[screen.name] : t.notHere}</h1>
    <${Empty} title=${screen ? t.closedTitle : t.notHereTitle} text=${text}>
      <a class="button" href=${href("/")}>${t.screens.today}</a></${Empty}></div>`;
}

/** A part whose module is read when it is shown first. @param {{ load: () => Promise<any>, onClose: () => void, [property: string]: any }} p */
function Part({ load, onClose, ...rest }) {
  const [view, setView] = useState(/** @type {{ of: any } | null} */ (null));
  const fail = (/** @type {unknown} */ error) => (onClose(), toast(t.problemTexts[notLoaded(error).code] ?? t.problems.other(0), "bad"));
  useEffect(() => void load().then((module) => setView({ of: module.default }), fail), []);
  return view && html`<${view.of} onClose=${onClose} ...${rest} />`;
}
const loadPalette = () => import("./screens/palette.js");
const loadDrawer = () => import("./lib/request_drawer.js");

/** Opens the search for Ctrl-K or ⌘K. @param {() => void} show */
function useSearchKey(show) {
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      const isFind = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
      if (!isFind) return;
      event.preventDefault();
      // A dialog keeps the keyboard: what is typed in it would be lost behind another one.
      if (!document.querySelector("dialog[open]")) show();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

/** @param {{ onClick: () => void }} p */
const SearchButton = ({ onClick }) => html`<button type="button" class="find" aria-keyshortcuts="Control+K Meta+K" onClick=${onClick}>
  <svg viewBox="0 0 20 20" aria-hidden="true"><path d="M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5 17 17" /></svg><span>${t.search}</span>
  <kbd aria-hidden="true">${/Mac|iPhone|iPad/.test(navigator.platform) ? "⌘K" : t.controlKey}</kbd></button>`;

function Shell() {
  const { path } = useRoute();
  const [isMenu, setIsMenu] = useState(false);
  const isDrawer = useStore(isDrawerOpen);
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const open = SCREENS.filter((screen) => hasScope(screen) && isOfKind(screen));
  const screen = open.find(isCurrent);
  const inBar = open.filter((one) => !one.isRare).slice(0, MOST_IN_BAR);
  const [isSearch, setIsSearch] = useState(false);
  const search = () => setIsSearch(true);
  useSearchKey(search);
  useLayoutEffect(() => log.set([]), [path]);
  const skip = (/** @type {Event} */ event) =>
    (event.preventDefault(), main.current?.querySelector("h1")?.focus());
  return html`<div class="shell">
    <a class="skip" href="#main" onClick=${skip}>${t.skip}</a>
    <aside class="side">
      <a class="brand" href=${href("/")}>
        <svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="7" /></svg>Candor</a>
      <${SearchButton} onClick=${search} />
      <nav aria-label=${t.navigation}>
        ${open.map((one) => html`<${NavLink} key=${one.name} screen=${one} />`)}</nav>
      <${Account} />
    </aside>
    <main id="main" ref=${main}>
      <${Waiting} />
      ${screen
        ? html`<${Loaded} key=${path} screen=${screen} />`
        : html`<${NotHere} screen=${SCREENS.find(isCurrent)} />`}
    </main>
    <nav class="bar" aria-label=${t.navigation}>
      ${inBar.map((one) => html`<${NavLink} key=${one.name} screen=${one} />`)}
      <button type="button" onClick=${() => setIsMenu(true)}>
        <svg viewBox="0 0 20 20" aria-hidden="true"><path d="M4 6h12M4 10h12M4 14h12" /></svg>
        <span>${t.moreScreens}</span></button>
    </nav>
    ${isMenu && html`<${Dialog} title=${t.moreScreens} onClose=${() => setIsMenu(false)}>
      <${SearchButton} onClick=${() => (setIsMenu(false), search())} />
      <nav class="menu" aria-label=${t.moreScreens}>${open.filter((one) => !inBar.includes(one)).map((one) => html`
        <${NavLink} key=${one.name} screen=${one} onClick=${() => setIsMenu(false)} />`)}</nav>
      <${Account} /></${Dialog}>`}
    ${isSearch && html`<${Part} load=${loadPalette} screens=${open} onClose=${() => setIsSearch(false)} />`}
    ${isDrawer && html`<${Part} load=${loadDrawer} onClose=${() => isDrawerOpen.set(false)} />`}
  </div>`;
}

/** Asks whether a link may open a session, and replace the one that is there. */
function Offer() {
  const linked = useStore(offered);
  const current = useStore(session);
  if (!linked) return null;
  const text = !current ? t.offer.first(linked.me)
    : isSession(linked.me) ? t.offer.session(linked.me, current.me) : t.offer.text(linked.me, current.me);
  return html`<${Confirm} title=${t.offer.title(linked.me.organization_name)} text=${text} action=${t.offer.open} onClose=${() => offered.set(null)}
    work=${async () => enter(linked, true)} />`;
}

/** @param {{ reason: import("./lib/api.js").ApiError | null }} p */
export function App({ reason }) {
  const current = useStore(session);
  const end = useStore(ended);
  const seen = useStore(sight);
  const owner = current ? `sight ${seen}` : "";
  useLayoutEffect(() => (forgetPeople(), forgetKept(), forgetToasts(), unreadCount.set(null)), [owner]);
  const isShut = !current || end === "refused";
  const waiting = useStore(commandLine);
  if (waiting) return html`<${CommandLineEntrance} waiting=${waiting} />`;
  return html`${current && html`<${Shell} key=${owner} />`}
    ${isShut && html`<${Entrance} reason=${reason} isOver=${Boolean(current)} />`}<${Offer} /><${Toasts} />`;
}
