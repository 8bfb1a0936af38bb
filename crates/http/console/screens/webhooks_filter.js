// Content filter of a subscription: fields of its form, and its text among the facts.

import { fieldError, Field } from "../lib/ui.js";
import { html } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {{ people: string, departments: string, type: string, scopes: string[] }} FilterForm */
/** @typedef {NonNullable<import("../types").Webhook["filter"]>} Filter */

const TYPES = ["strength", "opportunity"];
const SCOPES = ["employee", "manager", "org"];

/** @param {Filter | null | undefined} filter @returns {FilterForm} */
export const formOf = (filter) => ({
  people: (filter?.employee_id ?? []).join(" "), departments: (filter?.department_id ?? []).join(" "),
  type: filter?.type ?? "", scopes: filter?.scope ?? [],
});

/** Ids of a field, which spaces or commas separate. Null without ids. @param {string} text */
const ids = (text) => {
  const found = text.split(/[\s,]+/).filter(Boolean);
  return found.length ? found : null;
};

/** The filter of a body, or null without conditions. @param {FilterForm} form */
export function filterOf(form) {
  const filter = {
    employee_id: ids(form.people), department_id: ids(form.departments), type: form.type || null,
    scope: form.scopes.length ? form.scopes : null,
  };
  return Object.values(filter).some((value) => value !== null) ? filter : null;
}

/** @param {{ form: FilterForm, onChange: (form: FilterForm) => void, error: any }} p */
export function FilterFields({ form, onChange, error }) {
  const set = (/** @type {Partial<FilterForm>} */ change) => onChange({ ...form, ...change });
  const toggle = (/** @type {string} */ scope) => {
    const others = form.scopes.filter((one) => one !== scope);
    set({ scopes: others.length < form.scopes.length ? others : [...others, scope] });
  };
  const hint = t.webhooks.filterHint;
  return html`
    <${Field} label=${t.webhooks.filterPeople} hint=${hint} error=${fieldError(error, "filter.employee_id")}>
      <input name="filter_people" value=${form.people} placeholder="emp_…"
        onInput=${(/** @type {any} */ e) => set({ people: e.target.value })} /></${Field}>
    <${Field} label=${t.webhooks.filterDepartments} hint=${hint}
      error=${fieldError(error, "filter.department_id")}>
      <input name="filter_departments" value=${form.departments} placeholder="dep_…"
        onInput=${(/** @type {any} */ e) => set({ departments: e.target.value })} /></${Field}>
    <${Field} label=${t.webhooks.filterType}>
      <select name="filter_type" value=${form.type}
        onChange=${(/** @type {any} */ e) => set({ type: e.target.value })}>
        <option value="">${t.webhooks.filterAny}</option>
        ${TYPES.map((one) => html`<option value=${one}>${t.words[one] ?? one}</option>`)}</select></${Field}>
    <fieldset class="checks"><legend class="field-label">${t.webhooks.filterScope}</legend>
      ${SCOPES.map((one) => html`<label key=${one} class="check">
        <input type="checkbox" checked=${form.scopes.includes(one)} onChange=${() => toggle(one)} />
        <span>${t.words[one] ?? one}</span></label>`)}</fieldset>`;
}

/** The conditions of a filter in one line. @param {Filter} filter */
export function filterText(filter) {
  const parts = [
    filter.employee_id && t.webhooks.filterOfPeople(filter.employee_id.length),
    filter.department_id && t.webhooks.filterOfDepartments(filter.department_id.length),
    filter.type && (t.words[filter.type] ?? filter.type),
    filter.scope && filter.scope.map((/** @type {string} */ one) => t.words[one] ?? one).join(", "),
  ];
  return parts.filter(Boolean).join(" · ");
}
