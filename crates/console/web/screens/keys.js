// API keys: create with scopes by resource, rotate, revoke, last use.

import { request } from "../lib/api.js";
import { useAction, useList } from "../lib/data.js";
import { Confirm, Dialog, Secret } from "../lib/dialog.js";
import { number, words } from "../lib/format.js";
import { Part } from "../lib/form.js";
import { Person, usePerson } from "../lib/people.js";
import { useRoute } from "../lib/router.js";
import { can, session } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Empty, Field, Filters, Id, Page, Problem, Shown, Status, Table, Time,
  fieldError } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { CreateLink } from "./keys_link.js";

/** @typedef {import("../types").ApiKey} ApiKey */
/** @typedef {import("../types").Employee} Employee */

const RESOURCES = ["observations", "objectives", "employees", "webhooks", "summaries", "conversations",
  "assignments", "notifications"];
const SCOPES = [...RESOURCES.flatMap((one) => [`${one}:read`, `${one}:write`]), "events:read", "audit:read",
  "settings:read", "settings:write", "exports:read", "employees:erase"];
/** @type {import("../lib/form.js").FieldOf} */
const PERSON = { name: "employee_id", label: t.keys.person, kind: "person", hint: t.keys.personHint };
const DAY_MS = 86_400_000;
const SOON_MS = 14 * DAY_MS;

/**
 * A key from before its person was deactivated and came back is off, until an admin enables it.
 * @param {ApiKey} key @param {Employee | null} person
 */
const isOff = (key, person) => !key.revoked_at && !!person?.returned_at &&
  new Date(key.enabled_at ?? key.created_at) < new Date(person.returned_at);

/** @param {{ key_: ApiKey }} p */
function State({ key_ }) {
  return html`<${Status} word=${isOff(key_, usePerson(key_.employee_id)) ? "off" : stateOf(key_)} />`;
}

/** @param {{ key_: ApiKey, onClick: () => void }} p */
function Enable({ key_, onClick }) {
  return isOff(key_, usePerson(key_.employee_id)) && html`<${Button} aria-label=${`${t.keys.enable}: ${key_.name}`}
    onClick=${onClick}>${t.keys.enable}</${Button}>`;
}

/** @param {ApiKey} key */
function stateOf(key) {
  const end = key.expires_at ? new Date(key.expires_at).getTime() : Infinity;
  if (key.revoked_at) return "revoked";
  if (end <= Date.now()) return "expired";
  if (key.link_expires_at) return new Date(key.link_expires_at).getTime() > Date.now() ? "link_open" : "link_over";
  // The end of a session is no news.
  return end < Date.now() + SOON_MS && key.kind !== "session" ? "expiring" : "active";
}

/** Scopes that a row shows. */
const MOST_SCOPES = 3;

/** Scopes of a key: a few as they are, many behind their number. @param {{ of: string[] }} p */
function Scopes({ of }) {
  const tags = html`<div class="tags">${of.map((one) => html`<${Badge} key=${one}>${one === "*" ? t.keys.all : one}</${Badge}>`)}</div>`;
  return of.length <= MOST_SCOPES ? tags : html`<details><summary>${of.every((one) => one.endsWith(":read")) ? t.keys.reads(of.length) : t.keys.many(of.length)}</summary>${tags}</details>`;
}

export default function Keys() {
  const { query } = useRoute();
  const keys = useList("/api-keys", { "filter[kind]": query.kind });
  const [dialog, setDialog] = useState(/** @type {{ name: string, key?: ApiKey } | null} */ (null));
  const close = () => (setDialog(null), keys.reload());
  const mayWrite = can("settings:write");
  const own = session.value?.me.key_id;
  const columns = [
    { name: "name", label: t.name, isMain: true,
      cell: (/** @type {ApiKey} */ key) =>
        html`<span dir="auto">${key.name}</span> ${key.id === own &&
          html`<${Badge} tone="info">${t.keys.own}</${Badge}>`}
      ${key.kind === "session" && html`<${Badge}>${t.keys.session}</${Badge}>`}
      <span
        class="cell-note whole">…${key.last4} · ${t.environments[key.environment] ??
          key.environment} · ${t.words[key.access_level] ?? key.access_level}</span>
      ${key.employee_id && html`<span class="cell-note">${t.keys.person} <${Person} id=${key.employee_id} /></span>`}
      ${(key.reads_per_minute ?? key.writes_per_minute) !== null &&
        html`<span class="cell-note">${t.keys.quota(key.reads_per_minute && number(key.reads_per_minute), key.writes_per_minute && number(key.writes_per_minute))}</span>`}
      ${key.allowed_networks.length > 0 &&
        html`<span class="cell-note">${t.keys.networks}: ${key.allowed_networks.join(", ")}</span>`}` },
    { name: "state", label: t.state,
      cell: (/** @type {ApiKey} */ key) => html`<${State} key_=${key} />` },
    { name: "scopes", label: t.keys.scopes, isWide: true,
      cell: (/** @type {ApiKey} */ key) =>
        html`<${Scopes} of=${key.scopes} />` },
    { name: "used", label: t.keys.used,
      cell: (/** @type {ApiKey} */ key) => html`<${Time} at=${key.last_used_at} none=${t.never} />
        ${(key.revoked_at ?? key.expires_at) && html`<span class="cell-note">${key.revoked_at ? t.words.revoked : t.keys.end} <${Time} at=${key.revoked_at ?? key.expires_at} /></span>`}` },
    ...(mayWrite
      ? [{ name: "actions", label: t.actions,
        cell: (/** @type {ApiKey} */ key) => !key.revoked_at && html`<div class="actions">
      <${Enable} key_=${key} onClick=${() => setDialog({ name: "enable", key })} />
      ${!key.link_expires_at && key.kind !== "session" && html`<${Button} aria-label=${`${t.keys.rotate}: ${key.name}`}
        onClick=${() => setDialog({ name: "rotate", key })}>${t.keys.rotate}</${Button}>`}
      <${Button} kind="danger" aria-label=${`${t.keys.revoke}: ${key.name}`}
        onClick=${() => setDialog({ name: "revoke", key })}>${t.keys.revoke}</${Button}></div>` }] : []),
  ];
  const actions = mayWrite &&
    html`<${Button} kind="primary" onClick=${() => setDialog({ name: "create" })}>${t.keys.create}</${Button}>
      <${Button} onClick=${() => setDialog({ name: "link" })}>${t.links.create}</${Button}>`;
  const key = dialog?.key;
  return html`<${Page} title=${t.screens.keys} lead=${t.keys.lead} actions=${actions}>
    <${Filters} filters=${[{ name: "kind", label: t.keys.kind, options: [["key", t.keys.keys], ["session", t.keys.sessions]] }]} />
    <${Shown} of=${keys} empty=${html`<${Empty} title=${t.keys.none} />`}>${(/** @type {ApiKey[]} */ rows) => html`
      <${Table} caption=${t.screens.keys} columns=${columns} rows=${rows} />`}</${Shown}>
    ${dialog?.name === "link" && html`<${CreateLink} onClose=${close} />`}
    ${dialog?.name === "create" && html`<${Create} onClose=${close} />`}
    ${key && dialog?.name === "rotate" && html`<${Rotate} key_=${key} onClose=${close} />`}
    ${key && dialog?.name === "enable" &&
      html`<${Confirm} title=${t.keys.enable} text=${t.keys.enableText(key.name)} action=${t.keys.enable}
        onClose=${close}
      work=${async () => (await request("PATCH", `/api-keys/${key.id}`, { body: { enabled: true } }),
        toast(t.keys.enabled(key.name)))} />`}
    ${key && dialog?.name === "revoke" &&
      html`<${Confirm} title=${t.keys.revoke} text=${key.id === own ? t.keys.revokeOwn : t.keys.revokeText(key.name)} action=${t.keys.revoke}
        kind="danger" onClose=${close}
      work=${async () => (await request("POST", `/api-keys/${key.id}/revoke`), toast(t.keys.revoked(key.name)))} />`}
  </${Page}>`;
}

/** @param {{ onClose: () => void }} p */
function Create({ onClose }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState(() => new Set(/** @type {string[]} */ ([])));
  const [level, setLevel] = useState("standard");
  const [environment, setEnvironment] = useState("live");
  const [days, setDays] = useState("");
  // A key with networks grants only networks inside its own.
  const [networks, setNetworks] = useState(() => (session.value?.me.allowed_networks ?? []).join("\n"));
  const [person, setPerson] = useState(/** @type {string | null} */ (session.value?.me.employee_id ?? null));
  const [secret, setSecret] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    const end = days ? new Date(Date.now() + Number(days) * DAY_MS).toISOString() : null;
    const body = { name: name.trim(), scopes: [...scopes], access_level: level, environment, expires_at: end, employee_id: person,
      allowed_networks: networks.split(/[\s,]+/).filter(Boolean) };
    setSecret((await request("POST", "/api-keys", { body })).data.key);
  });
  if (secret)
    return html`<${Secret} title=${t.keys.created} text=${t.keys.createdText} value=${secret}
      onClose=${onClose} />`;
  const toggle = (/** @type {string} */ scope) => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };
  const offered = SCOPES.filter(can);
  const pick = (/** @type {string} */ text, /** @type {string[]} */ chosen) =>
    html`<button type="button" class="link" onClick=${() => setScopes(new Set(chosen))}>${text}</button>`;
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} disabled=${!name.trim() || scopes.size === 0} onClick=${run}>
      ${t.create}</${Button}>`;
  const choice = (/** @type {string} */ label, /** @type {string} */ value,
    /** @type {(value: string) => void} */ set, /** @type {[string, string][]} */ options) => html`
    <${Field} label=${label}>
      <select value=${value} onChange=${(/** @type {any} */ event) => set(event.target.value)}>
      ${options.map(([word, text]) => html`<option value=${word}>${text}</option>`)}</select></${Field}>`;
  return html`<${Dialog} title=${t.keys.create} onClose=${onClose} foot=${foot}><div class="form">
    <${Field} label=${t.name} error=${fieldError(error, "name")}>
      <input name="name" value=${name} maxlength="80"
        onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></${Field}>
    <${Part} field=${PERSON} value=${person} onChange=${setPerson} error=${fieldError(error, "employee_id")} />
    <fieldset class="checks"><legend class="field-label">${t.keys.scopes}</legend>
      <div class="picks">${pick(t.keys.onlyRead, offered.filter((one) => one.endsWith(":read")))}${pick(t.all, offered)}${pick(t.none, [])}
        ${scopes.size === 0 && html`<span class="hint">${t.keys.scopesHint}</span>`}</div>
      ${offered.map((scope) => html`<label key=${scope} class="check">
      <input type="checkbox" checked=${scopes.has(scope)} onChange=${() => toggle(scope)} />
      <span>${words(scope.replace(":", " · "))}</span></label>`)}</fieldset>
    <div class="form-row">
      ${choice(t.keys.level, level, setLevel,
        [["standard", t.words.standard ?? ""], ["admin", t.words.admin ?? ""]])}
      ${choice(t.keys.environment, environment, setEnvironment,
        [["live", t.environments.live ?? ""], ["test", t.environments.test ?? ""]])}
      ${choice(t.keys.end, days, setDays,
        [["", t.keys.noEnd], ["1", t.keys.days(1)], ["30", t.keys.days(30)], ["90", t.keys.days(90)],
          ["365", t.keys.days(365)]])}</div>
    <${Field} label=${t.keys.networks} hint=${t.keys.networksHint} error=${fieldError(error, "allowed_networks")}>
      <textarea rows="2" name="allowed_networks" value=${networks} dir="ltr" spellcheck=${false}
        onInput=${(/** @type {any} */ event) => setNetworks(event.target.value)}></textarea></${Field}>
    ${error && html`<${Problem} error=${error} />`}</div></${Dialog}>`;
}

/** @param {{ key_: ApiKey, onClose: () => void }} p */
function Rotate({ key_: key, onClose }) {
  const [overlap, setOverlap] = useState("86400");
  const [secret, setSecret] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    const { data } = await request("POST", `/api-keys/${key.id}/rotate`,
      { body: { overlap_seconds: Number(overlap) } });
    setSecret(data.key);
  });
  if (secret)
    return html`<${Secret} title=${t.keys.rotated} text=${t.keys.createdText} value=${secret}
      onClose=${onClose} />`;
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} onClick=${run}>${t.keys.rotate}</${Button}>`;
  return html`<${Dialog} title=${t.keys.rotate} onClose=${onClose} foot=${foot}>
    <p>${t.keys.rotateText(key.name)}</p><p><${Id} value=${key.id} /></p>
    <${Field} label=${t.webhooks.overlap}>
      <select value=${overlap} onChange=${(/** @type {any} */ event) => setOverlap(event.target.value)}>
      ${["0", "3600", "86400",
        "604800"].map((one) =>
          html`<option value=${one}>${t.webhooks.overlaps[one]}</option>`)}</select></${Field}>
    ${error && html`<${Problem} error=${error} />`}</${Dialog}>`;
}
