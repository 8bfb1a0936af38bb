// Objectives with their review, summaries, conversations and assignments.

import { objectiveHref } from "../lib/addresses.js";
import { request } from "../lib/api.js";
import { BulkBar, useBulk } from "../lib/bulk.js";
import { Share } from "../lib/charts.js";
import { useAction, useGet, useList } from "../lib/data.js";
import { Confirm, Dialog } from "../lib/dialog.js";
import { date, fullName, verbName } from "../lib/format.js";
import { markRead, Older, unreadMessages, useNotices } from "../lib/notices.js";
import { Person, PersonFilter, PersonName } from "../lib/people.js";
import { href, setQuery, useRoute } from "../lib/router.js";
import { can, isBound } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Empty, Field, Filters, More, Problem, Prose, Shown, Status, Table, Time,
  fieldError } from "../lib/ui.js";
import { html, useEffect, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { orderOf, Save } from "./list_tools.js";
import { self, Write } from "./write.js";
import { CheckInForm, Confidence, quietSince } from "./objectives_progress.js";

/** @typedef {import("../types").Objective} Objective */
/** @typedef {import("../types").Message} Message */
/** @typedef {import("../types").Conversation} Conversation */
/** @typedef {import("../types").Notification} Notification */

/** Words of the API as options of a filter. @param {string[]} words @returns {[string, string][]} */
const options = (words) => words.map((word) => [word, t.words[word] ?? word]);

/** Actions of a state, the next step first. Those of REASONS ask for a text under its member. @type {Record<string, string[]>} */
const REVIEW = { proposed: ["submit", "approve", "archive"], in_review: ["approve", "reject", "archive"],
  approved: ["check_in", "complete", "archive"],
  in_progress: ["check_in", "complete", "miss", "archive"], completed: ["archive"], missed: ["archive"] };
/** @type {Record<string, { member: string, isRequired?: boolean }>} */
const REASONS = { approve: { member: "comment" }, reject: { member: "reason", isRequired: true },
  complete: { member: "outcome" }, miss: { member: "reason" },
  return: { member: "reason", isRequired: true } };
/** @type {Record<string, string[]>} */
const SUMMARY_ACTIONS = { draft: ["submit", "approve", "archive"],
  pending_review: ["approve", "return", "archive"], approved: ["share", "return", "archive"],
  shared: ["archive"] };
const QUIET = /** @type {[string, string][]} */ ([["14", t.progress.quiet]]);
const KINDS = /** @type {[string, string][]} */ ([["manager", t.feedback.managerObjectives]]);

/**
 * Actions on a summary. Its person only reads it, and its author lets another person approve it. @param {import("../types").Summary} one
 */
export const summaryActionsOf = (one) => isBound() && one.employee_id === self() && one.author_id !== self() ? []
  : (SUMMARY_ACTIONS[one.status] ?? []).filter((name) => !(name === "approve" && one.status === "pending_review" && isBound() && one.author_id === self()));

/** An objective in review has the status `proposed`. @param {Objective} one */
export const stateOf = (one) => (one.status === "proposed" && one.submitted_at ? "in_review" : one.status);

/** Actions on an objective, the next step first. A change after the approval is approved again. @param {Objective} one */
export const actionsOf = (one) => !can("objectives:write") ? [] : [...(one.changed_since_approval ? ["approve"] : []), ...(REVIEW[stateOf(one)] ?? [])]
  .filter((name) => !(stateOf(one) === "in_review" && ["approve", "reject"].includes(name) && isBound() && one.owner_id === self()));

/** What a list offers: the next step. @param {string[]} names */
const nextOf = ([name]) => name && name !== "archive" ? [name] : [];

/**
 * The actions of the state of a resource: the next step is the primary one, and an archive is behind a button.
 * @param {{ names: string[], onClick: (name: string) => void, children?: any }} p
 */
export function Verbs({ names, onClick, children }) {
  const button = (/** @type {string} */ name, /** @type {number} */ at) => html`<${Button} key=${name} kind=${name === "archive" ? "danger" : at === 0 ? "primary" : undefined}
    onClick=${() => onClick(name)}>${t.verbs[name]}</${Button}>`;
  return html`${names.filter((name) => name !== "archive").map(button)}${children}${names.includes("archive") && html`<${More}>${button("archive", 1)}</${More}>`}`;
}

/** Columns of the file of objectives. @type {[string, (one: Objective) => unknown][]} */
const FIELDS = [[t.work.title, (one) => one.title], [t.feedback.owner, (one) => one.owner ? fullName(one.owner) : one.owner_id],
  [t.state, (one) => t.words[stateOf(one)] ?? stateOf(one)], [t.progress.confidence, (one) => one.confidence && (t.words[one.confidence] ?? one.confidence)],
  [t.from, (one) => one.period_start], [t.to, (one) => one.period_end], [t.id, (one) => one.id]];

export function Objectives() {
  const { query } = useRoute();
  const base = query.kind === "manager" ? "/manager-objectives" : "/employee-objectives";
  const listQuery = { "filter[status]": query.state === "in_review" ? null : query.state ?? (query.quiet ? "in_progress" : null),
      "filter[in_review]": query.state === "in_review" || null, "filter[owner_id]": query.owner,
      "filter[confidence]": query.confidence,
    sort: query.sort ?? (query.quiet ? "last_check_in_at" : null),
    ...(query.quiet ? { "filter[last_check_in_at][lte]": quietSince() } : {}), expand: can("employees:read") ? "owner" : null };
  const list = useList(base, listQuery);
  const [dialog, setDialog] = useState(/** @type {{ name: string, objective: Objective } | null} */ (null));
  const columns = [
    { name: "title", label: t.work.title, isMain: true, isLine: true, cell: (/** @type {Objective} */ one) =>
      html`<a href=${objectiveHref(one)} title=${one.title} dir="auto">${one.title}</a>` },
    { name: "state", label: t.state, cell: (/** @type {Objective} */ one) => html`<${Status} word=${stateOf(one)} />
      ${one.changed_since_approval && html` <${Badge} tone="warn">${t.feedback.changed}</${Badge}>`}` },
    { name: "owner", label: t.feedback.owner, isLine: true, cell: (/** @type {Objective} */ one) => html`<span>${one.owner
      ? html`<a href=${href(`/people/${one.owner_id}`)} dir="auto">${fullName(one.owner)}</a>` : html`<${Person} id=${one.owner_id} />`}</span>` },
    { name: "progress", label: t.progress.progress, cell: (/** @type {Objective} */ one) => html`<${Share} of=${one.progress} />` },
    { name: "confidence", label: t.progress.confidence, cell: (/** @type {Objective} */ one) => html`<${Confidence} of=${one} />` },
    { name: "end", label: t.work.to, cell: (/** @type {Objective} */ one) => html`<time datetime=${one.period_end}>${date(one.period_end)}</time>` },
    { name: "actions", label: t.actions, cell: (/** @type {Objective} */ one) => html`<div class="actions">${nextOf(actionsOf(one)).map((name) => html`
      <${Button} key=${name} aria-label=${`${t.verbs[name]}: ${one.title}`} onClick=${() => setDialog({ name, objective: one })}>${t.verbs[name]}</${Button}>`)}</div>` },
  ];
  const bulk = useBulk(list.rows, { name: (one) => one.title, may: can("objectives:write"), isOpen: (one) => stateOf(one) === "in_review" });
  const approve = [{ name: "approve", text: t.work.bulk.approveText, send: (/** @type {Objective} */ one, /** @type {any} */ _, /** @type {any} */ quiet) =>
    request("POST", `${base}/${one.id}/approve`, quiet) }];
  const filters =
    [{ name: "state", label: t.state, first: t.feedback.notArchived,
      options: options(["in_review", "proposed", "approved", "in_progress", "completed", "missed",
        "archived", "all"]) },
    { name: "kind", label: t.feedback.kind, options: KINDS },
    { name: "owner", label: t.feedback.owner, part: PersonFilter },
    { name: "confidence", label: t.progress.confidence, isMore: true,
      options: options(["on_track", "at_risk", "off_track", "none"]) },
    { name: "quiet", label: t.progress.checkIns, options: QUIET, isMore: true },
    orderOf(["-period_end", "period_end", "-created_at", "-updated_at", "last_check_in_at"])];
  return html`<${Filters} filters=${filters}>
      <${Save} name="objectives" path=${base} query=${listQuery} fields=${FIELDS} /></${Filters}>
    <${Shown} of=${list}
      empty=${html`<${Empty} title=${t.feedback.noObjectives} text=${t.feedback.noObjectivesText}>
        <${Write} name="objectives" /></${Empty}>`}>
    ${(/** @type {Objective[]} */ shown) => html`<${Table} caption=${t.feedback.objectives} columns=${[...bulk.column, ...columns]} rows=${shown} isFlow />`}</${Shown}>
    <${BulkBar} of=${bulk} actions=${approve} />
    ${dialog && html`<${Act} name=${dialog.name} path=${`${base}/${dialog.objective.id}`} of=${dialog.objective} onClose=${() => setDialog(null)} onDone=${list.reload} />`}`;
}

/**
 * External id and metadata of a resource.
 *
 * @param {{ of: { external_id: string | null, metadata: Record<string, string> } }} p
 */
export function References({ of }) {
  const external = of.external_id ? [[t.people.externalId, of.external_id]] : [];
  const entries = [...external, ...Object.entries(of.metadata)];
  return entries.length > 0 && html`<div class="tags">${entries.map(([key, value]) =>
    html`<${Badge} key=${key}><span dir="auto">${key}: ${value}</span></${Badge}>`)}</div>`;
}

/** @typedef {{ name: string, path: string, of: any, onClose: () => void, onDone: () => void }} ActProps */

/** An action on an objective or a summary. @param {ActProps} p */
export const Act = ({ of, ...rest }) => rest.name === "check_in" ? html`<${CheckInForm} objective=${of} ...${rest} />` : html`<${Review} of=${of} ...${rest} />`;

/** An action with its reason. @param {ActProps} p */
function Review({ name, path, of: { title }, onClose, onDone }) {
  const [text, setText] = useState("");
  const reason = REASONS[name];
  const { run, isBusy, error } = useAction(async () => {
    const body = reason && text.trim() ? { [reason.member]: text.trim() } : undefined;
    await request("POST", `${path}/${name}`, { body });
    toast(t.feedback.acted(verbName(name), title));
    onDone();
    onClose();
  });
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind=${name === "reject" || name === "archive" ? "danger" : "primary"} busy=${isBusy}
      disabled=${reason?.isRequired && !text.trim()} onClick=${run}>${t.verbs[name]}</${Button}>`;
  return html`<${Dialog} title=${t.verbs[name] ?? name} onClose=${onClose} foot=${foot}>
    <p dir="auto"><strong>${title}</strong></p><p>${t.verbTexts[name]}</p>
    ${reason &&
      html`<${Field} label=${t.reasons[reason.member] ?? reason.member}
        hint=${reason.isRequired ? t.required : t.optional} error=${fieldError(error, reason.member)}>
      <textarea maxlength="2000" value=${text} dir="auto"
        onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea></${Field}>`}
    ${error && html`<${Problem} error=${error} />`}</${Dialog}>`;
}

export function Summaries() {
  const { query } = useRoute();
  const list = useList("/summaries", { "filter[status]": query.state, "filter[employee_id]": query.person });
  const [dialog, setDialog] = useState(/** @type {{ name: string, of: any } | null} */ (null));
  const filters =
    [{ name: "state", label: t.state, first: t.feedback.notArchived,
      options: options(["draft", "pending_review", "approved", "shared", "archived", "all"]) },
    { name: "person", label: t.people.person, part: PersonFilter }];
  return html`<${Filters} filters=${filters} />
    <${Shown} of=${list}
      empty=${html`<${Empty} title=${t.feedback.noSummaries} text=${t.feedback.noSummariesText}>
        <${Write} name="summaries" /></${Empty}>`}>
      ${(/** @type {import("../types").Summary[]} */ rows) => html`
    <ul class="list">
      ${rows.map((one) =>
        html`<li key=${one.id} class="entry short">
          <div class="entry-head"><${Status} word=${one.status} />
            <strong><a href=${href(`/feedback/summaries/${one.id}`)} dir="auto">${one.title}</a></strong>
        <span class="muted time"><${Time} at=${one.updated_at} /></span></div>
      <div class="entry-head muted"><${Person} id=${one.employee_id} />
        ${one.author_id && html`<span>${t.feedback.by} <${Person} id=${one.author_id} /></span>`}
        <span>
          ${t.feedback.cites(one.included_observation_ids.length, one.included_objective_ids.length)}</span></div>
      <${Prose}>${one.body}</${Prose}>
      ${can("summaries:write") && nextOf(summaryActionsOf(one)).map((name) => html`<div class="actions">
        <${Button} key=${name} aria-label=${`${t.verbs[name]}: ${one.title}`} onClick=${() => setDialog({ name, of: one })}>${t.verbs[name]}</${Button}></div>`)}</li>`)}</ul>`}</${Shown}>
    ${dialog &&
      html`<${Act} name=${dialog.name} path=${`/summaries/${dialog.of.id}`} of=${dialog.of}
        onClose=${() => setDialog(null)} onDone=${list.reload} />`}`;
}

/** Conversations, of which the address opens one. */
export function Conversations() {
  const { path, query } = useRoute();
  const list = useList("/conversations");
  const notices = useNotices();
  const unread = unreadMessages(notices.newest);
  const listed = list.rows?.find((one) => one.id === query.talk);
  const other = useGet(query.talk && list.rows && !listed ? `/conversations/${query.talk}` : null);
  const open = query.talk ? listed ?? other.data : null;
  return html`${other.error && html`<${Problem} error=${other.error} />`}<${Shown} of=${list}
    empty=${html`<${Empty} title=${t.feedback.noConversations} text=${t.feedback.noConversationsText}>
        <${Write} name="conversations" /></${Empty}>`}>
    ${(/** @type {Conversation[]} */ rows) => html`
    <ul class="list">
      ${rows.map((one) =>
        html`<li key=${one.id} class="entry"><div class="entry-head"><strong><a href=${href(path, { ...query, talk: one.id })} dir="auto">${one.title}</a></strong>
          ${unread.has(one.id) && html`<${Badge} tone="info">${t.work.unread(unread.get(one.id)?.length ?? 0, notices.hasMore)}</${Badge}>`}
          <span class="muted time"><${Time} at=${one.last_message_at} none=${t.never} /></span></div>
      <div class="entry-head muted">
        ${one.participant_ids.map((/** @type {string} */ id) => html`<${Person} key=${id} id=${id} />`)}</div>
      <div class="actions"><${Button} aria-label=${`${t.feedback.read}: ${one.title}`}
        onClick=${() => setQuery({ talk: one.id })}>${t.feedback.read}</${Button}></div></li>`)}</ul>`}</${Shown}><${Older} of=${notices} />
    ${open && html`<${Messages} key=${open.id} conversation=${open} unread=${unread.get(open.id)} onRead=${notices.reload} onClose=${() => setQuery({ talk: null })} />`}`;
}

/** The messages of a conversation, which are read then. @param {{ conversation: Conversation, unread?: Notification[], onRead: () => void, onClose: () => void }} p */
function Messages({ conversation, unread, onRead, onClose }) {
  const messages = useList(`/conversations/${conversation.id}/messages`, { sort: "created_at", limit: 100 });
  const isShown = messages.rows !== null;
  useEffect(() => {
    // A failure leaves them unread, and says nothing about the messages.
    if (isShown && unread?.length && can("notifications:write")) void markRead(unread).then(onRead, () => {});
  }, [isShown, unread?.length]);
  return html`<${Dialog} title=${conversation.title} onClose=${onClose}>
    <${Shown} of=${messages} empty=${html`<p class="muted">${t.work.noMessages}</p>`}>
      ${(/** @type {Message[]} */ rows) => html`<ul class="list">${rows.map((one) => html`
    <li key=${one.id} class="entry"><div class="entry-head"><strong><${Person} id=${one.author_id} /></strong>
      <span class="muted time"><${Time} at=${one.created_at} /></span></div>
    <${Prose}>${one.body}</${Prose}></li>`)}</ul>`}</${Shown}>
    ${can("conversations:write") && !conversation.archived_at && html`<${NewMessage} conversation=${conversation} />`}</${Dialog}>`;
}

/** Adds a message: of a key of the organization, in the name of a participant. @param {{ conversation: Conversation }} p */
function NewMessage({ conversation }) {
  const [body, setBody] = useState("");
  const [author, setAuthor] = useState(self() ?? "");
  const { run, isBusy, error } = useAction(async () => {
    await request("POST", `/conversations/${conversation.id}/messages`, { body: { body: body.trim(), author_id: author } });
    setBody("");
  });
  return html`<div class="form">
    ${!self() && html`<${Field} label=${t.work.inName} error=${fieldError(error, "author_id")}>
      <select name="author_id" value=${author} onChange=${(/** @type {any} */ event) => setAuthor(event.target.value)}>
        <option value="">–</option>${conversation.participant_ids.map((/** @type {string} */ id) =>
          html`<option key=${id} value=${id}><${PersonName} id=${id} /></option>`)}</select></${Field}>`}
    <${Field} label=${t.work.message} error=${fieldError(error, "body")}><textarea name="body" rows="3" maxlength="4000" value=${body} dir="auto"
      onInput=${(/** @type {any} */ event) => setBody(event.target.value)}></textarea></${Field}>
    ${error && html`<${Problem} error=${error} />`}
    <div class="actions"><${Button} kind="primary" busy=${isBusy} disabled=${!body.trim() || !author} onClick=${run}>${t.work.send}</${Button}></div></div>`;
}

/** @param {import("../types").Assignment} one */
const isLate = (one) => one.status === "open" && one.due_date !== null && one.due_date < new Date().toISOString().slice(0, 10);

export function Assignments() {
  const { query } = useRoute();
  const list = useList("/assignments", { "filter[status]": query.state });
  const [canceled, setCanceled] = useState(/** @type {import("../types").Assignment | null} */ (null));
  return html`<${Filters}
    filters=${[{ name: "state", label: t.state, options: options(["open", "completed", "canceled"]) }]} />
    <${Shown} of=${list}
      empty=${html`<${Empty} title=${t.feedback.noAssignments} text=${t.feedback.noAssignmentsText}>
        <${Write} name="assignments" /></${Empty}>`}>
      ${(/** @type {import("../types").Assignment[]} */ rows) => html`
    <ul class="list">
      ${rows.map((one) =>
        html`<li key=${one.id} class="entry">
          <div class="entry-head"><${Status} word=${one.status} /><strong dir="auto">${one.title}</strong>
        ${one.due_date && html`<span class="muted time">${isLate(one) && html`<${Badge} tone="warn">${t.feedback.late}</${Badge}> `}${t.feedback.due(date(one.due_date))}</span>`}</div>
      <div class="entry-head muted"><span>${t.feedback.aboutPerson} <${Person} id=${one.employee_id} /></span>
        <span>${t.feedback.submitted(one.submitted_count, one.required_submissions)}</span></div>
      ${one.instructions && html`<${Prose}>${one.instructions}</${Prose}>`}
      <${References} of=${one} />
      <ul class="tags">
        ${one.submissions.map((part) =>
          html`<li key=${part.reviewer_id}><${Badge} tone=${part.status === "submitted" ? "good" : undefined}>
        <${Person} id=${part.reviewer_id} plain /> · ${t.words[part.status] ?? part.status}</${Badge}></li>`)}</ul>
      ${one.status === "open" && can("assignments:write") &&
        html`<div class="actions">
          <${Button} aria-label=${`${t.feedback.cancelAssignment}: ${one.title}`}
            onClick=${() => setCanceled(one)}>
            ${t.feedback.cancelAssignment}</${Button}></div>`}</li>`)}</ul>`}</${Shown}>
    ${canceled &&
      html`<${Confirm} title=${t.feedback.cancelAssignment} text=${t.feedback.cancelText}
        action=${t.feedback.cancelAssignment} kind="danger" onClose=${() => setCanceled(null)}
      work=${async () => (await request("POST", `/assignments/${canceled.id}/cancel`), list.reload())} />`}`;
}
