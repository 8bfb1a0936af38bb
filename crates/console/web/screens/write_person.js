// Fields of a person, for a new one and for changes.

import { useGet } from "../lib/data.js";
import { can } from "../lib/session.js";
import { Button } from "../lib/ui.js";
import { html } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../lib/form.js").FieldOf} FieldOf */

/** Departments as options, with the present one also if it is archived. @param {string | null} [present] @returns {[string, string][]} */
export function usePersonOptions(present) {
  const { data } = useGet(can("employees:read") ? "/departments" : null, { limit: 100 });
  const options = (data?.data ?? []).map((one) => /** @type {[string, string]} */ ([one.id, one.name]));
  return present && !options.some(([id]) => id === present) ? [[present, present], ...options] : options;
}

/** @param {[string, string][]} departments @returns {FieldOf[]} */
export const personFields = (departments) => [
  { name: "first_name", label: t.people.firstName, isRequired: true, most: 80, isHalf: true },
  { name: "last_name", label: t.people.lastName, isRequired: true, most: 80 },
  { name: "email", label: t.people.email, kind: "email", isRequired: true, most: 254 },
  { name: "job_title", label: t.people.title, most: 120, isHalf: true },
  { name: "role", label: t.people.role, kind: "select", isRequired: true,
    options: ["employee", "manager", "org_admin"].map((role) => [role, t.words[role] ?? role]) },
  { name: "department_id", label: t.people.department, kind: "select", options: departments, isHalf: true },
  { name: "external_id", label: t.people.externalId, most: 128 },
  { name: "manager_id", label: t.people.manager, kind: "person", problems: t.people.managerProblems },
  { name: "custom_fields", label: t.work.custom, part: Custom },
];

/** A typed text as a value of a custom field: a number or a boolean stays one. @param {any} text @param {unknown} was */
const valueOf = (text, was) => typeof text !== "string" ? text
  : typeof was === "number" && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text)
  : typeof was === "boolean" && (text === "true" || text === "false") ? text === "true" : text;

/** Custom fields as the API takes them: those that differ from what they were. @param {Record<string, any>} values @param {Record<string, any>} [was] */
export const customOf = (values, was = {}) => Object.fromEntries(Object.entries(values)
  .map(([key, value]) => /** @type {[string, any]} */ ([key, valueOf(value, was[key])]))
  .filter(([key, value]) => value !== (was[key] ?? null)));

/** Custom fields: a key that is removed is null until it is saved. @param {{ label: string, value: Record<string, any>, onChange: (value: Record<string, any>) => void, error?: string }} p */
function Custom({ label, value, onChange, error }) {
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  const add = () => {
    const field = /** @type {HTMLInputElement | null} */ (document.querySelector("input[name=custom_key]"));
    const key = field?.value.trim();
    if (!field || !key || (value[key] ?? null) !== null) return;
    field.value = "";
    onChange({ ...value, [key]: "" });
  };
  const press = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && (event.preventDefault(), add());
  return html`<fieldset class="people"><legend class="field-label">${label}</legend>
    ${entries.map(([key, one]) => html`<div class="custom" key=${key}>
      <label class="field grow"><span class="field-label" dir="auto">${key}</span><input name=${`custom.${key}`} value=${String(one)} dir="auto"
        onInput=${(/** @type {any} */ event) => onChange({ ...value, [key]: event.target.value })} /></label>
      <button type="button" class="link" aria-label=${`${t.remove}: ${key}`} onClick=${() => onChange({ ...value, [key]: null })}>
        ${t.remove}</button></div>`)}
    ${error && html`<span class="field-error">${error}</span>`}
    <div class="custom"><input name="custom_key" aria-label=${t.work.customKey} placeholder=${t.work.customKey} maxlength="64" onKeyDown=${press} />
      <${Button} onClick=${add}>${t.work.addCustom}</${Button}></div></fieldset>`;
}
