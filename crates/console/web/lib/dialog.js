// Dialogs: the native element keeps the focus inside and gives it back; Escape closes.
//
//   html`<${Dialog} title=… onClose=${close} foot=${html`<${Button} …/>`}>…</${Dialog}>`
//   html`<${Confirm} title=… text=… action=… onClose=${close} work=${async () => …} />`
//   html`<${Secret} title=… text=… value=${secret} onClose=${close} />`

import { t } from "../texts.js";
import { useAction } from "./data.js";
import { Button, Copy, Problem, Waiting } from "./ui.js";
import { html, useLayoutEffect, useRef } from "./view.js";

/** @typedef {any} Content */

/** @param {{ title: string, onClose: () => void, foot?: Content, drawer?: boolean, children?: Content }} p */
export function Dialog({ title, onClose, foot, drawer, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    element.current?.showModal();
    return () => before?.isConnected && before.focus();
  }, []);
  const cancel = (/** @type {Event} */ event) => (event.preventDefault(), onClose());
  const outside = (/** @type {MouseEvent} */ event) => event.target === element.current && onClose();
  return html`<dialog ref=${element} class=${drawer ? "drawer" : ""} aria-label=${title} onCancel=${cancel}
    onMouseDown=${outside}>
    <div class="dialog-body">
      <header><h2>${title}</h2>
        <${Button} kind="quiet icon" aria-label=${t.close} onClick=${onClose}>✕</${Button}></header>
      <div class="dialog-content"><${Waiting} />${children}</div>
      ${foot && html`<footer>${foot}</footer>`}
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
  return html`<${Dialog} title=${title} onClose=${onClose} foot=${foot}>
    <p>${text}</p><div class="secret"><code>${value}</code><${Copy} value=${value} label=${title} /></div>
  </${Dialog}>`;
}
