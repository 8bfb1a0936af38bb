// Links of a provider: the accounts that sign in as people, added, confirmed and removed by an admin.

import { request } from "../lib/api.js";
import { useAction, useList } from "../lib/data.js";
import { Confirm, Dialog } from "../lib/dialog.js";
import { fullName } from "../lib/format.js";
import { Part } from "../lib/form.js";
import { Person, usePerson } from "../lib/people.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Field, Problem, Shown, Table, Time, fieldError } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";

/** @type {import("../lib/form.js").FieldOf} */
const PERSON = { name: "employee_id", label: t.people.person, kind: "person", isRequired: true };

/** @typedef {import("../types").IdentityLink} Link */

/**
 * The link of a person who was reactivated or rehired is off, until an admin confirms it.
 * @param {Link} link @param {import("../types").Employee | null} person
 */
const isOff = (link, person) => !!person?.returned_at &&
  new Date(link.confirmed_at ?? link.created_at) < new Date(person.returned_at);

/** @param {{ link: Link }} p */
const Off = ({ link }) => isOff(link, usePerson(link.employee_id)) &&
  html`<${Badge} tone="bad">${t.signIn.off}</${Badge}>`;

/** @param {{ link: Link, onOpen: (name: string) => void }} p */
function Actions({ link, onOpen }) {
  const person = usePerson(link.employee_id);
  const name = person ? fullName(person) : link.employee_id;
  return html`<div class="actions">
    ${isOff(link, person) && html`<${Button} aria-label=${`${t.signIn.confirm}: ${name}`}
      onClick=${() => onOpen("confirm")}>${t.signIn.confirm}</${Button}>`}
    <${Button} kind="danger" aria-label=${`${t.signIn.remove}: ${name}`}
      onClick=${() => onOpen("remove")}>${t.signIn.remove}</${Button}></div>`;
}

/** @param {{ id: string, mayWrite: boolean }} p */
export function Links({ id, mayWrite }) {
  const path = `/identity-providers/${id}/links`;
  const links = useList(/** @type {`/identity-providers/${string}/links`} */ (path));
  const [dialog, setDialog] = useState(/** @type {{ name: string, link?: Link } | null} */ (null));
  const close = () => setDialog(null);
  const columns = [
    { name: "person", label: t.people.person, isMain: true, cell: (/** @type {Link} */ link) => html`
      <${Person} id=${link.employee_id} /> <${Off} link=${link} />` },
    { name: "subject", label: t.signIn.subject, isWide: true, cell: (/** @type {Link} */ link) => html`<code>${link.subject}</code>` },
    { name: "created", label: t.created, cell: (/** @type {Link} */ link) => html`<${Time} at=${link.created_at} />` },
    ...(mayWrite ? [{ name: "actions", label: t.actions, cell: (/** @type {Link} */ link) => html`
      <${Actions} link=${link} onOpen=${(/** @type {string} */ name) => setDialog({ name, link })} />` }] : []),
  ];
  const actions = mayWrite && html`<${Button} onClick=${() => setDialog({ name: "add" })}>${t.signIn.addLink}</${Button}>`;
  const empty = html`<p class="muted">${t.signIn.noLinks}</p>`;
  return html`<${Card} title=${t.signIn.links} actions=${actions}><p>${t.signIn.linksText}</p>
    <${Shown} of=${links} rows=${3} empty=${empty}>${(/** @type {Link[]} */ rows) => html`
      <${Table} caption=${t.signIn.links} columns=${columns} rows=${rows}
        keyOf=${(/** @type {Link} */ link) => link.employee_id} />`}</${Shown}>
    ${dialog?.name === "add" && html`<${Add} path=${path} onClose=${close} />`}
    ${dialog?.link && html`<${Change} path=${path} name=${dialog.name} link=${dialog.link} onClose=${close} />`}
  </${Card}>`;
}

/** @param {{ path: string, name: string, link: Link, onClose: () => void }} p */
function Change({ path, name, link, onClose }) {
  const person = usePerson(link.employee_id);
  const who = person ? fullName(person) : link.employee_id;
  const remove = async () => {
    await request("DELETE", `${path}/${link.employee_id}`);
    toast(t.signIn.removed);
  };
  const confirm = async () => {
    await request("POST", path, { body: { employee_id: link.employee_id, subject: link.subject } });
    toast(t.signIn.confirmed);
  };
  if (name === "remove") return html`<${Confirm} title=${t.signIn.remove} text=${t.signIn.removeText(who)}
    action=${t.signIn.remove} kind="danger" onClose=${onClose} work=${remove} />`;
  return html`<${Confirm} title=${t.signIn.confirm} text=${t.signIn.confirmText(who)} action=${t.signIn.confirm}
    onClose=${onClose} work=${confirm} />`;
}

/** @param {{ path: string, onClose: () => void }} p */
function Add({ path, onClose }) {
  const [person, setPerson] = useState(/** @type {string | null} */ (null));
  const [subject, setSubject] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    await request("POST", path, { body: { employee_id: person, subject: subject.trim() } });
    toast(t.signIn.linked);
    onClose();
  });
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} disabled=${!person || !subject.trim()} onClick=${run}>
      ${t.signIn.addLink}</${Button}>`;
  return html`<${Dialog} title=${t.signIn.addLink} onClose=${onClose} foot=${foot}><div class="form">
    <${Part} field=${PERSON} value=${person} onChange=${setPerson} error=${fieldError(error, "employee_id")} />
    <${Field} label=${t.signIn.subject} hint=${t.signIn.linkHint} error=${fieldError(error, "subject")}>
      <input name="subject" value=${subject} maxlength="255" dir="ltr" spellcheck=${false}
        onInput=${(/** @type {any} */ event) => setSubject(event.target.value)} /></${Field}>
    ${error && html`<${Problem} error=${error} />`}</div></${Dialog}>`;
}
