// The answer of a person to a summary about them.

import { request } from "../lib/api.js";
import { Form } from "../lib/form.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Prose } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { self } from "./write.js";

/** @typedef {import("../types").Summary} Summary */

/** @param {{ of: Summary, onDone: () => void }} p */
export function Answer({ of, onDone }) {
  const [isOpen, setIsOpen] = useState(false);
  const given = of.employee_feedback;
  const isMine = of.status === "shared" && of.employee_id === self() && can("summaries:write");
  const send = async (/** @type {any} */ values) => {
    await request("POST", `/summaries/${of.id}/feedback`, { body: { comment: values.comment, acknowledged: values.acknowledged === "true" } });
    toast(t.work.answered);
    onDone();
  };
  /** @type {import("../lib/form.js").FieldOf[]} */
  const fields = [{ name: "comment", label: t.feedback.answer, kind: "area", most: 2000, rows: 4 },
    { name: "acknowledged", label: t.work.acknowledge, kind: "select", isRequired: true, options: [["false", t.work.notAcknowledged], ["true", t.work.acknowledged]] }];
  return html`${given && html`<div><span class="muted">${t.feedback.answer}</span>
      ${given.acknowledged && html` <${Badge} tone="good">${t.work.acknowledged}</${Badge}>`}
      ${given.comment && html`<${Prose}>${given.comment}</${Prose}>`}</div>`}
    ${isMine && html`<div class="actions"><${Button} kind="primary" onClick=${() => setIsOpen(true)}>${t.work.reply}</${Button}></div>`}
    ${isOpen && html`<${Form} title=${t.work.reply} action=${t.save} fields=${fields} send=${send} onClose=${() => setIsOpen(false)}
      first=${{ comment: given?.comment ?? "", acknowledged: String(given?.acknowledged ?? true) }} />`}`;
}
