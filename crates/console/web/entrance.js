// The entrance: a person signs in with a work address, or a key is pasted. Over a screen whose session was refused, it
// keeps that screen with its texts.

import { useAction } from "./lib/data.js";
import { BASE } from "./lib/router.js";
import { beginSignIn, linkProblem, signIn } from "./lib/session.js";
import { Field, Problem, Waiting } from "./lib/ui.js";
import { html, useLayoutEffect, useRef, useState, useStore } from "./lib/view.js";
import { t } from "./texts.js";

/** A key without the words of the header that it may be pasted with. @param {string} key */
const bare = (key) => key.trim().replace(/^(authorization:\s*)?bearer\s+/i, "");

const MOST_OF_START = 200;
/** Addresses to which the API leads back (decision B8). */
const START = /^\/(?!\/)[\w/-]*(\?[\w/.~%=&+:,[\]-]*)?$/;

/** The screen of the address, to which a sign-in leads back. */
function startOf() {
  const start = location.pathname.slice(BASE.length) + location.search;
  return START.test(start) && start.length <= MOST_OF_START ? start : "/";
}

const Brand = () => html`<div class="brand">
  <svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="7" /></svg>Candor</div>`;

/**
 * The work address, which leads to the provider of its organization.
 * @param {{ action: string, rest: () => { start?: string, command_line?: import("./lib/session.js").CommandLine },
 *   reason: import("./lib/api.js").ApiError | null }} p
 */
function SignIn({ action, rest, reason }) {
  const [email, setEmail] = useState("");
  const { run, isBusy, error } = useAction(() => beginSignIn(email.trim(), rest()));
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), run());
  const shown = error ?? reason;
  return html`<form class="form" onSubmit=${submit}>
    <${Field} label=${t.entrance.email} hint=${t.entrance.emailHint}>
      <input type="email" name="email" value=${email} autocomplete="email" spellcheck="false" autofocus required
        maxlength="254" onInput=${(/** @type {any} */ event) => setEmail(event.target.value)} /></${Field}>
    ${shown && html`<${Problem} error=${shown} />`}
    <button class="button primary" disabled=${isBusy || !email.trim()}>${action}</button></form>`;
}

function PasteKey() {
  const [key, setKey] = useState("");
  const [isKept, setIsKept] = useState(false);
  const { run, isBusy, error } = useAction(() => signIn(bare(key), isKept));
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), run());
  return html`<form class="form group" onSubmit=${submit}>
    <h2>${t.entrance.or}</h2>
    <${Field} label=${t.entrance.key}>
      <input type="password" name="key" value=${key} autocomplete="off" spellcheck="false" required
        placeholder="cdr_live_…" onInput=${(/** @type {any} */ event) => setKey(event.target.value)} />
    </${Field}>
    <label class="check"><input type="checkbox" checked=${isKept}
      onChange=${(/** @type {any} */ event) => setIsKept(event.target.checked)} />
    <span>${t.entrance.keep}</span></label>
    ${error && html`<${Problem} error=${error} />`}
    <button class="button" disabled=${isBusy || !key.trim()}>${t.entrance.open}</button>
    <p class="muted">${t.entrance.hint} <a href="/docs" target="_blank" rel="noreferrer">${t.entrance.docs}</a></p>
  </form>`;
}

/** @param {{ reason: import("./lib/api.js").ApiError | null, isOver: boolean }} p */
export function Entrance({ reason, isOver }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    if (isOver) dialog.current?.showModal();
    else document.title = "Candor";
  }, [isOver]);
  const pasted = useStore(linkProblem);
  const shown = pasted ?? reason;
  // The provider would replace this page, and what was typed with it. So a sign-in over a screen has a tab of its own.
  const first = isOver ? html`<div class="form">${shown && html`<${Problem} error=${shown} />`}
      <a class="button primary" href=${`${BASE}/`} target="_blank" rel="noopener">${t.entrance.newTab}</a>
      <p class="hint">${t.entrance.newTabText}</p></div>`
    : html`<${SignIn} action=${t.entrance.signIn} rest=${() => ({ start: startOf() })} reason=${shown} />`;
  const content = html`<div class="entrance">
    <${Waiting} /><${Brand} />
    <h1>${isOver ? t.entrance.again : t.entrance.title}</h1>
    <p>${isOver ? t.entrance.againText : t.entrance.text}</p>
    ${first}<${PasteKey} /></div>`;
  if (!isOver) return html`<main class="entrance-page">${content}</main>`;
  return html`<dialog ref=${dialog} class="over" aria-label=${t.entrance.again}
    onCancel=${(/** @type {Event} */ event) => event.preventDefault()}>${content}</dialog>`;
}

/** Bytes of the challenge that the person compares. */
const COMPARED_BYTES = 4;

/** The code that the command line shows, too. @param {string} challenge */
function codeOf(challenge) {
  const bytes = atob(challenge.replaceAll("-", "+").replaceAll("_", "/"));
  const digits = [...bytes].slice(0, COMPARED_BYTES).map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  return `${digits.slice(0, 4)}-${digits.slice(4)}`;
}

/**
 * Asks whether a program on this computer may be signed in. The code shows that the person has started it.
 * @param {{ waiting: import("./lib/session.js").CommandLine }} p
 */
export function CommandLineEntrance({ waiting }) {
  useLayoutEffect(() => void (document.title = "Candor"), []);
  return html`<main class="entrance-page"><div class="entrance">
    <${Waiting} /><${Brand} />
    <h1>${t.commandLine.title}</h1>
    <p>${t.commandLine.text}</p><p>${t.commandLine.compare}</p>
    <div class="secret"><code aria-label=${t.commandLine.code}>${codeOf(waiting.challenge)}</code></div>
    <p>${t.commandLine.wrong}</p>
    <${SignIn} action=${t.commandLine.signIn} rest=${() => ({ command_line: waiting })} reason=${null} />
  </div></main>`;
}
