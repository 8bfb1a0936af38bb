// Dialogs that write a resource, from a list of their fields.
//
//   html`<${Form} title=… action=… fields=${[{ name: "title", label: …, isRequired: true, most: 200 }, …]}
//     send=${async (values) => request("POST", "/…", { body: filled(values) })} onClose=${close} />`
//
// The names of the fields are those of the API, so its problems appear beside them. An empty text is null. With `of`, the form
// changes a resource: `send` gets what the person has changed and the version that it replaces.

import { t } from "../texts.js";
import { useAction } from "./data.js";
import { Dialog } from "./dialog.js";
import { Chosen, PersonField } from "./people.js";
import { draftOf, dropDraft, keepDraft } from "./drafts.js";
import { route } from "./router.js";
import { can, session } from "./session.js";
import { changed, Stale } from "./stale.js";
import { Button, Field, Problem, fieldError } from "./ui.js";
import { html, useState } from "./view.js";

/**
 * A field. `part` draws another kind of field, with `value`, `onChange` and `error`; `isHalf` puts it beside the next one;
 * `problems` has words for codes of the API.
 * @typedef {{ name: string, label: string, kind?: "area" | "select" | "date" | "email" | "number" | "person" | "people" | "checks",
 *   hint?: any, options?: [string, string][], isRequired?: boolean, most?: number, rows?: number, isHalf?: boolean, part?: any, problems?: Record<string, string> }} FieldOf
 */
/** @typedef {Record<string, any>} Values */

/** Values without the empty ones, for a resource that is created. @param {Values} values @returns {Values} */
export const filled = (values) => Object.fromEntries(Object.entries(values)
  .filter(([, value]) => value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)));

/** @param {FieldOf} field */
const emptyOf = ({ kind, options, isRequired }) => kind === "people" || kind === "checks" ? []
  : kind === "person" ? null : kind === "select" && isRequired ? (options?.[0]?.[0] ?? "") : "";

/** A typed value as the API takes it. @param {FieldOf} field @param {any} value */
const sent = ({ kind }, value) => typeof value !== "string" ? value : value.trim() === "" ? null
  : kind === "number" ? Number(value) : value.trim();

const isEmpty = (/** @type {any} */ value) => value === null || value === undefined || (Array.isArray(value) ? value.length === 0 : String(value).trim() === "");

/**
 * @param {{ title: string, action?: string, text?: any, fields: FieldOf[], first?: Values, onClose: () => void,
 *   of?: { path: string, was: Values, etag: string | null, onReload: () => void }, danger?: boolean, isOpenAfter?: boolean,
 *   send: (values: Values, etag: string | null) => Promise<unknown>, children?: any }} p `first` has the values of the beginning
 */
export function Form({ title, action = t.create, text, fields, first = {}, onClose, of, danger, isOpenAfter, send, children }) {
  // A change of a resource has no draft: the resource may be another one by then.
  const draft = of ? null : `${session.value?.me.key_id} ${route.value.path} ${title}`;
  const [kept] = useState(() => (draft === null ? null : draftOf(draft)));
  const [values, setValues] = useState(() => /** @type {Values} */ (
    Object.fromEntries(fields.map((field) => [field.name, of?.was[field.name] ?? kept?.[field.name] ?? first[field.name] ?? emptyOf(field)]))));
  const close = () => (draft && dropDraft(draft), onClose());
  const [was] = useState(of?.was ?? {});
  const typed = Object.fromEntries(fields.map((field) => [field.name, sent(field, values[field.name])]));
  const mine = of ? changed(typed, was) : typed;
  const { run, isBusy, error } = useAction(async (/** @type {string | null} */ etag) => {
    await send(mine, etag);
    if (draft) dropDraft(draft);
    if (!isOpenAfter) onClose();
  });
  if (of && error?.status === 412) {
    return html`<${Stale} path=${of.path} was=${was} fields=${Object.keys(typed)} mine=${mine} onClose=${onClose} onSave=${run}
      onReload=${of.onReload} />`;
  }
  const [typing, setTyping] = useState(/** @type {Record<string, boolean>} */ ({}));
  const isReady = !Object.values(typing).some(Boolean) && fields.every((field) => !field.isRequired || !isEmpty(values[field.name]));
  const set = (/** @type {string} */ name) => (/** @type {any} */ value) => setValues((before) => {
    const next = { ...before, [name]: value };
    if (draft) keepDraft(draft, next);
    return next;
  });
  const part = (/** @type {FieldOf} */ field) => html`<${Part} key=${field.name} field=${field} value=${values[field.name]}
    onChange=${set(field.name)} onTyping=${(/** @type {boolean} */ isTyping) => setTyping((before) => ({ ...before, [field.name]: isTyping }))}
    error=${field.problems?.[error?.details.find((detail) => detail.field === field.name)?.code ?? ""] ?? fieldError(error, field.name)} />`;
  const rows = [];
  for (let at = 0; at < fields.length; at += 1) {
    const [field, next] = [/** @type {FieldOf} */ (fields[at]), fields[at + 1]];
    if (field.isHalf && next) rows.push(html`<div class="form-row" key=${field.name}>${part(field)}${part(next)}</div>`), (at += 1);
    else rows.push(part(field));
  }
  const foot = html`<${Button} onClick=${close}>${t.cancel}</${Button}>
    <${Button} kind=${danger ? "danger" : "primary"} busy=${isBusy} disabled=${!isReady} onClick=${() => run(of?.etag ?? null)}>
      ${action}</${Button}>`;
  return html`<${Dialog} title=${title} onClose=${close} foot=${foot} isTyped=${Boolean(kept)}>
    ${kept && html`<p class="muted" role="status">${t.draftKept}</p>`}
    ${text && html`<div class="about">${text}</div>`}<div class="form">${rows}${children}
    ${error && html`<${Problem} error=${error} />`}</div></${Dialog}>`;
}

/** One field of a form. @param {{ field: FieldOf, value: any, onChange: (value: any) => void, onTyping?: (isTyping: boolean) => void, error?: string }} p */
export function Part({ field, value, onChange, onTyping, error }) {
  const { name, label, kind, options = [], most, isRequired } = field;
  const hint = field.hint ?? (isRequired ? undefined : kind === "select" || kind === "checks" || field.part ? undefined : t.optional);
  const input = (/** @type {any} */ event) => onChange(event.target.value);
  if (field.part) return html`<${field.part} label=${label} value=${value} onChange=${onChange} error=${error} />`;
  if (kind === "checks") {
    const toggle = (/** @type {string} */ word) =>
      onChange(value.includes(word) ? value.filter((/** @type {string} */ one) => one !== word) : [...value, word]);
    return options.length > 0 && html`<fieldset class="checks"><legend class="field-label">${label}</legend>
      ${options.map(([word, text]) => html`<label key=${word} class="check"><input type="checkbox" checked=${value.includes(word)}
        onChange=${() => toggle(word)} /><span dir="auto">${text}</span></label>`)}
      ${error && html`<span class="field-error">${error}</span>`}</fieldset>`;
  }
  const isOfPeople = kind === "person" || kind === "people";
  if (isOfPeople && can("employees:read")) {
    return html`<fieldset class="people"><legend class="field-label">${label}</legend>
      ${kind === "people" ? html`<${People} label=${label} value=${value} onChange=${onChange} onTyping=${onTyping} />`
        : html`<${PersonField} label=${label} value=${value} onChange=${onChange} onTyping=${onTyping} />`}
      ${hint && html`<span class="hint">${hint}</span>`}${error && html`<span class="field-error">${error}</span>`}</fieldset>`;
  }
  const shown = kind === "people" ? value.join(" ") : value;
  const ids = (/** @type {any} */ event) => onChange(event.target.value.split(/[\s,]+/).filter(Boolean));
  return html`<${Field} label=${label} hint=${hint} error=${error}>
    ${kind === "area" ? html`<textarea name=${name} rows=${field.rows} maxlength=${most} value=${value} dir="auto" onInput=${input}></textarea>`
      : kind === "select" ? html`<select name=${name} value=${value} onChange=${input}>
        ${!isRequired && html`<option value="">–</option>`}
        ${options.map(([word, text]) => html`<option value=${word}>${text}</option>`)}</select>`
      : html`<input name=${name} type=${kind === "date" || kind === "email" || kind === "number" ? kind : "text"} value=${shown ?? ""}
        maxlength=${most} dir="auto" autocomplete="off" placeholder=${isOfPeople ? "emp_…" : null} step=${kind === "number" ? "any" : null}
        onInput=${kind === "people" ? ids : input} />`}</${Field}>`;
}

/** Several people. @param {{ label: string, value: string[], onChange: (value: string[]) => void, onTyping?: (isTyping: boolean) => void }} p */
export function People({ label, value, onChange, onTyping }) {
  const add = (/** @type {string | null} */ id) => id && !value.includes(id) && onChange([...value, id]);
  return html`${value.map((id) => html`<${Chosen} key=${id} id=${id} onRemove=${() => onChange(value.filter((one) => one !== id))} />`)}
    <${PersonField} label=${label} value=${null} onChange=${add} onTyping=${onTyping} />`;
}
