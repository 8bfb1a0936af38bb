// One objective: its figures, check-ins and history, what it supports, and the summaries that cite it.

import { objectiveHref } from "../lib/addresses.js";
import { request } from "../lib/api.js";
import { useGet } from "../lib/data.js";
import { date, fullName } from "../lib/format.js";
import { Form } from "../lib/form.js";
import { Person } from "../lib/people.js";
import { href } from "../lib/router.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Facts, Id, Page, Prose, Shown, Status, Time } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { Act, actionsOf, References, stateOf, Verbs } from "./feedback_lists.js";
import { HistorySteps, SentBack, useHistory } from "./history.js";
import { CheckInSteps, Figures } from "./objectives_progress.js";

/** @typedef {import("../types").Objective} Objective */

/** @param {{ kind: string, id: string }} p `kind` is the segment of the address */
export function OneObjective({ kind, id }) {
  const expand = [can("employees:read") && "owner", can("summaries:read") && "linked_summaries", "parent"].filter(Boolean).join(",");
  const own = /** @type {"/employee-objectives/{}"} */ (`/${kind === "objectives" ? "employee-objectives" : kind}/${id}`);
  const first = useGet(own, { expand });
  // An id does not tell the scope of its objective.
  const wider = /** @type {"/employee-objectives/{}"} */ (`/manager-objectives/${id}`);
  const isWider = first.error?.status === 404 && kind === "objectives";
  const other = useGet(isWider ? wider : null, { expand });
  const [path, read] = isWider ? [wider, other] : [own, first];
  const [dialog, setDialog] = useState("");
  const close = () => setDialog("");
  const one = /** @type {Objective | null} */ (read.data);
  const history = useHistory(one && path);
  const actions = one && html`<${Verbs} names=${actionsOf(one)} onClick=${setDialog}>
    ${can("objectives:write") && !["completed", "missed", "archived"].includes(one.status) &&
      html`<${Button} onClick=${() => setDialog("edit")}>${t.edit}</${Button}>`}</${Verbs}>`;
  const owner = one?.owner ? html`<a class="person" href=${href(`/people/${one.owner_id}`)} dir="auto">${fullName(one.owner)}</a>`
    : one && html`<${Person} id=${one.owner_id} />`;
  return html`<${Page} title=${one?.title ?? t.work.objective} back=${{ href: href("/feedback", { view: "objectives" }), text: t.feedback.objectives }}
    actions=${actions} lead=${owner}>
    <${Shown} of=${read}>${(/** @type {Objective} */ data) => html`<div class="stack">
      ${stateOf(data) === "proposed" && html`<${SentBack} rows=${history.rows} />`}<div class="entry">
        <div class="entry-head"><${Status} word=${stateOf(data)} /><${Badge}>${t.words[data.scope] ?? data.scope}</${Badge}>
          ${data.changed_since_approval && html`<${Badge}>${t.feedback.changed}</${Badge}>`}
          <span class="muted time">${date(data.period_start)} – ${date(data.period_end)}</span></div>
        ${data.description && html`<${Prose}>${data.description}</${Prose}>`}
        <${Figures} of=${data} /><${References} of=${data} /></div>
      <div class="balance">
        <${Card} title=${t.progress.checkIns}><${CheckInSteps} path=${path} objective=${data} /></${Card}>
        <${Card} title=${t.feedback.details}><${Facts} entries=${[
          ...(data.parent ? [[t.work.supports, html`<a href=${objectiveHref(data.parent)} dir="auto">${data.parent.title}</a>`]] : []),
          ...(data.linked_summaries?.length ? [[t.feedback.citedIn, html`<ul>${data.linked_summaries.map((/** @type {any} */ cited) =>
            html`<li key=${cited.id}><a href=${href(`/feedback/summaries/${cited.id}`)} dir="auto">${cited.title}</a></li>`)}</ul>`]] : []),
          [t.created, html`<${Time} at=${data.created_at} />`], [t.id, html`<${Id} value=${data.id} />`]]} /></${Card}>
        <${Card} title=${t.feedback.history}><${HistorySteps} of=${history} /></${Card}>
      </div></div>`}</${Shown}>
    ${one && dialog === "edit" && html`<${Edit} path=${path} onClose=${close} onSaved=${read.reload} />`}
    ${one && dialog && dialog !== "edit" && html`<${Act} name=${dialog} path=${path} of=${one}
      onClose=${close} onDone=${read.reload} />`}
  </${Page}>`;
}

/** Changes the version that was stored when the dialog opened. @param {{ path: "/employee-objectives/{}", onClose: () => void, onSaved: () => void }} p */
function Edit({ path, onClose, onSaved }) {
  const stored = useGet(path);
  const [version] = [stored.isLoading ? null : stored];
  const [was, setWas] = useState(/** @type {any} */ (null));
  if (!was && version?.data) setWas({ data: version.data, etag: version.etag });
  if (!was) return null;
  /** @type {import("../lib/form.js").FieldOf[]} */
  const fields = [{ name: "title", label: t.work.title, isRequired: true, most: 200 },
    { name: "description", label: t.description, kind: "area", most: 4000, rows: 4 },
    { name: "period_start", label: t.work.from, kind: "date", isRequired: true, isHalf: true },
    { name: "period_end", label: t.work.to, kind: "date", isRequired: true }];
  const send = async (/** @type {any} */ values, /** @type {string | null} */ etag) => {
    await request("PATCH", path, { body: values, etag });
    toast(t.people.saved(was.data.title));
    onSaved();
  };
  return html`<${Form} title=${t.edit} action=${t.save} fields=${fields} send=${send} onClose=${onClose}
    of=${{ path, was: was.data, etag: was.etag, onReload: onSaved }} />`;
}
