// One person: everything that the key sees about them, and the changes of their status and manager.

import { request } from "../lib/api.js";
import { useAction, useGet, useList } from "../lib/data.js";
import { Confirm, Dialog, Secret } from "../lib/dialog.js";
import { date, fullName, plain, short } from "../lib/format.js";
import { Person, PersonField } from "../lib/people.js";
import { href } from "../lib/router.js";
import { can, isAdmin, isBound } from "../lib/session.js";
import { changed, Stale } from "../lib/stale.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Changes, Facts, Field, Id, Page, Problem, Shown, Status, Table, Time,
  fieldError } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { canErase, isErased, PersonData } from "./people_data.js";

/** @typedef {import("../types").Employee} Employee */
/** @typedef {import("../types").AuditEntry} AuditEntry */
/** @typedef {import("../types").Observation} Observation */
/** @typedef {import("../types").Objective} Objective */

/** @param {{ id: string }} p */
export function OnePerson({ id }) {
  const person = useGet(`/employees/${id}`);
  const [dialog, setDialog] = useState("");
  const close = () => setDialog("");
  const saved = () => person.reload();
  /** @type {Employee | null} */
  const one = person.data;
  const actions = one && !isErased(one) && can("employees:write") && (isAdmin() || !isBound()) && html`
    <${Button} onClick=${() => setDialog("manager")}>${t.people.changeManager}</${Button}>
    <${Button} onClick=${() => setDialog("edit")}>${t.edit}</${Button}>
    ${one.status === "pending_invite" &&
      html`<${Button} onClick=${() => setDialog("invite")}>${t.people.invite}</${Button}>`}
    ${one.status === "deactivated"
      ? html`<${Button} onClick=${() => setDialog("rehire")}>${t.people.rehire}</${Button}>
          <${Button} kind="primary" onClick=${() => setDialog("reactivate")}>${t.people.reactivate}</${Button}>`
      : html`<${Button} kind="danger" onClick=${() => setDialog("deactivate")}>
        ${t.people.deactivate}</${Button}>`}`;
  return html`<${Page} title=${one ? fullName(one) : t.people.person} lead=${one?.job_title} actions=${actions}
    back=${{ href: href("/people"), text: t.screens.people }}>
    <${Shown} of=${person}>${(/** @type {Employee} */ data) => html`<${Details} person=${data} />`}</${Shown}>
    ${one && !isErased(one) && html`<${About} person=${one} />`}
    ${one && canErase() && html`<${PersonData} person=${one} onSaved=${saved} />`}
    ${one && dialog === "manager" &&
      html`<${ChangeManager} person=${one} etag=${person.etag} onClose=${close} onSaved=${saved} />`}
    ${one && dialog === "edit" &&
      html`<${Edit} person=${one} etag=${person.etag} onClose=${close} onSaved=${saved} />`}
    ${one && dialog === "invite" && html`<${Invite} id=${id} onClose=${close} />`}
    ${one && ["deactivate", "reactivate", "rehire"].includes(dialog) &&
      html`<${Confirm} title=${t.people[dialog]} text=${t.people[`${dialog}Text`]}
      action=${t.people[dialog]} kind=${dialog === "deactivate" ? "danger" : "primary"} onClose=${close}
      work=${async () => (await request("POST", `/employees/${id}/${dialog}`), toast(t.people.done), saved())} />`}
  </${Page}>`;
}

/** @param {{ person: Employee }} p */
function Details({ person }) {
  const department = useGet(person.department_id && `/departments/${person.department_id}`);
  const custom = Object.entries(person.custom_fields)
    .map(([name, value]) => /** @type {[string, any]} */ ([name, plain(value)]));
  return html`<${Card} title=${t.people.details}><${Facts} entries=${[
    [t.people.email, html`<a href=${`mailto:${encodeURIComponent(person.email)}`}>${person.email}</a>`],
    [t.state, html`<${Status} word=${person.status} />`],
    [t.people.role, t.words[person.role] ?? person.role],
    [t.people.manager, html`<${Person} id=${person.manager_id} />`],
    [t.people.department, department.data?.name ?? "–"],
    [t.people.source, person.is_hris_managed ? html`<${Badge} tone="info">${person.hris_source}</${Badge}>`
      : t.people.manual],
    [t.people.externalId, person.external_id ?? "–"],
    [t.created, html`<${Time} at=${person.created_at} />`],
    ...(person.deactivated_at ? [[t.people.deactivatedAt, html`<${Time} at=${person.deactivated_at} />`]] : []),
    [t.id, html`<${Id} value=${person.id} />`], ...custom,
  ]} /></${Card}>`;
}

/** @param {{ person: Employee }} p */
function About({ person }) {
  const { id } = person;
  const reports = useList("/employees", { "filter[manager_id]": id, limit: 10 });
  const observations = useList(can("observations:read") ? "/observations" : null,
    { "filter[employee_id]": id, limit: 5 });
  const objectives = useList(can("objectives:read") ? "/employee-objectives" : null,
    { "filter[owner_id]": id, limit: 5 });
  const audit = useList(can("audit:read") && !isBound() ? "/audit-log" : null,
    { "filter[target_id]": id, limit: 10 });
  const none = html`<p class="muted">${t.nothing}</p>`;
  return html`<div class="grid2">
    ${can("audit:read") && !isBound() &&
      html`<${Card} title=${t.people.history}
        actions=${html`<a href=${href("/audit", { target: id })}>${t.screens.audit}</a>`}>
      <${Shown} of=${{ ...audit, hasMore: false }} rows=${3} empty=${none}>
        ${(/** @type {AuditEntry[]} */ rows) => html`<ol class="steps">
        ${rows.map((row) => html`<li key=${row.id}>
        <div class="step-head"><strong>${row.action}</strong><span>${row.actor.name}</span>
          <span class="muted"><${Time} at=${row.occurred_at} /></span></div>
        <${Changes} changes=${row.changes} name=${named} /></li>`)}</ol>`}</${Shown}></${Card}>`}
    <${Card} title=${t.people.reports}>
      <${Shown} of=${reports} rows=${3} empty=${none}>${(/** @type {Employee[]} */ rows) => html`
      <ul class="attention">
        ${rows.map((row) =>
          html`<li key=${row.id}>
            <span class="grow"><a href=${href(`/people/${row.id}`)} dir="auto">${fullName(row)}</a></span>
        <span class="muted">${row.job_title ?? ""}</span></li>`)}</ul>`}</${Shown}></${Card}>
    ${can("observations:read") &&
      html`<${Card} title=${t.feedback.observations}
        actions=${html`<a href=${href("/feedback", { person: id })}>${t.feedback.all}</a>`}>
      <${Shown} of=${{ ...observations, hasMore: false }} rows=${3} empty=${none}>
        ${(/** @type {Observation[]} */ rows) => html`<ul class="attention">
        ${rows.map((row) => html`<li key=${row.id}>
        <${Status} word=${row.type} /><span class="grow" dir="auto">${short(row.observation, 160)}</span>
        <span class="muted">${date(row.observation_date)}</span></li>`)}</ul>`}</${Shown}></${Card}>`}
    ${can("objectives:read") &&
      html`<${Card} title=${t.feedback.objectives}
        actions=${html`<a href=${href("/feedback", { view: "objectives", owner: id })}>${t.feedback.all}</a>`}>
      <${Shown} of=${{ ...objectives, hasMore: false }} rows=${3} empty=${none}>
        ${(/** @type {Objective[]} */ rows) => html`<ul class="attention">
        ${rows.map((row) => html`<li key=${row.id}>
        <${Status} word=${row.status === "proposed" && row.submitted_at ? "in_review" : row.status} />
        <span class="grow" dir="auto">${row.title}</span></li>`)}</ul>`}</${Shown}></${Card}>`}
  </div>`;
}

/** Values of people's ids as their names. @param {unknown} value @param {string} field */
const named = (value, field) =>
  field === "manager_id" && typeof value === "string" ? html`<${Person} id=${value} />` : plain(value);

/** @param {{ person: Employee, etag: string | null, onClose: () => void, onSaved: () => void }} p */
function ChangeManager({ person, etag, onClose, onSaved }) {
  const [manager, setManager] = useState(person.manager_id);
  const { run, isBusy, error } = useAction(async (/** @type {string | null} */ match) => {
    await request("PATCH", `/employees/${person.id}`, { body: { manager_id: manager }, etag: match });
    toast(t.people.done);
    onSaved();
    onClose();
  });
  if (error?.status === 412) {
    return html`<${Stale} path=${`/employees/${person.id}`} was=${person} fields=${["manager_id"]}
      mine=${{ manager_id: manager }} onClose=${onClose} onSave=${run} onReload=${onSaved} />`;
  }
  const cause = error?.details.find((detail) => detail.field === "manager_id")?.code;
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} disabled=${manager === person.manager_id} onClick=${() => run(etag)}>
      ${t.save}</${Button}>`;
  return html`<${Dialog} title=${t.people.changeManager} onClose=${onClose} foot=${foot}>
    <p>${t.people.changeManagerText(fullName(person))}</p>
    <${PersonField} label=${t.people.manager} value=${manager} onChange=${setManager} canBeNone />
    ${cause && t.people.managerProblems[cause] &&
      html`<p class="field-error">${t.people.managerProblems[cause]}</p>`}
    ${error && html`<${Problem} error=${error} />`}
  </${Dialog}>`;
}

/** @param {{ person: Employee, etag: string | null, onClose: () => void, onSaved: () => void }} p */
function Edit({ person, etag, onClose, onSaved }) {
  const [form, setForm] =
    useState({ first_name: person.first_name, last_name: person.last_name, email: person.email,
      job_title: person.job_title ?? "", role: person.role });
  const typed = { ...form, job_title: form.job_title.trim() || null };
  const [was] = useState(person);
  const body = changed(typed, was);
  const { run, isBusy, error } = useAction(async (/** @type {string | null} */ match) => {
    await request("PATCH", `/employees/${person.id}`, { body, etag: match });
    toast(t.people.done);
    onSaved();
    onClose();
  });
  const set = (/** @type {string} */ name) => (/** @type {any} */ event) =>
    setForm({ ...form, [name]: event.target.value });
  if (error?.status === 412)
    return html`<${Stale} path=${`/employees/${person.id}`} was=${was} fields=${Object.keys(typed)} mine=${body}
      onClose=${onClose} onSave=${run} onReload=${onSaved} />`;
  const text = (/** @type {"first_name" | "last_name" | "email" | "job_title"} */ name,
    /** @type {string} */ label) => html`
    <${Field} label=${label} error=${fieldError(error, name)}>
      <input name=${name} value=${form[name]} dir="auto" onInput=${set(name)} /></${Field}>`;
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} onClick=${() => run(etag)}>${t.save}</${Button}>`;
  return html`<${Dialog} title=${t.edit} onClose=${onClose} foot=${foot}><div class="form">
    <div class="form-row">${text("first_name", t.people.firstName)}${text("last_name", t.people.lastName)}</div>
    ${text("email", t.people.email)}
    <div class="form-row">${text("job_title", t.people.title)}
      <${Field} label=${t.people.role} error=${fieldError(error, "role")}>
        <select value=${form.role} onChange=${set("role")}>
        ${["employee", "manager",
          "org_admin"].map((role) =>
            html`<option value=${role}>${t.words[role]}</option>`)}</select></${Field}></div>
    ${person.is_hris_managed && html`<p class="hint">${t.people.managed(person.hris_source)}</p>`}
    ${error && html`<${Problem} error=${error} />`}</div></${Dialog}>`;
}

/** @param {{ id: string, onClose: () => void }} p */
function Invite({ id, onClose }) {
  const [link, setLink] = useState("");
  if (link)
    return html`<${Secret} title=${t.people.invite} text=${t.people.inviteLink} value=${link}
      onClose=${onClose} />`;
  const { run, isBusy, error } = useAction(async () => {
    const { data } = await request("POST", `/employees/${id}/invite`);
    toast(t.people.invited);
    if (data.accept_url) setLink(data.accept_url);
    else onClose();
  });
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} onClick=${run}>${t.people.invite}</${Button}>`;
  return html`<${Dialog} title=${t.people.invite} onClose=${onClose} foot=${foot}><p>${t.people.inviteText}</p>
    ${error && html`<${Problem} error=${error} />`}</${Dialog}>`;
}
