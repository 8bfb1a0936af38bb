// Dialogs: the native element keeps the focus inside and gives it back; Escape closes.
//
//   html`<${Dialog} title=… onClose=${close} foot=${html`<${Button} …/>`}>…</${Dialog}>`
//   html`<${Confirm} title=… text=… action=… onClose=${close} work=${async () => …} />`
//   html`<${Secret} title=… text=… value=${secret} onClose=${close} />`

import { t } from "../texts.js";
import { useAction } from "./data.js";
import { Button, Copy, Problem, Waiting } from "./ui.js";
import { html, useLayoutEffect, useRef, useState } from "./view.js";

/** @typedef {any} Content */

/** Fields of a form, in which typing begins. */
const FIELDS = ".dialog-content :is(input:not([type=checkbox], [type=radio]), select, textarea)";

/**
 * A dialog. It opens on its first field, or on Cancel, and gives the focus back. Escape, ✕ and a click beside it ask before
 * they lose what was typed, or a secret.
 * @param {{ title: string, onClose: () => void, foot?: Content, drawer?: boolean, isFleeting?: boolean, isTyped?: boolean, loses?: string, children?: Content }} p
 *   `isFleeting` closes without a question, whatever was typed; `isTyped` asks from the beginning; `loses` asks whether to close a dialog in which nothing was typed
 */
export function Dialog({ title, onClose, foot, drawer, isFleeting, isTyped: isTypedBefore = false, loses, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const isTyped = useRef(isTypedBefore);
  const [isAsking, setIsAsking] = useState(false);
  useLayoutEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    const open = element.current;
    open?.showModal();
    const first = /** @type {HTMLElement | null | undefined} */ (open?.querySelector(FIELDS) ?? open?.querySelector("footer button"));
    first?.focus();
    return () => {
      // While it is open, the page behind it takes no focus.
      open?.close();
      const heading = /** @type {HTMLElement | null} */ (document.querySelector("main h1"));
      (before?.isConnected && before !== document.body ? before : heading)?.focus({ preventScroll: true });
    };
  }, []);
  const leave = () => (loses || isTyped.current ? setIsAsking(true) : onClose());
  const cancel = (/** @type {Event} */ event) => (event.preventDefault(), leave());
  // Browsers close a dialog at the second Escape without asking, unless the key is handled.
  const press = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && !event.defaultPrevented && cancel(event);
  const outside = (/** @type {MouseEvent} */ event) => event.target === element.current && leave();
  const type = () => void (isTyped.current = !isFleeting);
  const question = html`<span class="grow" role="alert">${loses ?? t.typedLoses}</span>
    <${Button} onClick=${() => setIsAsking(false)}>${t.goOn}</${Button}>
    <${Button} kind="danger" onClick=${onClose}>${loses ? t.closeNow : t.discard}</${Button}>`;
  return html`<dialog ref=${element} class=${drawer ? "drawer" : ""} aria-label=${title} onCancel=${cancel}
    onKeyDown=${press} onMouseDown=${outside} onInput=${type}>
    <div class="dialog-body">
      <header><h2>${title}</h2>
        <${Button} kind="quiet icon" aria-label=${t.close} onClick=${leave}>✕</${Button}></header>
      <div class="dialog-content"><${Waiting} />${children}</div>
      ${(foot || isAsking) && html`<footer>${isAsking ? question : foot}</footer>`}
    </div>
  </dialog>`;
}

/**
 * @param {{ title: string, text?: Content, action: string, kind?: "primary" | "danger", onClose: () => void,
 *   work: () => Promise<unknown>, isReady?: boolean, children?: Content }} p
 */
export function Confirm({ title, text, action, kind = "primary", onClose, work, isReady = true, children }) {
  const { run, isBusy, error } = useAction(work);
  const confirm = async () => (await run()) && onClose();
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind=${kind} busy=${isBusy} disabled=${!isReady} onClick=${confirm}>${action}</${Button}>`;
  return html`<${Dialog} title=${title} onClose=${onClose} foot=${foot}>
    ${text && html`<p>${text}</p>`}${children}${error && html`<${Problem} error=${error} />`}
  </${Dialog}>`;
}

/**
 * A secret that the service shows once.
 * @param {{ title: string, text: string, value: string, onClose: () => void }} p
 */
export function Secret({ title, text, value, onClose }) {
  const foot = html`<${Button} kind="primary" onClick=${onClose}>${t.stored}</${Button}>`;
  return html`<${Dialog} title=${title} onClose=${onClose} foot=${foot} loses=${t.secretLoses}>
    <p>${text}</p><div class="secret"><code>${value}</code><${Copy} value=${value} label=${title} /></div>
  </${Dialog}>`;
}
