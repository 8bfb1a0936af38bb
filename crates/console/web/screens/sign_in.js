// Sign-in of people: the providers of the organization, and one provider with its state, addresses, domains and links.

import { request } from "../lib/api.js";
import { useGet, useList } from "../lib/data.js";
import { Confirm } from "../lib/dialog.js";
import { words } from "../lib/format.js";
import { go, href, useRoute } from "../lib/router.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Copy, Empty, Facts, Id, More, Page, Shown, Status, Table, Time } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { Domains } from "./sign_in_check.js";
import { Edit, lifetimeText, NO_CLIENT } from "./sign_in_form.js";
import { Links } from "./sign_in_links.js";

/** @typedef {import("../types").IdentityProvider} IdentityProvider */

/** Address of the screen below `/console`. */
const SCREEN = "/settings/sign-in";

export default function SignIn() {
  const id = useRoute().path.slice(SCREEN.length + 1);
  return id ? html`<${Provider} id=${id} />` : html`<${Providers} />`;
}

function Providers() {
  const providers = useList("/identity-providers");
  const [isNew, setIsNew] = useState(false);
  const actions = can("settings:write") &&
    html`<${Button} kind="primary" onClick=${() => setIsNew(true)}>${t.signIn.connect}</${Button}>`;
  const columns = [
    { name: "name", label: t.signIn.provider, isMain: true, cell: (/** @type {IdentityProvider} */ one) => html`
      <a href=${href(`${SCREEN}/${one.id}`)} dir="auto">${one.name}</a><span class="cell-note">${one.issuer}</span>` },
    { name: "state", label: t.state, cell: (/** @type {IdentityProvider} */ one) => html`<${Status} word=${one.status} />` },
    { name: "rule", label: t.signIn.linkBy,
      cell: (/** @type {IdentityProvider} */ one) => t.signIn.rules[one.link_by] ?? words(one.link_by) },
    { name: "last", label: t.signIn.lastSignIn,
      cell: (/** @type {IdentityProvider} */ one) => html`<${Time} at=${one.last_sign_in_at} none=${t.never} />` },
  ];
  return html`<${Page} title=${t.screens.signIn} lead=${t.signIn.lead} actions=${actions}>
    <${Shown} of=${providers} empty=${html`<${Empty} title=${t.signIn.none} text=${t.signIn.noneText} />`}>
      ${(/** @type {IdentityProvider[]} */ rows) => html`
      <${Table} caption=${t.screens.signIn} columns=${columns} rows=${rows} />`}</${Shown}>
    ${isNew && html`<${Edit} onClose=${() => setIsNew(false)}
      onSaved=${(/** @type {IdentityProvider} */ made) => go(`${SCREEN}/${made.id}`)} />`}
  </${Page}>`;
}

/** @param {{ id: string }} p */
function Provider({ id }) {
  const provider = useGet(`/identity-providers/${id}`);
  const [dialog, setDialog] = useState("");
  const close = () => setDialog("");
  const one = provider.data;
  const mayWrite = can("settings:write");
  const open = (/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ kind = "") =>
    html`<${Button} kind=${kind} onClick=${() => setDialog(name)}>${text}</${Button}>`;
  const actions = one && mayWrite && html`${one.status === "disabled" && open("enable", t.signIn.enable, "primary")}${open("edit", t.edit)}
    <${More}>${one.status !== "disabled" && open("disable", t.signIn.disable, "danger")}${open("delete", t.delete, "danger")}</${More}>`;
  const set = async (/** @type {"active" | "disabled"} */ status) => {
    await request("PATCH", `/identity-providers/${id}`, { body: { status } });
    toast(status === "active" ? t.signIn.enabled : t.signIn.disabled);
  };
  const remove = async () => {
    await request("DELETE", `/identity-providers/${id}`);
    go(SCREEN);
    toast(t.signIn.deleted);
  };
  return html`<${Page} title=${one ? one.name : t.signIn.provider} lead=${one && t.signIn.states[one.status]}
    actions=${actions} back=${{ href: href(SCREEN), text: t.screens.signIn }}>
    <${Shown} of=${provider}>${(/** @type {IdentityProvider} */ shown) => html`<div class="stack">
      ${shown.client_id === NO_CLIENT && html`<div class="sent-back"><strong>${t.signIn.noClient}</strong><p>${t.signIn.noClientText}</p>
        ${mayWrite && html`<div class="actions">${open("edit", t.signIn.enterClient, "primary")}</div>`}</div>
        <${Addresses} id=${id} />`}
      <${State} provider=${shown} />
      ${shown.client_id !== NO_CLIENT && html`<${Addresses} id=${id} />`}
      <${Domains} provider=${shown} mayWrite=${mayWrite} />
      <${Links} id=${id} mayWrite=${mayWrite} /></div>`}</${Shown}>
    ${one && dialog === "edit" &&
      html`<${Edit} provider=${one} etag=${provider.etag} onClose=${close} onSaved=${provider.reload} />`}
    ${one && dialog === "disable" && html`<${Confirm} title=${t.signIn.disable} text=${t.signIn.disableText(one.name)}
      action=${t.signIn.disable} kind="danger" onClose=${close} work=${() => set("disabled")} />`}
    ${one && dialog === "enable" && html`<${Confirm} title=${t.signIn.enable} text=${t.signIn.enableText(one.name)}
      action=${t.signIn.enable} onClose=${close} work=${() => set("active")} />`}
    ${one && dialog === "delete" && html`<${Confirm} title=${t.signIn.deleteIt} text=${t.signIn.deleteText(one.name)}
      action=${t.signIn.deleteIt} kind="danger" onClose=${close} work=${remove} />`}
  </${Page}>`;
}

/** @param {string[]} values @param {string} none */
const tags = (values, none) => values.length === 0 ? none
  : html`<div class="tags">${values.map((value) => html`<${Badge}>${value}</${Badge}>`)}</div>`;

/** @param {{ provider: IdentityProvider }} p */
function State({ provider: one }) {
  const entries = [
    [t.state, html`<${Status} word=${one.status} />`],
    [t.signIn.lastSignIn, html`<${Time} at=${one.last_sign_in_at} none=${t.never} />`],
    [t.signIn.issuer, one.issuer],
    [t.signIn.clientId, one.client_id === NO_CLIENT ? "–" : one.client_id],
    [t.signIn.secret, one.client_secret_set ? t.signIn.secretSet : t.signIn.noSecret],
    [t.signIn.linkBy, t.signIn.rules[one.link_by] ?? words(one.link_by)],
    ...(one.link_by === "scim_external_id" ? [[t.signIn.subjectClaim, one.subject_claim]] : []),
    [t.signIn.lifetime, lifetimeText(one.session_lifetime)],
    [t.signIn.adminSessions, one.admin_sessions ? t.signIn.isAdmin : t.signIn.isNoAdmin],
    [t.signIn.acr, one.required_acr ?? "–"],
    [t.signIn.audiences, tags(one.audiences, t.signIn.noTokens)],
    ...(one.audiences.length === 0 ? [] : [
      [t.signIn.parties, tags(one.authorized_parties, t.signIn.everyClient)],
      [t.signIn.fromToken, one.scopes_from_token ? t.signIn.isFromToken : t.signIn.isNotFromToken]]),
    [t.created, html`<${Time} at=${one.created_at} />`],
    [t.id, html`<${Id} value=${one.id} />`],
  ];
  return html`<${Card} title=${t.signIn.settings}><${Facts} entries=${entries} />
    <${Facts} isWide entries=${[[t.signIn.scopes, tags(one.scopes, "–")]]} /></${Card}>`;
}

/** @param {{ id: string }} p */
function Addresses({ id }) {
  const copied = (/** @type {string} */ text, /** @type {string} */ label) =>
    html`<code>${text}</code> <${Copy} value=${text} label=${label} />`;
  const api = `${location.origin}/v1/sign-in`;
  return html`<${Card} title=${t.signIn.addresses}><p>${t.signIn.addressesText}</p><${Facts} isWide entries=${[
    [t.signIn.redirect, copied(`${api}/callback/${id}`, t.signIn.redirect)],
    [t.signIn.backchannel, copied(`${api}/backchannel-logout/${id}`, t.signIn.backchannel)],
    [t.signIn.afterLogout, html`${copied(`${location.origin}/console`, t.signIn.afterLogout)}
      <span class="cell-note">${t.signIn.afterLogoutHint}</span>`],
  ]} /></${Card}>`;
}
