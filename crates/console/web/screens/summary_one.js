// One summary beside what it cites. A draft is edited there, and those who may change it see its earlier versions.

import { objectiveHref } from "../lib/addresses.js";
import { request } from "../lib/api.js";
import { useAction, useGet, useList } from "../lib/data.js";
import { Confirm } from "../lib/dialog.js";
import { date, fullName, percent, short } from "../lib/format.js";
import { Person } from "../lib/people.js";
import { href } from "../lib/router.js";
import { can, isAdmin } from "../lib/session.js";
import { Stale } from "../lib/stale.js";
import { toast } from "../lib/toast.js";
import { Button, Card, Closed, Field, Page, Problem, Prose, Shown, Status, Time, fieldError } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { Act, summaryActionsOf, Verbs } from "./feedback_lists.js";
import { Actor, SentBack, useHistory } from "./history.js";
import { Answer } from "./summary_answer.js";
import { self } from "./write.js";

/** @typedef {import("../types").Summary} Summary */
/** @typedef {{ title: string, body: string, included_observation_ids: string[], included_objective_ids: string[] }} Draft */

const MEMBERS = /** @type {(keyof Draft)[]} */ (["title", "body", "included_observation_ids", "included_objective_ids"]);

/** @param {{ id: string }} p */
export function OneSummary({ id }) {
  const path = /** @type {"/summaries/{}"} */ (`/summaries/${id}`);
  const expand = [can("employees:read") && "employee", can("observations:read") && "included_observations",
    can("objectives:read") && "included_objectives"].filter(Boolean).join(",") || null;
  const read = useGet(path, { expand });
  const [dialog, setDialog] = useState("");
  const [draft, setDraft] = useState(/** @type {{ was: Summary, etag: string | null, form: Draft } | null} */ (null));
  const one = /** @type {Summary | null} */ (read.data);
  // The person that a summary is shared with sees no earlier text.
  const isOnlyShared = one?.employee_id === self() && one.author_id !== self() && !isAdmin();
  const history = useHistory(one && !isOnlyShared ? path : null);
  const begin = useAction(async () => {
    const { data, etag } = await request("GET", path);
    const was = /** @type {Summary} */ (/** @type {unknown} */ (data));
    setDraft({ was, etag, form: /** @type {Draft} */ (Object.fromEntries(MEMBERS.map((name) => [name, was[name]]))) });
  });
  const actions = one && !draft && html`
    ${can("summaries:write") && html`<${Verbs} names=${summaryActionsOf(one)} onClick=${setDialog}>
      ${one.status === "draft" && html`<${Button} busy=${begin.isBusy} onClick=${begin.run}>${t.edit}</${Button}>`}</${Verbs}>`}`;
  const lead = one && html`<span>${one.employee ? html`<a class="person" href=${href(`/people/${one.employee_id}`)} dir="auto">${fullName(one.employee)}</a>`
    : html`<${Person} id=${one.employee_id} />`}${one.author_id && html` · ${t.feedback.by} <${Person} id=${one.author_id} />`}</span>`;
  return html`<${Page} title=${one?.title ?? t.work.summary} lead=${lead} actions=${actions}
    back=${{ href: href("/feedback", { view: "summaries" }), text: t.feedback.summaries }}>
    ${begin.error && html`<${Problem} error=${begin.error} />`}
    ${one?.status === "draft" && html`<${SentBack} rows=${history.rows} />`}
    <${Shown} of=${read}>${(/** @type {Summary} */ data) => draft
      ? html`<${Editor} path=${path} draft=${draft} onChange=${(/** @type {Draft} */ form) => setDraft({ ...draft, form })}
        onClose=${() => setDraft(null)} onSaved=${read.reload} />`
      : html`<div class="beside"><article class="entry"><div class="entry-head"><${Status} word=${data.status} />
          ${data.period_start && html`<span class="muted">${date(data.period_start)} – ${date(data.period_end ?? data.period_start)}</span>`}
          <span class="muted time"><${Time} at=${data.updated_at} /></span></div>
        <${Prose}>${data.body || t.work.noBody}</${Prose}><${Answer} of=${data} onDone=${read.reload} /></article>
        <${Cited} of=${data} /></div>`}</${Shown}>
    ${one && !draft && !isOnlyShared && html`<${Versions} of=${history} />`}
    ${one && dialog && html`<${Act} name=${dialog} path=${path} of=${one} onClose=${() => setDialog("")} onDone=${read.reload} />`}
  </${Page}>`;
}

/** @param {{ row: any }} p */
const ObservationLine = ({ row }) => html`<${Status} word=${row.type} /><${Closed} of=${row} />
  <span class="grow"><a href=${href(`/feedback/${row.id}`)} dir="auto">${short(row.observation, 280)}</a></span>
  <span class="muted">${date(row.observation_date)}</span>`;

/** @param {{ row: any }} p */
const ObjectiveLine = ({ row }) => html`<${Status} word=${row.status} />
  <span class="grow"><a href=${objectiveHref(row)} dir="auto">${row.title}</a></span>
  <span class="muted">${row.progress === null ? "" : percent(row.progress, 100)}</span>`;

/** The objectives and observations that the summary cites. @param {{ of: Summary }} p */
function Cited({ of }) {
  const observations = of.included_observations ?? [];
  const objectives = of.included_objectives ?? [];
  return observations.length + objectives.length > 0 && html`<${Card} title=${t.work.cited}>
    <ul class="attention">${observations.map((row) => html`<li key=${row.id}><${ObservationLine} row=${row} /></li>`)}
      ${objectives.map((row) => html`<li key=${row.id}><${ObjectiveLine} row=${row} /></li>`)}</ul></${Card}>`;
}

/**
 * The draft beside what it may cite.
 * @param {{ path: string, draft: { was: Summary, etag: string | null, form: Draft }, onChange: (form: Draft) => void, onClose: () => void, onSaved: () => void }} p
 */
function Editor({ path, draft, onChange, onClose, onSaved }) {
  const { was, etag, form } = draft;
  const person = was.employee_id;
  const observations = useList(can("observations:read") ? "/observations" : null, { "filter[employee_id]": person });
  const objectives = useList(can("objectives:read") ? "/employee-objectives" : null, { "filter[owner_id]": person });
  const [isAsking, setIsAsking] = useState(false);
  const mine = Object.fromEntries(MEMBERS.filter((name) => JSON.stringify(form[name]) !== JSON.stringify(was[name])).map((name) => [name, form[name]]));
  const isChanged = Object.keys(mine).length > 0;
  const { run, isBusy, error, clear } = useAction(async (/** @type {string | null} */ match) => {
    await request("PATCH", path, { body: mine, etag: match });
    toast(t.people.saved(form.title));
    onSaved();
    onClose();
  });
  const toggle = (/** @type {"included_observation_ids" | "included_objective_ids"} */ name, /** @type {string} */ id) =>
    onChange({ ...form, [name]: form[name].includes(id) ? form[name].filter((one) => one !== id) : [...form[name], id] });
  const choice = (/** @type {"included_observation_ids" | "included_objective_ids"} */ name, /** @type {any} */ read, /** @type {any} */ line,
    /** @type {(row: any) => string} */ label) => html`
    <${Shown} of=${read} rows=${3} empty=${html`<p class="muted">${t.nothing}</p>`}>${(/** @type {any[]} */ rows) => html`<ul class="attention">
      ${rows.map((row) => html`<li key=${row.id}><input type="checkbox" aria-label=${label(row)} checked=${form[name].includes(row.id)}
        onChange=${() => toggle(name, row.id)} /><${line} row=${row} /></li>`)}</ul>`}</${Shown}>`;
  if (error?.status === 412) {
    return html`<${Stale} path=${path} was=${was} fields=${MEMBERS} mine=${mine} onClose=${clear} onSave=${run}
      onReload=${() => (onSaved(), onClose())} />`;
  }
  return html`<div class="beside"><div class="entry form">
      <${Field} label=${t.work.title} error=${fieldError(error, "title")}><input name="title" maxlength="200" value=${form.title} dir="auto"
        onInput=${(/** @type {any} */ event) => onChange({ ...form, title: event.target.value })} /></${Field}>
      <${Field} label=${t.work.body} error=${fieldError(error, "body")}><textarea name="body" rows="18" maxlength="20000" value=${form.body} dir="auto"
        onInput=${(/** @type {any} */ event) => onChange({ ...form, body: event.target.value })}></textarea></${Field}>
      ${error && html`<${Problem} error=${error} />`}
      <div class="actions"><${Button} kind="primary" busy=${isBusy} disabled=${!isChanged} onClick=${() => run(etag)}>${t.save}</${Button}>
        <${Button} onClick=${() => (isChanged ? setIsAsking(true) : onClose())}>${t.cancel}</${Button}></div></div>
    <${Card} title=${t.work.cite}>${choice("included_observation_ids", observations, ObservationLine, (row) => short(row.observation, 60))}
      ${choice("included_objective_ids", objectives, ObjectiveLine, (row) => row.title)}</${Card}></div>
    ${isAsking && html`<${Confirm} title=${t.discard} text=${t.typedLoses} action=${t.discard} kind="danger" onClose=${() => setIsAsking(false)}
      work=${async () => onClose()} />`}`;
}

/** Former texts, newest first. @param {{ of: ReturnType<typeof useHistory> }} p */
function Versions({ of }) {
  const none = html`<p class="muted">${t.work.noVersions}</p>`;
  const former = of.rows?.filter((row) => ["title", "body"].some((name) => row.changes[name]?.from)) ?? null;
  return html`<${Card} title=${t.work.versions}><${Shown} of=${{ ...of, rows: former }} rows=${2} empty=${none}>
    ${(/** @type {import("../types").HistoryEntry[]} */ rows) => html`<ol class="steps">${rows.map((row) => html`<li key=${row.id}><details>
      <summary><${Time} at=${row.occurred_at} /> <span class="muted">${t.work.replacedBy} <${Actor} actor=${row.actor} /></span></summary>
      ${["title", "body"].map((name) => row.changes[name]?.from && html`<${Prose} key=${name}>${String(row.changes[name].from)}</${Prose}>`)}
      </details></li>`)}</ol>`}</${Shown}></${Card}>`;
}
