// The entrance: a key is pasted. Over a screen whose key was refused, it keeps that screen with its texts.

import { useAction } from "./lib/data.js";
import { linkProblem, signIn } from "./lib/session.js";
import { Field, Problem, Waiting } from "./lib/ui.js";
import { html, useLayoutEffect, useRef, useState, useStore } from "./lib/view.js";
import { t } from "./texts.js";

/** A key without the words of the header that it may be pasted with. @param {string} key */
const bare = (key) => key.trim().replace(/^(authorization:\s*)?bearer\s+/i, "");

/** @param {{ reason: import("./lib/api.js").ApiError | null, isOver: boolean }} p */
export function Entrance({ reason, isOver }) {
  const [key, setKey] = useState("");
  const [isKept, setIsKept] = useState(false);
  const { run, isBusy, error } = useAction(() => signIn(bare(key), isKept));
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    if (isOver) dialog.current?.showModal();
    else document.title = "Candor";
  }, [isOver]);
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), run());
  const pasted = useStore(linkProblem);
  const shown = error ?? pasted ?? reason;
  const form = html`<form class="entrance" onSubmit=${submit}>
    <${Waiting} />
    <div class="brand">
      <svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="7" /></svg>Candor</div>
    <h1>${isOver ? t.entrance.again : t.entrance.title}</h1>
    <p>${isOver ? t.entrance.againText : t.entrance.text}</p>
    <${Field} label=${t.entrance.key}>
      <input type="password" name="key" value=${key} autocomplete="off" spellcheck="false" autofocus required
        placeholder="cdr_live_…" onInput=${(/** @type {any} */ event) => setKey(event.target.value)} />
    </${Field}>
    <label class="check"><input type="checkbox" checked=${isKept}
      onChange=${(/** @type {any} */ event) => setIsKept(event.target.checked)} />
    <span>${t.entrance.keep}</span></label>
    ${shown && html`<${Problem} error=${shown} />`}
    <button class="button primary" disabled=${isBusy || !key.trim()}>${t.entrance.open}</button>
    <p class="muted">${t.entrance.hint} <a href="/docs" target="_blank" rel="noreferrer">${t.entrance.docs}</a></p>
  </form>`;
  if (!isOver) return html`<main class="entrance-page">${form}</main>`;
  return html`<dialog ref=${dialog} class="over" aria-label=${t.entrance.again}
    onCancel=${(/** @type {Event} */ event) => event.preventDefault()}>${form}</dialog>`;
}
