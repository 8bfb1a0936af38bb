// The form of a provider, in groups: the client, people, access, and programs with tokens.

import { request } from "../lib/api.js";
import { useAction } from "../lib/data.js";
import { Dialog } from "../lib/dialog.js";
import { words } from "../lib/format.js";
import { can } from "../lib/session.js";
import { changed, Stale } from "../lib/stale.js";
import { toast } from "../lib/toast.js";
import { Button, Field, Problem, fieldError } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").IdentityProvider} IdentityProvider */
/** @typedef {import("../lib/api.js").ApiError} ApiError */
/** @typedef {ReturnType<typeof formOf>} Form */
/** @typedef {{ form: Form, set: (changes: Partial<Form>) => void, error: ApiError | null, provider?: IdentityProvider }} Part */

const OWN = ["observations", "objectives", "summaries", "conversations", "assignments", "notifications"];
/** Scopes of a new provider, as the API chooses them. */
const DEFAULT_SCOPES = [...OWN.flatMap((one) => [`${one}:read`, `${one}:write`]), "employees:read"];
const SCOPES = [...DEFAULT_SCOPES, "employees:write", "events:read", "webhooks:read", "webhooks:write"];
const DEFAULT_LIFETIME = 43_200;
/** Client id of a provider whose client does not exist yet: the provider asks for our addresses before it makes one. */
export const NO_CLIENT = "not-registered-yet";
const LIFETIMES = [900, 3600, 28_800, DEFAULT_LIFETIME, 86_400];

/** @param {number} seconds */
export const lifetimeText = (seconds) => t.signIn.form.lifetimes[seconds] ?? t.signIn.form.seconds(seconds);

const listOf = (/** @type {string} */ text) => [...new Set(text.split(/[\s,]+/).filter(Boolean))];
const linesOf = (/** @type {string} */ text) => [...new Set(text.split("\n").map((line) => line.trim()).filter(Boolean))];

/** @param {IdentityProvider} [one] */
const formOf = (one) => ({
  name: one?.name ?? "", issuer: one?.issuer ?? "https://", client_id: one && one.client_id !== NO_CLIENT ? one.client_id : "", secret: "", isPublic: false,
  link_by: one?.link_by ?? "verified_email", subject_claim: one?.subject_claim ?? "sub",
  email_domains: one?.email_domains.join("\n") ?? "", audiences: one?.audiences.join("\n") ?? "",
  authorized_parties: one?.authorized_parties.join("\n") ?? "",
  scopes: /** @type {string[]} */ (one?.scopes ?? DEFAULT_SCOPES.filter(can)),
  scopes_from_token: one?.scopes_from_token ?? false, admin_sessions: one?.admin_sessions ?? false,
  session_lifetime: one?.session_lifetime ?? DEFAULT_LIFETIME, required_acr: one?.required_acr ?? "",
});

/** Members of the provider as the form has them. @param {Form} form */
const typedOf = ({ secret: _, isPublic: __, ...form }) => ({
  ...form, name: form.name.trim(), issuer: form.issuer.trim(), client_id: form.client_id.trim(),
  subject_claim: form.subject_claim.trim() || "sub", email_domains: listOf(form.email_domains),
  audiences: linesOf(form.audiences), authorized_parties: linesOf(form.authorized_parties),
  required_acr: form.required_acr.trim() || null,
});

/** The client secret, if the form changes it. @param {Form} form */
const secretOf = ({ secret, isPublic }) => isPublic ? { client_secret: null } : secret ? { client_secret: secret } : {};

/** @param {{ provider?: IdentityProvider, etag?: string | null, onClose: () => void, onSaved: (saved: any) => void }} p */
export function Edit({ provider, etag, onClose, onSaved }) {
  const [was] = useState(provider);
  const [form, setForm] = useState(() => formOf(provider));
  const set = (/** @type {Partial<Form>} */ changes) => setForm((before) => ({ ...before, ...changes }));
  const typed = typedOf(form);
  const changes = { ...changed(typed, was ?? {}), ...secretOf(form) };
  const { run, isBusy, error } = useAction(async (/** @type {string | null | undefined} */ match, client = {}) => {
    const { data } = provider
      ? await request("PATCH", `/identity-providers/${provider.id}`, { body: changes, etag: match })
      : await request("POST", "/identity-providers", { body: { ...typed, ...secretOf(form), ...client } });
    toast(t.signIn.saved);
    onSaved(data);
    onClose();
  });
  if (error?.status === 412 && provider) {
    return html`<${Stale} path=${`/identity-providers/${provider.id}`} was=${was} fields=${Object.keys(typed)}
      mine=${changed(typed, was ?? {})} onClose=${onClose} onSave=${run} onReload=${onSaved} />`;
  }
  const isNamed = typed.name && typed.issuer && typed.scopes.length > 0;
  const isReady = isNamed && typed.client_id;
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    ${!provider && !isReady && html`<${Button} busy=${isBusy} disabled=${!isNamed}
      onClick=${() => run(etag, { client_id: NO_CLIENT })}>${t.signIn.addressesFirst}</${Button}>`}
    <${Button} kind="primary" busy=${isBusy} disabled=${!isReady} onClick=${() => run(etag)}>
      ${provider ? t.save : t.signIn.connect}</${Button}>`;
  const part = { form, set, error, provider };
  return html`<${Dialog} title=${provider ? t.edit : t.signIn.connect} onClose=${onClose} foot=${foot}>
    <div class="form"><${Client} ...${part} /><${People} ...${part} /><${Access} ...${part} /><${Programs} ...${part} />
    ${error && html`<${Problem} error=${error} />`}</div></${Dialog}>`;
}

/** A group of fields with its explanation. @param {{ title: string, text: string, children?: any }} p */
const Group = ({ title, text, children }) =>
  html`<fieldset class="group"><legend>${title}</legend><p class="hint">${text}</p>${children}</fieldset>`;

/** A field of one line. @param {Part & { name: "name" | "issuer" | "client_id" | "secret" | "subject_claim" | "required_acr",
 *   label: string, hint?: string, most: number, isSecret?: boolean, isFixed?: boolean, field?: string }} p */
const Line = ({ form, set, error, name, label, hint, most, isSecret, isFixed, field = name }) => html`
  <${Field} label=${label} hint=${hint} error=${fieldError(error, field)}>
    <input name=${field} value=${form[name]} maxlength=${most} spellcheck=${false} disabled=${isFixed}
      type=${isSecret ? "password" : "text"} autocomplete=${isSecret ? "new-password" : "off"}
      onInput=${(/** @type {any} */ event) => set({ [name]: event.target.value })} /></${Field}>`;

/** A field with a value in each line. @param {Part & { name: "email_domains" | "audiences" | "authorized_parties", label: string, hint: string }} p */
const Lines = ({ form, set, error, name, label, hint }) => html`
  <${Field} label=${label} hint=${hint} error=${fieldError(error, name)}>
    <textarea rows="2" name=${name} value=${form[name]} dir="ltr" spellcheck=${false}
      onInput=${(/** @type {any} */ event) => set({ [name]: event.target.value })}></textarea></${Field}>`;

/** @param {Part & { name: "scopes_from_token" | "admin_sessions" | "isPublic", label: string, hint?: string }} p */
const Check = ({ form, set, name, label, hint }) => html`<div><label class="check">
  <input type="checkbox" checked=${form[name]}
    onChange=${(/** @type {any} */ event) => set({ [name]: event.target.checked })} /><span>${label}</span></label>
  ${hint && html`<span class="hint">${hint}</span>`}</div>`;

/** @param {Part} part */
function Client(part) {
  const { form, provider } = part;
  const f = t.signIn.form;
  const isOther = provider && provider.client_secret_set && form.client_id.trim() !== provider.client_id;
  const secretHint = isOther ? f.secretOther : provider?.client_secret_set ? f.secretKeep : f.secretNew;
  return html`<${Group} title=${f.who} text=${f.whoText}>
    <${Line} ...${part} name="name" label=${f.name} hint=${f.nameHint} most=${80} />
    <${Line} ...${part} name="issuer" label=${t.signIn.issuer} hint=${provider ? f.issuerFixed : f.issuerHint} most=${2000}
      isFixed=${Boolean(provider)} />
    <${Line} ...${part} name="client_id" label=${t.signIn.clientId} most=${255} />
    ${!form.isPublic && html`<${Line} ...${part} name="secret" field="client_secret" label=${t.signIn.secret}
      hint=${secretHint} most=${1024} isSecret />`}
    ${provider?.client_secret_set && html`<${Check} ...${part} name="isPublic" label=${f.secretNone} />`}</${Group}>`;
}

/** @param {Part} part */
function People(part) {
  const { form, set, error } = part;
  const f = t.signIn.form;
  return html`<${Group} title=${f.people} text=${f.peopleText}>
    <${Field} label=${t.signIn.linkBy} hint=${f.linkHint} error=${fieldError(error, "link_by")}>
      <select name="link_by" value=${form.link_by}
        onChange=${(/** @type {any} */ event) => set({ link_by: event.target.value })}>
      ${Object.entries(t.signIn.rules).map(([word, text]) => html`<option value=${word}>${text}</option>`)}</select></${Field}>
    ${form.link_by === "scim_external_id" &&
      html`<${Line} ...${part} name="subject_claim" label=${t.signIn.subjectClaim} hint=${f.claimHint} most=${64} />`}
    <${Lines} ...${part} name="email_domains" label=${t.signIn.domains} hint=${f.domainsHint} /></${Group}>`;
}

/** @param {Part} part */
function Access(part) {
  const { form, set, error, provider } = part;
  const f = t.signIn.form;
  const toggle = (/** @type {string} */ scope) => set({ scopes: form.scopes.includes(scope)
    ? form.scopes.filter((other) => other !== scope) : [...form.scopes, scope] });
  // A provider that a program has set up may have other scopes than those that are offered.
  const offered = [...new Set([...SCOPES.filter(can), ...(provider?.scopes ?? [])])];
  const lifetimes = [...new Set([...LIFETIMES, form.session_lifetime])].sort((one, other) => one - other);
  return html`<${Group} title=${f.access} text=${f.accessText}>
    <fieldset class="checks"><legend class="field-label">${t.signIn.scopes}</legend>
      ${offered.map((scope) => html`<label key=${scope} class="check"><input type="checkbox"
        checked=${form.scopes.includes(scope)} onChange=${() => toggle(scope)} />
        <span>${scope === "*" ? t.keys.all : words(scope.replace(":", " · "))}</span></label>`)}</fieldset>
    <${Check} ...${part} name="admin_sessions" label=${f.admin} hint=${f.adminHint} />
    <${Field} label=${t.signIn.lifetime} hint=${f.lifetimeHint} error=${fieldError(error, "session_lifetime")}>
      <select name="session_lifetime" value=${String(form.session_lifetime)}
        onChange=${(/** @type {any} */ event) => set({ session_lifetime: Number(event.target.value) })}>
      ${lifetimes.map((one) => html`<option value=${one}>${lifetimeText(one)}</option>`)}</select></${Field}>
    <${Line} ...${part} name="required_acr" label=${t.signIn.acr} hint=${f.acrHint} most=${255} /></${Group}>`;
}

/** @param {Part} part */
function Programs(part) {
  const f = t.signIn.form;
  return html`<${Group} title=${f.programs} text=${f.programsText}>
    <${Lines} ...${part} name="audiences" label=${t.signIn.audiences} hint=${f.audiencesHint} />
    <${Lines} ...${part} name="authorized_parties" label=${t.signIn.parties} hint=${f.partiesHint} />
    <${Check} ...${part} name="scopes_from_token" label=${f.fromToken} /></${Group}>`;
}
