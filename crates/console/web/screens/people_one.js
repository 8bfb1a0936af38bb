// One person: everything that the key sees about them, and the changes of their status and manager.

import { request } from "../lib/api.js";
import { Changes } from "../lib/changes.js";
import { useAction, useGet, useList } from "../lib/data.js";
import { Confirm, Dialog, Secret } from "../lib/dialog.js";
import { Form } from "../lib/form.js";
import { date, fullName, percent, plain, short, verbName } from "../lib/format.js";
import { Initials, Person, remember } from "../lib/people.js";
import { href } from "../lib/router.js";
import { can, isBound } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Closed, Facts, Id, More, Page, Problem, Shown, Status, Time } from "../lib/ui.js";
import { html, useEffect, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { canErase, isErased, PersonData } from "./people_data.js";
import { mayWritePeople, Write } from "./write.js";
import { customOf, personFields, usePersonOptions } from "./write_person.js";

/** @typedef {import("../types").Employee} Employee */
/** @typedef {import("../types").AuditEntry} AuditEntry */
/** @typedef {import("../types").Observation} Observation */
/** @typedef {import("../types").Objective} Objective */

/** Direct reports that the service sends with a person at most. */
const MOST_REPORTS = 100;
const SHOWN_REPORTS = 10;

/** @param {{ id: string }} p */
export function OnePerson({ id }) {
  const person = useGet(`/employees/${id}`, { expand: `manager,department,direct_reports${canErase() ? ",legal_hold" : ""}` });
  const [dialog, setDialog] = useState("");
  const close = () => setDialog("");
  const saved = () => person.reload();
  /** @type {Employee | null} */
  const one = person.data;
  const count = one?.direct_reports?.length ?? 0;
  const text = dialog === "deactivate" && one && count > 0
    ? `${t.people.deactivateText} ${t.people.reportsStay(fullName(one), count, count >= MOST_REPORTS)}` : t.people[`${dialog}Text`];
  const isHere = one && !isErased(one);
  const open = (/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ kind = "") =>
    html`<${Button} kind=${kind} onClick=${() => setDialog(name)}>${text}</${Button}>`;
  const isAway = one?.status === "deactivated";
  const may = mayWritePeople();
  const others = ["summaries", "assignments", "conversations"].filter((name) => can(`${name}:write`));
  const actions = isHere && html`
    ${isAway ? may && html`${open("reactivate", t.people.reactivate, "primary")}${open("rehire", t.people.rehire)}`
      : html`<${Write} name="observations" person=${id} kind="primary" />`}
    ${may && open("edit", t.edit)}
    ${may && one.status === "pending_invite" && open("invite", t.people.invite)}
    ${(others.length > 0 || (may && !isAway)) && html`<${More}>${others.map((name) => html`<${Write} key=${name} name=${name} person=${id} />`)}
      ${may && !isAway && open("deactivate", t.people.deactivate, "danger")}</${More}>`}`;
  return html`<${Page} title=${one ? fullName(one) : t.people.person} lead=${one && isHere && html`<${HeadLine} of=${one} />`} mark=${one && isHere && html`<${Initials} of=${one} isLarge />`} state=${one && html`<${Status} word=${one.status} />`} actions=${actions}
    back=${{ href: href("/people"), text: t.screens.people }}>
    <${Shown} of=${person}>${(/** @type {Employee} */ data) => html`
      ${!isErased(data) && html`<${About} person=${data} />`}
      <${Details} person=${data} />`}</${Shown}>
    ${isHere && html`<${Trail} id=${id} />`}
    ${one && canErase() && html`<${PersonData} person=${one} isRead=${!person.error} onSaved=${saved} />`}
    ${dialog === "edit" && html`<${Changing} id=${id} onClose=${close} onSaved=${saved} />`}
    ${one && dialog === "invite" && html`<${Invite} id=${id} onClose=${close} />`}
    ${one && ["deactivate", "reactivate", "rehire"].includes(dialog) &&
      html`<${Confirm} title=${t.people[dialog]} text=${text}
      action=${t.people[dialog]} kind=${dialog === "deactivate" ? "danger" : "primary"} onClose=${close}
      work=${async () => (await request("POST", `/employees/${id}/${dialog}`), toast(t.work.done[dialog](fullName(one))), saved())} />`}
  </${Page}>`;
}

/** What one looks for first: title, department, manager and address. @param {{ of: Employee }} p */
function HeadLine({ of }) {
  useEffect(() => remember(of.manager), [of.manager]);
  const parts = [of.job_title, of.department?.name, of.manager_id && html`${t.people.reportsTo} <${Person} id=${of.manager_id} />`,
    html`<a href=${`mailto:${encodeURIComponent(of.email)}`}>${of.email}</a>`];
  return parts.filter(Boolean).map((part, at) => html`${at > 0 && " · "}<span dir="auto">${part}</span>`);
}

/** @param {{ person: Employee }} p */
function Details({ person }) {
  const custom = Object.entries(person.custom_fields)
    .map(([name, value]) => /** @type {[string, any]} */ ([name, plain(value)]));
  return html`<${Card} title=${t.people.details}><${Facts} entries=${[
    [t.people.role, t.words[person.role] ?? person.role],
    [t.people.source, person.is_hris_managed ? html`<${Badge} tone="info">${person.hris_source}</${Badge}>`
      : t.people.manual],
    [t.people.externalId, person.external_id ?? "–"],
    [t.created, html`<${Time} at=${person.created_at} />`],
    ...(person.deactivated_at ? [[t.people.deactivatedAt, html`<${Time} at=${person.deactivated_at} />`]] : []),
    [t.id, html`<${Id} value=${person.id} />`], ...custom,
  ]} /></${Card}>`;
}

/** Feedback, objectives and reports of a person. @param {{ person: Employee }} p */
function About({ person }) {
  const { id } = person;
  const reports = person.direct_reports ?? [];
  const observations = useList(can("observations:read") ? "/observations" : null,
    { "filter[employee_id]": id, limit: 5 });
  const objectives = useList(can("objectives:read") ? "/employee-objectives" : null,
    { "filter[owner_id]": id, limit: 5 });
  const none = html`<p class="muted">${t.nothing}</p>`;
  const card = (/** @type {string} */ title, /** @type {any} */ read, /** @type {string} */ name, /** @type {any} */ to, /** @type {any} */ row) => html`
    <${Card} title=${title} actions=${html`${name !== "observations" && html`<${Write} name=${name} person=${id} />`}
      <a href=${href("/feedback", to)}>${t.feedback.all}</a>`}>
      <${Shown} of=${{ ...read, hasMore: false }} rows=${3} empty=${none}>
        ${(/** @type {any[]} */ rows) => html`<ul class="attention">${rows.map(row)}</ul>`}</${Shown}></${Card}>`;
  return html`<div class="balance spaced">
    ${can("observations:read") && card(t.feedback.observations, observations, "observations", { person: id },
      (/** @type {Observation} */ row) => html`<li key=${row.id}><${Status} word=${row.type} /><${Closed} of=${row} />
        <span class="grow"><a href=${href(`/feedback/${row.id}`)} dir="auto">${short(row.observation, 160)}</a></span>
        <span class="muted">${date(row.observation_date)}</span></li>`)}
    ${can("objectives:read") && card(t.feedback.objectives, objectives, "objectives", { view: "objectives", owner: id },
      (/** @type {Objective} */ row) => html`<li key=${row.id}>
        <${Status} word=${row.status === "proposed" && row.submitted_at ? "in_review" : row.status} />
        <span class="grow"><a href=${href(`/feedback/objectives/${row.id}`)} dir="auto">${row.title}</a></span>
        <span class="muted">${row.progress === null ? "" : percent(row.progress, 100)}</span></li>`)}
    ${reports.length > 0 && html`<${Card} title=${t.people.reports}
      actions=${reports.length > SHOWN_REPORTS && html`<a href=${href("/people", { manager: id })}>${t.feedback.all}</a>`}>
      <ul class="attention">${reports.slice(0, SHOWN_REPORTS).map((row) => html`
        <li key=${row.id}><${Initials} of=${row} /><span class="grow"><a href=${href(`/people/${row.id}`)} dir="auto">${fullName(row)}</a></span>
        <span class="muted">${row.job_title ?? ""}</span></li>`)}</ul></${Card}>`}</div>`;
}

/** The changes of a person. @param {{ id: string }} p */
function Trail({ id }) {
  const isOpen = can("audit:read") && !isBound();
  const audit = useList(isOpen ? "/audit-log" : null, { "filter[target_id]": id, limit: 10 });
  return isOpen && html`<${Card} title=${t.people.history}
        actions=${html`<a href=${href("/audit", { target: id })}>${t.screens.audit}</a>`}>
      <${Shown} of=${{ ...audit, hasMore: false }} rows=${3} empty=${html`<p class="muted">${t.nothing}</p>`}>
        ${(/** @type {AuditEntry[]} */ rows) => html`<ol class="steps">
        ${rows.map((row) => html`<li key=${row.id}>
        <div class="step-head"><strong title=${row.action}>${verbName(row.action.split(".")[1] ?? "")}</strong><span>${row.actor.name}</span>
          <span class="muted"><${Time} at=${row.occurred_at} /></span></div>
        <${Changes} changes=${row.changes} /></li>`)}</ol>`}</${Shown}></${Card}>`;
}

/** Changes the version of a person that was stored when the dialog opened. @param {{ id: string, onClose: () => void, onSaved: () => void }} p */
function Changing({ id, ...rest }) {
  const person = useGet(`/employees/${id}`);
  const [version, setVersion] = useState(/** @type {{ person: Employee, etag: string | null } | null} */ (null));
  useEffect(() => void (person.data && !person.isLoading && setVersion((before) => before ?? { person: /** @type {Employee} */ (person.data), etag: person.etag })), [person.data, person.isLoading]);
  if (person.error && !version) return html`<${Dialog} title=${t.edit} onClose=${rest.onClose}><${Problem} error=${person.error} retry=${person.reload} /></${Dialog}>`;
  return version && html`<${Edit} ...${version} ...${rest} />`;
}

/** @param {{ person: Employee, etag: string | null, onClose: () => void, onSaved: () => void }} p */
function Edit({ person, etag, onClose, onSaved }) {
  const departments = usePersonOptions(person.department_id);
  const path = `/employees/${person.id}`;
  const send = async (/** @type {Record<string, any>} */ { custom_fields, ...values }, /** @type {string | null} */ match) => {
    const custom = custom_fields && { custom_fields: customOf(custom_fields, person.custom_fields) };
    await request("PATCH", path, { body: { ...values, ...custom }, etag: match });
    toast(t.people.saved(fullName(person)));
    onSaved();
  };
  return html`<${Form} title=${t.edit} action=${t.save} fields=${personFields(departments)} send=${send} onClose=${onClose}
    of=${{ path, was: person, etag, onReload: onSaved }}>
    ${person.is_hris_managed && html`<p class="hint">${t.people.managed(person.hris_source)}</p>`}</${Form}>`;
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
