// Short messages at the edge of the screen, which belong to the view that they were made on.

import { t } from "../texts.js";
import { route, useRoute } from "./router.js";
import { html, store, useStore } from "./view.js";

const SHOWN_MS = 6000;
/** A message with a way back stays longer, so that it can be read and reached with the keyboard. */
const UNDO_MS = 20_000;
/** Messages at a time: the newest ones. */
const MOST_SHOWN = 3;
let lastId = 0;

/** @typedef {{ id: number, view: string, text: string, tone: string, undo?: () => Promise<unknown> }} Toast */

const toasts = store(/** @type {Toast[]} */ ([]));
const drop = (/** @type {number} */ id) => toasts.set(toasts.value.filter((one) => one.id !== id));

/** @param {import("./router.js").Route} of */
const viewOf = ({ path, query }) => `${path} ${query["view"] ?? ""}`;

/** @param {string} text @param {"good" | "bad"} [tone] @param {() => Promise<unknown>} [undo] takes the change back */
export function toast(text, tone = "good", undo) {
  const id = ++lastId;
  toasts.set([...toasts.value, { id, view: viewOf(route.value), text, tone, undo }].slice(-MOST_SHOWN));
  setTimeout(() => drop(id), undo ? UNDO_MS : SHOWN_MS);
}

/** Drops all messages: what they take back belongs to the session before. */
export const forgetToasts = () => toasts.set([]);

/** Takes a change back, once. @param {Toast} one */
function takeBack({ id, undo }) {
  drop(id);
  undo?.().then(() => toast(t.undone), () => toast(t.notUndone, "bad"));
}

export function Toasts() {
  const view = viewOf(useRoute());
  // A message with a way back goes along.
  return html`<div class="toasts" role="status">${useStore(toasts).filter((one) => one.undo || one.view === view).map((one) => html`
    <div key=${one.id} class=${`toast ${one.tone}`}><span>${one.text}</span>
      ${one.undo && html`<button type="button" onClick=${() => takeBack(one)}>${t.undo}</button>`}</div>`)}</div>`;
}
