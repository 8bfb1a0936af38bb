// Connectors to HR systems: last upload, its problems, mapped fields, and the release of people.

import { request } from "../lib/api.js";
import { useAction, useList } from "../lib/data.js";
import { Confirm, Dialog } from "../lib/dialog.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Empty, Facts, Field, Id, Page, Problem, Shown, Status, Time,
  fieldError } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { SetUp, tenant } from "./connectors_scim.js";
import { Provider } from "./provider.js";

/** @typedef {import("../types").Connector} Connector */

export default function Connectors() {
  const connectors = useList("/connectors");
  const [isNew, setIsNew] = useState(false);
  const [isScim, setIsScim] = useState(false);
  const [released, setReleased] = useState(/** @type {Connector | null} */ (null));
  const mayWrite = can("settings:write");
  const release = async () => {
    const { data } = await request("POST", `/connectors/${released?.id}/release`);
    toast(t.connectors.released(data.released));
    connectors.reload();
  };
  const actions = (/** @type {string} */ kind) => mayWrite && html`<${Button} kind=${kind} onClick=${() => setIsNew(true)}>${t.connectors.create}</${Button}>
    ${can("scim") && html`<${Button} onClick=${() => setIsScim(true)}>${t.work.scim.create}</${Button}>`}`;
  return html`<${Page} title=${t.screens.connectors} lead=${t.connectors.lead} actions=${actions("primary")}>
    <${Shown} of=${connectors}
      empty=${html`<${Empty} title=${t.connectors.none} text=${t.connectors.noneText}>${actions("")}</${Empty}>`}>
      ${(/** @type {Connector[]} */ rows) => html`
      <div class="stack">${rows.map((one) => html`<${Card} key=${one.id} title=${one.hris_source}
        actions=${mayWrite &&
          html`<${Button} onClick=${() => setReleased(one)}>${t.connectors.release}</${Button}>`}>
        <${Facts}
          entries=${[[t.state, html`<${Status} word=${one.status} />`], ...(one.type === "scim" ? [] : [
            [t.connectors.last, html`<${Time} at=${one.last_sync_at} none=${t.never} />`],
          [t.connectors.result, one.last_sync_status ? html`<${Status} word=${one.last_sync_status} />` : "–"],
          [t.connectors.mapped,
            one.mapped_custom_field_keys.length
              ? html`<div class="tags">
                ${one.mapped_custom_field_keys.map((field) => html`<${Badge}>${field}</${Badge}>`)}</div>` : "–"]]),
          ...(one.type === "scim" ? [[t.work.scim.tenant, html`<${Id} value=${tenant()} />`]] : []),
          [t.id, html`<${Id} value=${one.id} />`]]} />
        ${one.type === "scim" && html`<${Provider} connector=${one} onChange=${connectors.reload} />`}
        ${one.last_sync_message &&
          html`<div class="problem"><strong>${t.connectors.issue}</strong>
            <p class="prose" dir="auto">${one.last_sync_message}</p></div>`}
      </${Card}>`)}</div>`}</${Shown}>
    ${isScim && html`<${SetUp} onClose=${() => setIsScim(false)} />`}
    ${isNew && html`<${Create} onClose=${() => setIsNew(false)} onSaved=${connectors.reload} />`}
    ${released &&
      html`<${Confirm} title=${t.connectors.release} text=${t.connectors.releaseText(released.hris_source)}
        action=${t.connectors.release} kind="danger"
      onClose=${() => setReleased(null)} work=${release} />`}
  </${Page}>`;
}

/** @param {{ onClose: () => void, onSaved: () => void }} p */
function Create({ onClose, onSaved }) {
  const [source, setSource] = useState("");
  const [kind, setKind] = useState("csv_feed");
  const [fields, setFields] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    const keys = fields.split(",").map((one) => one.trim()).filter(Boolean);
    const body = { type: kind, hris_source: source.trim(), mapped_custom_field_keys: keys };
    await request("POST", "/connectors", { body });
    onSaved();
    onClose();
  });
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} disabled=${!source.trim()} onClick=${run}>${t.create}</${Button}>`;
  return html`<${Dialog} title=${t.connectors.create} onClose=${onClose} foot=${foot}><div class="form">
    <${Field} label=${t.connectors.type} hint=${t.connectors.typeHint} error=${fieldError(error, "type")}>
      <select value=${kind} onChange=${(/** @type {any} */ event) => setKind(event.target.value)}>
        <option value="csv_feed">${t.connectors.csv}</option>
        <option value="scim">${t.connectors.scim}</option></select></${Field}>
    <${Field} label=${t.connectors.source} hint=${t.connectors.sourceHint}
      error=${fieldError(error, "hris_source")}>
      <input value=${source} maxlength="64"
        onInput=${(/** @type {any} */ event) => setSource(event.target.value)} /></${Field}>
    <${Field} label=${t.connectors.mapped} hint=${t.connectors.mappedHint}
      error=${fieldError(error, "mapped_custom_field_keys")}>
      <input value=${fields} onInput=${(/** @type {any} */ event) => setFields(event.target.value)} /></${Field}>
    ${error && html`<${Problem} error=${error} />`}</div></${Dialog}>`;
}
