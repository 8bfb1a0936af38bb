// Content filter of a subscription: fields of its form, and its text among the facts.

import { useList } from "../lib/data.js";
import { People } from "../lib/form.js";
import { can } from "../lib/session.js";
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
    <${PeopleField} value=${form.people} onChange=${(/** @type {string} */ people) => set({ people })} hint=${hint}
      error=${fieldError(error, "filter.employee_id")} />
    <${DepartmentField} value=${form.departments} onChange=${(/** @type {string} */ departments) => set({ departments })} hint=${hint}
      error=${fieldError(error, "filter.department_id")} />
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

/**
 * The people of a filter: found by name, or as ids for a key that may not read people.
 * @param {{ value: string, onChange: (value: string) => void, hint: string, error?: string }} p
 */
function PeopleField({ value, onChange, hint, error }) {
  const chosen = ids(value) ?? [];
  if (!can("employees:read")) {
    return html`<${Field} label=${t.webhooks.filterPeople} hint=${hint} error=${error}>
      <input name="filter_people" value=${value} placeholder="emp_…"
        onInput=${(/** @type {any} */ e) => onChange(e.target.value)} /></${Field}>`;
  }
  return html`<fieldset class="people"><legend class="field-label">${t.webhooks.filterPeople}</legend>
    <${People} label=${t.webhooks.filterAddPerson} value=${chosen} onChange=${(/** @type {string[]} */ all) => onChange(all.join(" "))} />
    ${error && html`<span class="field-error">${error}</span>`}</fieldset>`;
}

/** Departments that are offered by name. */
const MOST_DEPARTMENTS = 100;

/**
 * The departments of a filter: by name, or as ids if the key may not read them or there are too many.
 * @param {{ value: string, onChange: (value: string) => void, hint: string, error?: string }} p
 */
function DepartmentField({ value, onChange, hint, error }) {
  const { rows, hasMore, isLoading } = useList(can("employees:read") ? "/departments" : null, { limit: MOST_DEPARTMENTS });
  const chosen = ids(value) ?? [];
  if (isLoading && !rows) return null;
  if (!rows || hasMore) {
    return html`<${Field} label=${t.webhooks.filterDepartments} hint=${hint} error=${error}>
      <input name="filter_departments" value=${value} placeholder="dep_…"
        onInput=${(/** @type {any} */ e) => onChange(e.target.value)} /></${Field}>`;
  }
  const names = new Map(chosen.map((id) => [id, id]));
  for (const one of rows) names.set(one.id, one.name);
  const toggle = (/** @type {string} */ id) => onChange((chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]).join(" "));
  return names.size > 0 && html`<fieldset class="checks"><legend class="field-label">${t.webhooks.filterDepartments}</legend>
    ${[...names].map(([id, name]) => html`<label key=${id} class="check"><input type="checkbox" checked=${chosen.includes(id)}
      onChange=${() => toggle(id)} /><span dir="auto">${name}</span></label>`)}
    ${error && html`<span class="field-error">${error}</span>`}</fieldset>`;
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
