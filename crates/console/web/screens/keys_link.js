// A portal link: opens the console once for another person, with a key of its own that ends by itself.

import { request } from "../lib/api.js";
import { useAction } from "../lib/data.js";
import { Dialog, Secret } from "../lib/dialog.js";
import { time } from "../lib/format.js";
import { can, session } from "../lib/session.js";
import { Button, Field, Problem, fieldError } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").PortalLink} PortalLink */
/** @typedef {{ scopes: string[], read_only: boolean, access_level: string, start: string }} Access */

const LIFETIMES = ["900", "3600", "28800", "86400"];
const ONE_HOUR = "3600";

/** Kinds of access that a link offers, without those that this key cannot grant. */
function kinds() {
  const me = session.value?.me;
  const [scopes, level] = [me?.scopes ?? [], me?.access_level ?? "standard"];
  /** @type {Record<string, Access>} */
  const offered = {};
  const narrow = (/** @type {string} */ name, /** @type {string[]} */ wanted, /** @type {string} */ start) => {
    const own = wanted.filter(can);
    if (own.length > 0) offered[name] = { scopes: own, read_only: true, access_level: "standard", start };
  };
  narrow("webhooks", ["webhooks:read", "events:read"], "/webhooks");
  narrow("people", ["employees:read"], "/people");
  offered.reads = { scopes, read_only: true, access_level: level, start: "/" };
  offered.everything = { scopes, read_only: false, access_level: level, start: "/" };
  return offered;
}

/** @param {{ onClose: () => void }} p */
export function CreateLink({ onClose }) {
  const offered = kinds();
  const [name, setName] = useState("");
  const [kind, setKind] = useState(Object.keys(offered)[0] ?? "reads");
  const [seconds, setSeconds] = useState(ONE_HOUR);
  const [link, setLink] = useState(/** @type {PortalLink | null} */ (null));
  const { run, isBusy, error } = useAction(async () => {
    const body = { ...offered[kind], ...(name.trim() && { name: name.trim() }), expires_in: Number(seconds) };
    setLink((await request("POST", "/portal-links", { body })).data);
  });
  if (link) {
    const text = t.links.createdText(time(link.link_expires_at ?? ""), time(link.expires_at ?? ""));
    return html`<${Secret} title=${t.links.created} text=${text} value=${link.url} onClose=${onClose} />`;
  }
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} onClick=${run}>${t.create}</${Button}>`;
  const choice = (/** @type {string} */ label, /** @type {string} */ value,
    /** @type {(value: string) => void} */ set, /** @type {[string, string][]} */ options) => html`
    <${Field} label=${label}>
      <select value=${value} onChange=${(/** @type {any} */ event) => set(event.target.value)}>
      ${options.map(([word, text]) => html`<option value=${word}>${text}</option>`)}</select></${Field}>`;
  return html`<${Dialog} title=${t.links.create} onClose=${onClose} foot=${foot}><div class="form">
    <p>${t.links.text}</p>
    <${Field} label=${t.name} hint=${t.links.nameHint} error=${fieldError(error, "name")}>
      <input name="name" value=${name} maxlength="80"
        onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></${Field}>
    <div class="form-row">
      ${choice(t.links.access, kind, setKind, Object.keys(offered).map((word) => [word, t.links.kinds[word]]))}
      ${choice(t.links.lifetime, seconds, setSeconds, LIFETIMES.map((word) => [word, t.links.lifetimes[word]]))}
    </div>
    ${error && html`<${Problem} error=${error} />`}</div></${Dialog}>`;
}
