// The domains of a provider with their TXT records, and the check that proves them and names problems.

import { request } from "../lib/api.js";
import { useAction } from "../lib/data.js";
import { Dialog } from "../lib/dialog.js";
import { Badge, Button, Card, Copy, Facts, Field, Problem, Table, fieldError } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { NO_CLIENT } from "./sign_in_form.js";

/** @typedef {import("../types").IdentityProvider} IdentityProvider */
/** @typedef {import("../types").IdentityProviderChecked} Checked */
/** @typedef {IdentityProvider["domains"][number]} Domain */

const COLUMNS = [
  { name: "domain", label: t.signIn.domain, isMain: true, cell: (/** @type {Domain} */ one) => one.domain },
  { name: "proven", label: t.state, cell: (/** @type {Domain} */ one) => one.proven
    ? html`<${Badge} tone="good">${t.signIn.proven}</${Badge}>`
    : html`<${Badge} tone="warn">${t.signIn.notProven}</${Badge}>` },
  { name: "record", label: "TXT", isWide: true, cell: (/** @type {Domain} */ one) => html`<span>
    <code>${one.txt_record}</code> <${Copy} value=${one.txt_record} label=${`${t.signIn.record} ${one.domain}`} /></span>` },
];

/** @param {{ provider: IdentityProvider, mayWrite: boolean }} p */
export function Domains({ provider, mayWrite }) {
  const [checked, setChecked] = useState(/** @type {Checked | null} */ (null));
  const [isOpen, setIsOpen] = useState(false);
  const path = `/identity-providers/${provider.id}/check`;
  const { run, isBusy, error } = useAction(async () => setChecked((await request("POST", path, { body: {} })).data));
  // Without a client, that is the next step.
  const isNext = provider.client_id !== NO_CLIENT && provider.status !== "disabled";
  const actions = mayWrite && html`<${Button} onClick=${() => setIsOpen(true)}>${t.signIn.checkToken}</${Button}>
    <${Button} kind=${isNext ? "primary" : undefined} busy=${isBusy} onClick=${run}>${checked ? t.signIn.checkAgain : t.signIn.check}</${Button}>`;
  return html`<${Card} title=${t.signIn.domains} actions=${actions}>
    ${provider.domains.length === 0 ? html`<p class="muted">${t.signIn.noDomains} ${t.signIn.checkText}</p>`
      : html`<p>${t.signIn.domainsText}</p>
        <${Table} caption=${t.signIn.domains} columns=${COLUMNS} rows=${provider.domains}
          keyOf=${(/** @type {Domain} */ one) => one.domain} />`}
    ${error && html`<${Problem} error=${error} />`}
    ${checked && html`<${Result} checked=${checked} />`}
    ${isOpen && html`<${CheckToken} path=${path} onClose=${() => setIsOpen(false)} onChecked=${setChecked} />`}
  </${Card}>`;
}

/** @param {{ checked: Checked }} p */
function Result({ checked }) {
  const values = checked.proven.length === 0 ? t.signIn.noneProven
    : html`<div class="tags">${checked.proven.map((value) => html`<${Badge} tone="good">${value}</${Badge}>`)}</div>`;
  return html`<div role="status" class="list">
    ${checked.ok ? html`<p><${Badge} tone="good">${t.signIn.allRight}</${Badge}></p>`
      : html`<div class="problem"><strong>${t.signIn.problems(checked.problems.length)}</strong>
        <ul>${checked.problems.map((problem) => html`<li>${problem}</li>`)}</ul></div>`}
    <${Facts} entries=${[
      [t.signIn.confirmedIssuer, checked.issuer ?? t.signIn.notConfirmed],
      [t.signIn.provider, t.signIn.keys(checked.keys)], [t.signIn.provenNow, values]]} /></div>`;
}

/** @param {{ path: string, onClose: () => void, onChecked: (checked: Checked) => void }} p */
function CheckToken({ path, onClose, onChecked }) {
  const [token, setToken] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    onChecked((await request("POST", path, { body: { token: token.trim() }, quiet: true })).data);
    onClose();
  });
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} disabled=${!token.trim()} onClick=${run}>${t.signIn.check}</${Button}>`;
  return html`<${Dialog} title=${t.signIn.checkToken} onClose=${onClose} foot=${foot}><div class="form">
    <p>${t.signIn.tokenText}</p>
    <${Field} label=${t.signIn.token} hint=${t.signIn.tokenHint} error=${fieldError(error, "token")}>
      <textarea rows="5" name="token" value=${token} maxlength="16384" dir="ltr" spellcheck=${false} autocomplete="off"
        onInput=${(/** @type {any} */ event) => setToken(event.target.value)}></textarea></${Field}>
    ${error && html`<${Problem} error=${error} />`}</div></${Dialog}>`;
}
