// Key results in the form of an objective.

import { Button, Field } from "../lib/ui.js";
import { html } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {{ title: string, metric: string, start: string, target: string, unit: string }} Row */

const MOST = 10;
const METRICS = ["number", "percent", "boolean"];

/** Key results as the API takes them: rows without a title are left out. @param {Row[]} rows */
export const resultsOf = (rows) => rows.filter((row) => row.title.trim()).map(({ title, metric, start, target, unit }) => ({
  title: title.trim(), metric,
  ...(metric !== "boolean" && start.trim() ? { start: Number(start) } : {}),
  ...(metric !== "boolean" && target.trim() ? { target: Number(target) } : {}),
  ...(metric === "number" && unit.trim() ? { unit: unit.trim() } : {}) }));

/** @param {{ label: string, value: Row[], onChange: (rows: Row[]) => void, error?: string }} p */
export function Results({ label, value, onChange, error }) {
  const set = (/** @type {number} */ at, /** @type {keyof Row} */ name) => (/** @type {any} */ event) =>
    onChange(value.map((row, other) => (other === at ? { ...row, [name]: event.target.value } : row)));
  const text = (/** @type {number} */ at, /** @type {keyof Row} */ name, /** @type {string} */ type = "text") => html`
    <${Field} label=${t.work.result[name]}><input type=${type} step="any" value=${value[at]?.[name]} dir="auto"
      onInput=${set(at, name)} /></${Field}>`;
  return html`<fieldset class="people"><legend class="field-label">${label}</legend>
    ${value.map((row, at) => html`<div class="result" key=${at}>
      ${text(at, "title")}
      <div class="form-row small"><${Field} label=${t.work.result.metric}><select value=${row.metric} onChange=${set(at, "metric")}>
        ${METRICS.map((one) => html`<option value=${one}>${t.work.metrics[one]}</option>`)}</select></${Field}>
      ${row.metric !== "boolean" && html`${text(at, "start", "number")}${text(at, "target", "number")}`}
      ${row.metric === "number" && text(at, "unit")}</div>
      <button type="button" class="link" aria-label=${`${t.remove}: ${row.title || at + 1}`}
        onClick=${() => onChange(value.filter((_, other) => other !== at))}>${t.remove}</button></div>`)}
    ${error && html`<span class="field-error">${error}</span>`}
    ${value.length < MOST && html`<div><${Button} onClick=${() =>
      onChange([...value, { title: "", metric: "number", start: "", target: "", unit: "" }])}>${t.work.addResult}</${Button}></div>`}
  </fieldset>`;
}
