// Short messages at the edge of the screen.

import { html, store, useStore } from "./view.js";

const SHOWN_MS = 6000;
let lastId = 0;

/** @type {import("./view.js").Store<{ id: number, text: string, tone: string }[]>} */
const toasts = store(/** @type {{ id: number, text: string, tone: string }[]} */ ([]));

/** @param {string} text @param {"good" | "bad"} [tone] */
export function toast(text, tone = "good") {
  const id = ++lastId;
  toasts.set([...toasts.value, { id, text, tone }]);
  setTimeout(() => toasts.set(toasts.value.filter((one) => one.id !== id)), SHOWN_MS);
}

export function Toasts() {
  return html`<div class="toasts" role="status">${useStore(toasts).map((one) => html`
    <div key=${one.id} class=${`toast ${one.tone}`}>${one.text}</div>`)}</div>`;
}
