// Sets up an identity provider: its connector, the token, and the URL to copy.

import { request } from "../lib/api.js";
import { Dialog } from "../lib/dialog.js";
import { Form } from "../lib/form.js";
import { Button, Copy } from "../lib/ui.js";
import { html, useRef, useState } from "../lib/view.js";
import { t } from "../texts.js";

/** URL to which the provider sends its requests. */
export const tenant = () => `${location.origin}/scim/v2`;

/** A name as the source of managed people: "Entra ID" is `entra-id`. @param {string} name */
const sourceOf = (name) => name.normalize("NFD").toLowerCase().replaceAll(/[^a-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "").slice(0, 64);

/** @param {{ onClose: () => void }} p */
export function SetUp({ onClose }) {
  const connector = useRef("");
  const [token, setToken] = useState("");
  const send = async (/** @type {any} */ { hris_source, environment, allowed_networks }) => {
    // After a refused token, the connector is there.
    if (!connector.current) {
      const { data } = await request("POST", "/connectors", { body: { type: "scim", hris_source: sourceOf(hris_source) } });
      connector.current = data.id;
    }
    const networks = (allowed_networks ?? "").split(/[\s,]+/).filter(Boolean);
    const { data } = await request("POST", "/api-keys",
      { body: { name: hris_source, scopes: ["scim"], connector_id: connector.current, environment, allowed_networks: networks } });
    setToken(data.key);
  };
  /** @type {import("../lib/form.js").FieldOf[]} */
  const fields = [{ name: "hris_source", label: t.work.scim.name, isRequired: true, most: 64, hint: t.work.scim.nameHint },
    { name: "environment", label: t.work.scim.data, kind: "select", isRequired: true, options: [["live", t.environments.live], ["test", t.environments.test]] },
    { name: "allowed_networks", label: t.work.scim.networks, kind: "area", rows: 2, hint: t.keys.networksHint }];
  if (!token) {
    return html`<${Form} title=${t.work.scim.create} text=${t.work.scim.text} fields=${fields} send=${send} isOpenAfter onClose=${onClose} />`;
  }
  const line = (/** @type {string} */ label, /** @type {string} */ value) => html`<div class="field"><span class="field-label">${label}</span>
    <div class="secret"><code>${value}</code><${Copy} value=${value} label=${label} /></div></div>`;
  return html`<${Dialog} title=${t.work.scim.create} onClose=${onClose} loses=${t.secretLoses}
    foot=${html`<${Button} kind="primary" onClick=${onClose}>${t.stored}</${Button}>`}>
    <p>${t.work.scim.once}</p>${line(t.work.scim.tenant, tenant())}${line(t.work.scim.token, token)}<p class="muted">${t.work.scim.next}</p></${Dialog}>`;
}
