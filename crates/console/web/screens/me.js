// My page: the feedback that the person of the session may see, their objectives, what waits for them, their conversations.

import { objectiveHref } from "../lib/addresses.js";
import { request } from "../lib/api.js";
import { useList } from "../lib/data.js";
import { date, relative, short } from "../lib/format.js";
import { filled, Form } from "../lib/form.js";
import { Older, titleOf, unreadMessages, useNotices, useSentBack } from "../lib/notices.js";
import { Person, usePerson } from "../lib/people.js";
import { href, useRoute } from "../lib/router.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Empty, Page, Problem, Prose, Shown, Status, Tabs, Time } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { Conversations, stateOf } from "./feedback_lists.js";
import { CheckInForm, Figures, isOverdue, mayCheckIn } from "./objectives_progress.js";
import { observationFields, self, useAttributes, Write } from "./write.js";

/** @typedef {import("../types").Observation} Observation */
/** @typedef {import("../types").Objective} Objective */
/** @typedef {import("../types").Assignment} Assignment */
/** @typedef {import("../types").Summary} Summary */

const OPEN = ["proposed", "approved", "in_progress"];

export default function Me() {
  const { query } = useRoute();
  const hasTalks = can("conversations:read");
  const isTalks = hasTalks && query.view === "conversations";
  const manager = usePerson(self())?.manager_id;
  return html`<${Page} title=${t.screens.me} lead=${html`${t.work.mine.lead}${manager && html` ${t.work.mine.manager} <${Person} id=${manager} />.`}`}
    actions=${isTalks ? html`<${Write} name="conversations" kind="primary" />` : html`<${Write} name="assignments" kind="primary" text=${t.work.mine.ask} />`}>
    ${hasTalks && html`<${Tabs} label=${t.screens.me} tabs=${[["overview", t.work.mine.overview], ["conversations", t.feedback.conversations]]} />`}
    ${isTalks ? html`<${Conversations} />` : html`<${Overview} me=${self() ?? ""} />`}
  </${Page}>`;
}

/** @param {{ me: string }} p */
function Overview({ me }) {
  const observations = useList(can("observations:read") ? "/observations" : null, { "filter[employee_id]": me, limit: 10 });
  const objectives = useList(can("objectives:read") ? "/employee-objectives" : null, { "filter[owner_id]": me, "filter[status]": OPEN });
  const assignments = useList(can("assignments:read") ? "/assignments" : null,
    { "filter[reviewer_id]": me, "filter[status]": "open", sort: "due_date" });
  const summaries = useList(can("summaries:read") ? "/summaries" : null, { "filter[employee_id]": me, "filter[status]": "shared", limit: 10 });
  const notices = useNotices();
  const { returned, reads: returns } = useSentBack(notices.newest);
  const messages = [...unreadMessages(notices.newest).entries()];
  const [checked, setChecked] = useState(/** @type {Objective | null} */ (null));
  const [answered, setAnswered] = useState(/** @type {Assignment | null} */ (null));
  const asked = (assignments.rows ?? []).filter((one) => one.submissions.some((part) => part.reviewer_id === me && part.status !== "submitted"));
  const unread = (summaries.rows ?? []).filter((one) => one.employee_id === me && !one.employee_feedback);
  const due = (objectives.rows ?? []).filter(isOverdue);
  const waiting = [assignments, summaries, notices, ...returns];
  const reads = [observations, objectives, ...waiting];
  const isRead = [...waiting, objectives].every((one) => !one.isLoading || one.error || one.rows);
  const waits = html`
    ${returned.map((one) => html`<li key=${one.id}><${Badge} tone="warn">${t.work.sentBack}</${Badge}>
      <div class="grow"><a href=${one.to} dir="auto">${one.title}</a><${Prose}>${one.reason}</${Prose}></div></li>`)}
    ${messages.map(([id, [newest, ...older]]) => newest && html`<li key=${id}><${Badge} tone="info">${t.work.unread(older.length + 1, notices.hasMore)}</${Badge}>
      <span class="grow"><a href=${href("/me", { view: "conversations", talk: id })} dir="auto">${titleOf(newest)}</a></span>
      <span class="muted"><${Time} at=${newest.created_at} /></span></li>`)}
    ${asked.map((one) => html`<li key=${one.id}><${Badge} tone="warn">${t.work.mine.assignment}</${Badge}>
      <span class="grow"><strong dir="auto">${one.title}</strong> <span class="muted">${t.feedback.aboutPerson} <${Person} id=${one.employee_id} />
        ${one.due_date && html` · ${t.feedback.due(date(one.due_date))}`}</span></span>
      ${can("assignments:write") && html`<${Button} aria-label=${t.work.mine.answerTitle(one.title)} onClick=${() => setAnswered(one)}>${t.work.mine.answer}</${Button}>`}</li>`)}
    ${unread.map((one) => html`<li key=${one.id}><${Badge} tone="info">${t.work.mine.summary}</${Badge}>
      <span class="grow"><a href=${href(`/feedback/summaries/${one.id}`)} dir="auto">${one.title}</a></span></li>`)}
    ${due.map((one) => html`<li key=${one.id}><${Badge} tone="warn">${t.work.mine.quiet}</${Badge}>
      <span class="grow"><a href=${objectiveHref(one)} dir="auto">${one.title}</a></span>
      ${mayCheckIn(one) && html`<${Button} aria-label=${`${t.progress.checkIn}: ${one.title}`} onClick=${() => setChecked(one)}>${t.progress.checkIn}</${Button}>`}</li>`)}`;
  return html`<${Card} title=${t.work.mine.waits}>
      ${returned.length + messages.length + asked.length + unread.length + due.length > 0 ? html`<ul class="attention">${waits}</ul>`
        : isRead && !notices.hasMore && reads.every((one) => !one.error) ? html`<p class="muted">${t.work.mine.nothing}.</p>` : null}
      <${Older} of=${notices} />
      ${waiting.filter((one) => one.error).map((one) => html`<${Problem} error=${one.error} retry=${one.reload} />`)}</${Card}>
    <div class="grid2">
      ${can("objectives:read") && html`<${Card} title=${t.feedback.objectives}
        actions=${html`<${Write} name="objectives" person=${me} kind="quiet" />`}>
        <${Shown} of=${objectives} rows=${3} empty=${html`<${Empty} title=${t.work.mine.noObjectives} text=${t.work.mine.noObjectivesText}>
          <${Write} name="objectives" person=${me} /></${Empty}>`}>${(/** @type {Objective[]} */ rows) => html`<ul class="goals">${rows.map((one) => html`
          <li key=${one.id}><div class="entry-head"><${Status} word=${stateOf(one)} /><strong class="grow"><a href=${objectiveHref(one)} dir="auto">${one.title}</a></strong>
            ${mayCheckIn(one) && !isOverdue(one) && html`<${Button} aria-label=${`${t.progress.checkIn}: ${one.title}`} onClick=${() => setChecked(one)}>${t.progress.checkIn}</${Button}>`}</div>
            <${Figures} of=${one} /></li>`)}</ul>`}</${Shown}></${Card}>`}
      ${can("observations:read") && html`<${Card} title=${t.screens.feedback}
        actions=${html`<a href=${href("/feedback", { person: me })}>${t.feedback.all}</a>`}>
        <${Shown} of=${{ ...observations, hasMore: false }} rows=${3} empty=${html`<${Empty} title=${t.work.mine.noFeedback} text=${t.work.mine.noFeedbackText}>
          <${Write} name="assignments" text=${t.work.mine.ask} /></${Empty}>`}>${(/** @type {Observation[]} */ rows) => html`<ul class="goals">${rows.map((one) => html`
          <li key=${one.id}><div class="entry-head"><${Status} word=${one.type} /><${Person} id=${one.author_id} none="" />
            <span class="muted time">${date(one.observation_date)}</span></div>
            <${Prose}>${short(one.observation, 280)}</${Prose}>
            <div class="entry-head"><a href=${href(`/feedback/${one.id}`)} aria-label=${`${t.feedback.context}: ${short(one.observation, 60)}`}>${t.feedback.context}</a></div></li>`)}</ul>`}</${Shown}></${Card}>`}
    </div>
    ${checked && html`<${CheckInForm} path=${`/employee-objectives/${checked.id}`} objective=${checked} onClose=${() => setChecked(null)} onDone=${() => {}} />`}
    ${answered && html`<${AnswerForm} assignment=${answered} onClose=${() => setAnswered(null)} />`}`;
}

/** Submits an observation to an assignment. @param {{ assignment: Assignment, onClose: () => void }} p */
function AnswerForm({ assignment, onClose }) {
  const attributes = useAttributes();
  const send = async (/** @type {any} */ values) => {
    await request("POST", `/assignments/${assignment.id}/submissions`, { body: { observations: [filled(values)] } });
    toast(t.work.mine.given);
  };
  const text = html`<strong dir="auto">${assignment.title}</strong> <span class="muted">${t.feedback.aboutPerson} <${Person} id=${assignment.employee_id} plain />,
    ${" "}${relative(assignment.created_at)}</span>${assignment.instructions && html`<${Prose}>${assignment.instructions}</${Prose}>`}`;
  return html`<${Form} title=${t.work.mine.answer} action=${t.work.send} fields=${observationFields(attributes)} send=${send} onClose=${onClose} text=${text} />`;
}
