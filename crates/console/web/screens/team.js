// My team: each report with the last feedback, the open objectives and their check-ins; and the reviews that wait.

import { objectiveHref } from "../lib/addresses.js";
import { useGet, useList } from "../lib/data.js";
import { date, fullName, percent } from "../lib/format.js";
import { href } from "../lib/router.js";
import { can } from "../lib/session.js";
import { Badge, Button, Card, Empty, Page, Problem, Shown, Status } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { Act } from "./feedback_lists.js";
import { Confidence, isOverdue, mayCheckIn } from "./objectives_progress.js";
import { self, Write } from "./write.js";

/** @typedef {import("../types").Employee} Employee */
/** @typedef {import("../types").Objective} Objective */
/** @typedef {import("../types").Summary} Summary */

const OPEN = ["proposed", "approved", "in_progress"];
const MOST = 100;

export default function Team() {
  const me = self() ?? "";
  const reports = useList("/employees", { "filter[manager_id]": me, limit: MOST });
  const objectives = useGet(can("objectives:read") ? "/employee-objectives" : null,
    { "filter[status]": OPEN, limit: MOST, expand: can("employees:read") ? "owner" : null });
  const observations = useGet(can("observations:read") ? "/observations" : null, { "filter[manager_id]": me, limit: MOST });
  const summaries = useGet(can("summaries:read") ? "/summaries" : null,
    { "filter[manager_id]": me, "filter[status]": "pending_review", limit: MOST, expand: can("employees:read") ? "employee" : null });
  const [dialog, setDialog] = useState(/** @type {{ name: string, path: string, of: any } | null} */ (null));
  const close = () => setDialog(null);
  // A manager sees the objectives of all people below, and their own.
  const open = (objectives.data?.data ?? []).filter((one) => one.owner_id !== me);
  const waits = open.filter((one) => one.status === "proposed" && one.submitted_at);
  const drafts = summaries.data?.data ?? [];
  const act = (/** @type {string} */ name, /** @type {string} */ path, /** @type {any} */ of) => html`<${Button} key=${name}
    kind=${name === "reject" || name === "return" ? "danger" : undefined}
    aria-label=${`${t.verbs[name]}: ${of.title}`} onClick=${() => setDialog({ name, path, of })}>${t.verbs[name]}</${Button}>`;
  const last = new Map();
  for (const one of observations.data?.data ?? []) if (!last.has(one.employee_id)) last.set(one.employee_id, one);
  const errors = [objectives, observations, summaries].filter((one) => one.error);
  return html`<${Page} title=${t.screens.team} lead=${t.work.team.lead}>
    ${errors.map((one) => html`<${Problem} error=${one.error} retry=${one.reload} />`)}
    <${Card} title=${t.work.team.waits}>${waits.length + drafts.length === 0 ? html`<p class="muted">${objectives.isLoading || summaries.isLoading ? t.loading : `${t.work.team.nothing}.`}</p>`
      : html`<ul class="attention">
        ${waits.map((one) => html`<li key=${one.id}><${Badge} tone="warn">${t.work.objective}</${Badge}>
          <span class="grow"><a href=${objectiveHref(one)} dir="auto">${one.title}</a>
            ${one.owner && html` <span class="muted" dir="auto">${fullName(one.owner)}</span>`}</span>
          ${can("objectives:write") && html`<span class="actions">${["approve", "reject"].map((name) => act(name, `/employee-objectives/${one.id}`, one))}</span>`}</li>`)}
        ${drafts.map((one) => html`<li key=${one.id}><${Badge} tone="warn">${t.work.summary}</${Badge}>
          <span class="grow"><a href=${href(`/feedback/summaries/${one.id}`)} dir="auto">${one.title}</a>
            ${one.employee && html` <span class="muted" dir="auto">${fullName(one.employee)}</span>`}</span>
          ${can("summaries:write") && html`<span class="actions">${["approve", "return"].map((name) => act(name, `/summaries/${one.id}`, one))}</span>`}</li>`)}</ul>`}</${Card}>
    <${Shown} of=${reports} empty=${html`<${Empty} title=${t.work.team.none} text=${t.work.team.noneText} />`}>
      ${(/** @type {Employee[]} */ rows) => html`<div class="list">${rows.map((one) => html`<${Report} key=${one.id} person=${one}
        goals=${can("objectives:read") && open.filter((goal) => goal.owner_id === one.id)} last=${can("observations:read") && observations.data ? last.get(one.id) ?? null : undefined}
        onCheckIn=${(/** @type {Objective} */ goal) => setDialog({ name: "check_in", path: `/employee-objectives/${goal.id}`, of: goal })} />`)}</div>`}</${Shown}>
    ${objectives.data?.has_more && html`<p class="muted">${t.work.team.more}</p>`}
    ${dialog && html`<${Act} ...${dialog} onClose=${close} onDone=${() => {}} />`}
  </${Page}>`;
}

/** @param {{ person: Employee, goals: Objective[] | false, last: any, onCheckIn: (goal: Objective) => void }} p */
function Report({ person, goals, last, onCheckIn }) {
  return html`<section class="entry" aria-label=${fullName(person)}>
    <div class="entry-head"><h2><a class="person" href=${href(`/people/${person.id}`)} dir="auto">${fullName(person)}</a></h2>
      <span class="muted">${person.job_title ?? ""}</span>
      <span class="time actions"><${Write} name="observations" person=${person.id} text=${t.work.team.feedback} label=${`${t.work.team.feedback}: ${fullName(person)}`} /></span></div>
    ${last !== undefined && html`<div class="entry-head muted"><span>${t.work.team.last}</span>
      ${last ? html`<a href=${href(`/feedback/${last.id}`)}>${date(last.observation_date)}</a> <${Status} word=${last.type} />` : html`<span>${t.work.team.never}</span>`}</div>`}
    ${goals && (goals.length === 0 ? html`<p class="muted">${t.work.team.noOpen}</p>` : html`<ul class="attention">${goals.map((goal) => html`<li key=${goal.id}>
      <${Status} word=${goal.status === "proposed" && goal.submitted_at ? "in_review" : goal.status} />
      <span class="grow"><a href=${objectiveHref(goal)} dir="auto">${goal.title}</a></span>
      ${goal.progress !== null && html`<span>${percent(goal.progress, 100)}</span>`}<${Confidence} of=${goal} />
      ${isOverdue(goal) && html`<${Badge} tone="warn">${t.work.team.overdue}</${Badge}>`}
      ${mayCheckIn(goal) && html`<${Button} aria-label=${`${t.progress.checkIn}: ${goal.title}`} onClick=${() => onCheckIn(goal)}>${t.progress.checkIn}</${Button}>`}</li>`)}</ul>`)}
  </section>`;
}
