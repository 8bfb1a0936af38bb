// My page: the feedback that the person of the session may see, their objectives, what waits for them, their conversations.

import { objectiveHref } from "../lib/addresses.js";
import { request } from "../lib/api.js";
import { screenOf, useAttention } from "../lib/attention.js";
import { useGet, useList } from "../lib/data.js";
import { date, fullName, relative, short } from "../lib/format.js";
import { Dialog } from "../lib/dialog.js";
import { filled, Form } from "../lib/form.js";
import { Older, titleOf, unreadMessages, useNotices } from "../lib/notices.js";
import { Person } from "../lib/people.js";
import { href, useRoute } from "../lib/router.js";
import { can, session } from "../lib/session.js";
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
/** @typedef {import("../types").Matter} Matter */

const OPEN = ["proposed", "approved", "in_progress"];

export default function Me() {
  const { query } = useRoute();
  const hasTalks = can("conversations:read");
  const isTalks = hasTalks && query.view === "conversations";
  const { manager_id: manager, manager_name: name } = session.value?.me ?? {};
  return html`<${Page} title=${t.screens.me} lead=${html`${t.work.mine.lead}${manager && html` ${t.work.mine.manager} <a class="person" href=${href(`/people/${manager}`)} dir="auto">${name}</a>.`}`}
    actions=${isTalks ? html`<${Write} name="conversations" kind="primary" />` : html`<${Write} name="assignments" kind="primary" text=${t.work.mine.ask} />`}>
    ${hasTalks && html`<${Tabs} label=${t.screens.me} tabs=${[["overview", t.work.mine.overview], ["conversations", t.feedback.conversations]]} />`}
    ${isTalks ? html`<${Conversations} />` : html`<${Overview} me=${self() ?? ""} />`}
  </${Page}>`;
}

/** @param {{ me: string }} p */
function Overview({ me }) {
  const mayName = can("employees:read");
  const attention = useAttention();
  const observations = useList(can("observations:read") ? "/observations" : null, { "filter[employee_id]": me, limit: 10, expand: mayName ? "author" : null });
  const objectives = useList(can("objectives:read") ? "/employee-objectives" : null, { "filter[owner_id]": me, "filter[status]": OPEN });
  const notices = useNotices();
  const messages = [...unreadMessages(notices.newest).entries()];
  const [checked, setChecked] = useState(/** @type {Objective | null} */ (null));
  const [answered, setAnswered] = useState(/** @type {Matter | null} */ (null));
  const own = (attention.data?.data ?? []).filter((one) => one.kind in TONES);
  const due = (objectives.rows ?? []).filter(isOverdue);
  const waiting = [attention, notices];
  const isRead = attention.data && [notices, objectives].every((one) => !one.isLoading || one.rows);
  const waits = html`
    ${messages.map(([id, [newest, ...older]]) => newest && html`<li key=${id}><${Badge} tone="info">${t.work.unread(older.length + 1, notices.hasMore)}</${Badge}>
      <span class="grow"><a href=${href("/me", { view: "conversations", talk: id })} dir="auto">${titleOf(newest)}</a></span>
      <span class="muted"><${Time} at=${newest.created_at} /></span></li>`)}
    ${own.map((one) => html`<${Own} key=${one.id} of=${one} onAnswer=${setAnswered} />`)}
    ${due.map((one) => html`<li key=${one.id}><${Badge} tone="warn">${t.work.mine.quiet}</${Badge}>
      <span class="grow"><a href=${objectiveHref(one)} dir="auto">${one.title}</a></span>
      ${mayCheckIn(one) && html`<${Button} aria-label=${`${t.progress.checkIn}: ${one.title}`} onClick=${() => setChecked(one)}>${t.progress.checkIn}</${Button}>`}</li>`)}`;
  return html`<${Card} title=${t.work.mine.waits}>
      ${messages.length + own.length + due.length > 0 ? html`<ul class="attention">${waits}</ul>`
        : isRead && !notices.hasMore && [...waiting, objectives].every((one) => !one.error) ? html`<p class="muted">${t.work.mine.nothing}.</p>` : null}
      <${Older} of=${notices} />
      ${waiting.filter((one) => one.error).map((one) => html`<${Problem} error=${one.error} retry=${one.reload} />`)}</${Card}>
    <div class="balance">
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
          <li key=${one.id}><div class="entry-head"><${Status} word=${one.type} />${one.author ? html`<span class="muted">${t.feedback.by}</span> <a class="person" href=${href(`/people/${one.author_id}`)} dir="auto">${fullName(one.author)}</a>` : !mayName && html`<${Person} id=${one.author_id} none="" />`}
            <span class="muted time">${date(one.observation_date)}</span></div>
            <${Prose}>${short(one.observation, 280)}</${Prose}>
            <div class="entry-head"><a href=${href(`/feedback/${one.id}`)} aria-label=${`${t.feedback.context}: ${short(one.observation, 60)}`}>${t.feedback.context}</a></div></li>`)}</ul>`}</${Shown}></${Card}>`}
    </div>
    ${checked && html`<${CheckInForm} path=${`/employee-objectives/${checked.id}`} objective=${checked} onClose=${() => setChecked(null)} onDone=${() => {}} />`}
    ${answered && html`<${Answer} id=${answered.id} onClose=${() => setAnswered(null)} />`}`;
}

/** Tones of what waits for the person of the session. @type {Record<string, "warn" | "info">} */
const TONES = { objective_returned: "warn", summary_returned: "warn", feedback_requested: "warn", summary_shared: "info" };

/** @param {{ of: Matter, onAnswer: (one: Matter) => void }} p */
const Own = ({ of, onAnswer }) => html`<li><${Badge} tone=${TONES[of.kind] ?? "info"}>${t.matters[of.kind]}</${Badge}>
  ${of.kind !== "feedback_requested" ? html`<div class="grow"><a href=${screenOf(of)} dir="auto">${of.title}</a>${of.reason && html`<${Prose}>${of.reason}</${Prose}>`}</div>`
    : html`<span class="grow"><strong dir="auto">${of.title}</strong> <span class="muted">${of.employee_name && html`${t.feedback.aboutPerson} <span dir="auto">${of.employee_name}</span>`}
      ${of.due_date && html` · ${t.feedback.due(date(of.due_date))}`}</span></span>
    ${can("assignments:write") && html`<${Button} aria-label=${t.work.mine.answerTitle(of.title)} onClick=${() => onAnswer(of)}>${t.work.mine.answer}</${Button}>`}`}</li>`;

/** The form for an assignment, once that is read. @param {{ id: string, onClose: () => void }} p */
function Answer({ id, onClose }) {
  const { data, error, reload } = useGet(`/assignments/${id}`);
  if (error && !data) return html`<${Dialog} title=${t.work.mine.answer} onClose=${onClose}><${Problem} error=${error} retry=${reload} /></${Dialog}>`;
  return data && html`<${AnswerForm} assignment=${data} onClose=${onClose} />`;
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
