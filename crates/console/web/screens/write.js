// Buttons that write a resource, each with its dialog: observations, objectives, summaries, conversations, assignments, people.

import { request } from "../lib/api.js";
import { useGet } from "../lib/data.js";
import { filled, Form } from "../lib/form.js";
import { Person } from "../lib/people.js";
import { go } from "../lib/router.js";
import { can, isAdmin, isBound, session } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Button } from "../lib/ui.js";
import { html, useRef, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { Results, resultsOf } from "./write_results.js";
import { customOf, personFields, usePersonOptions } from "./write_person.js";

/** @typedef {import("../lib/form.js").FieldOf} FieldOf */
/** @typedef {import("../lib/form.js").Values} Values */

/** Person that the session acts for, or null. */
export const self = () => session.value?.me.employee_id ?? null;
/** `true` if the session may change people. */
export const mayWritePeople = () => can("employees:write") && (isAdmin() || !isBound());

/** @param {string[]} words @returns {[string, string][]} */
const options = (words) => words.map((word) => [word, t.words[word] ?? word]);
/** Day of the reader's clock, with the days between it and today. @param {number} [days] */
const day = (days = 0) => new Date(Date.now() + days * 86_400_000).toLocaleDateString("sv");
const yearEnd = () => `${day().slice(0, 4)}-12-31`;

/** @typedef {{ person?: string | null, first?: Values, onClose: () => void }} WriteProps */

/** Names the person of the page, whom no field of the dialog names. @param {string | null | undefined} person @param {string} [text] */
const subject = (person, text) => (person ? html`<p><span class="muted">${t.work.about}</span> <strong><${Person} id=${person} plain /></strong></p>${text && html`<p>${text}</p>`}` : text);

/** The field of the person, unless the page is about one. @param {string} name @param {string} label @param {string | null} [person] @returns {FieldOf[]} */
const about = (name, label, person) => (person ? [] : [{ name, label, kind: "person", isRequired: true }]);

/** The fields of an observation. @param {[string, string][]} attributes @returns {FieldOf[]} */
export const observationFields = (attributes) => [
  { name: "type", label: t.feedback.type, kind: "select", isRequired: true, options: options(["strength", "opportunity"]), isHalf: true },
  { name: "visibility", label: t.feedback.visibility, kind: "select", isRequired: true, options: options(["person", "managers"]) },
  { name: "observation", label: t.feedback.observation, kind: "area", isRequired: true, most: 4000, rows: 5 },
  { name: "impact", label: t.feedback.impact, kind: "area", most: 2000, rows: 2 },
  { name: "recommended_action", label: t.feedback.action, kind: "area", most: 2000, rows: 2 },
  { name: "attribute_ids", label: t.feedback.attributes, kind: "checks", options: attributes },
];

/** Attributes as options. @returns {[string, string][]} */
export function useAttributes() {
  const { data } = useGet(can("observations:read") ? "/attributes" : null, { limit: 100 });
  return (data?.data ?? []).map((one) => [one.id, one.name]);
}

/** @param {WriteProps} p */
function NewObservation({ person, onClose }) {
  const attributes = useAttributes();
  const fields = [...about("employee_id", t.work.about, person), ...observationFields(attributes),
    { name: "observation_date", label: t.work.day, kind: "date", isRequired: true, isHalf: !isBound() },
    ...(isBound() ? [] : [{ name: "author_id", label: t.feedback.author, kind: "person" }])];
  const send = async (/** @type {Values} */ values) => {
    await request("POST", "/observations", { body: filled({ employee_id: person, ...values }) });
    toast(t.work.saved.observations);
  };
  return html`<${Form} title=${t.work.create.observations} text=${subject(person)} fields=${fields} first=${{ observation_date: day() }} send=${send} onClose=${onClose} />`;
}

/** Creates a resource once, also if a later step of the form fails and the form is sent again. */
function useOnce() {
  const id = useRef("");
  return async (/** @type {() => Promise<string>} */ create) => (id.current ||= await create());
}

/** @param {WriteProps} p */
function NewObjective({ person, onClose }) {
  const once = useOnce();
  /** @type {FieldOf[]} */
  const fields = [
    { name: "scope", label: t.feedback.kind, kind: "select", isRequired: true,
      options: [["employee", t.work.scopes.employee], ["manager", t.work.scopes.manager], ["org", t.work.scopes.org]] },
    ...about("owner_id", t.feedback.owner, person),
    { name: "title", label: t.work.title, isRequired: true, most: 200 },
    { name: "description", label: t.description, kind: "area", most: 4000, rows: 3 },
    { name: "period_start", label: t.work.from, kind: "date", isRequired: true, isHalf: true },
    { name: "period_end", label: t.work.to, kind: "date", isRequired: true },
    { name: "key_results", label: t.work.results, part: Results },
    { name: "review", label: t.work.then, kind: "select", isRequired: true,
      options: [["draft", t.work.asDraft], ["submit", t.work.andSubmit]] },
  ];
  const send = async (/** @type {Values} */ { review, key_results, ...values }) => {
    const base = values.scope === "employee" ? "/employee-objectives" : "/manager-objectives";
    const body = filled({ owner_id: person, ...values, key_results: resultsOf(key_results) });
    const id = await once(async () => (await request("POST", base, { body })).data.id);
    if (review === "submit") await request("POST", `${base}/${id}/submit`);
    toast(t.work.saved.objectives);
  };
  return html`<${Form} title=${t.work.create.objectives} text=${subject(person)} fields=${fields} send=${send} onClose=${onClose}
    first=${{ period_start: day(), period_end: yearEnd(), key_results: [], owner_id: self() }} />`;
}

/** @param {WriteProps} p */
function NewSummary({ person, onClose }) {
  /** @type {FieldOf[]} */
  const fields = [
    ...about("employee_id", t.work.about, person),
    { name: "title", label: t.work.title, isRequired: true, most: 200 },
    { name: "period_start", label: t.work.from, kind: "date", isHalf: true },
    { name: "period_end", label: t.work.to, kind: "date" },
    { name: "body", label: t.work.body, kind: "area", most: 20_000, rows: 6 },
    ...(isBound() ? [] : [{ name: "author_id", label: t.feedback.author, kind: /** @type {const} */ ("person") }]),
  ];
  const send = async (/** @type {Values} */ values) => {
    const { data } = await request("POST", "/summaries", { body: filled({ employee_id: person, ...values }) });
    if (can("summaries:read")) go(`/feedback/summaries/${data.id}`);
    toast(t.work.saved.summaries);
  };
  return html`<${Form} title=${t.work.create.summaries} text=${subject(person, t.work.draftText)} fields=${fields} send=${send} onClose=${onClose} />`;
}

/** A conversation with its first message. @param {WriteProps} p */
function NewConversation({ person, onClose }) {
  const once = useOnce();
  const mine = self();
  /** @type {FieldOf[]} */
  const fields = [
    { name: "participant_ids", label: mine ? t.work.with : t.work.participants, kind: "people", isRequired: true },
    { name: "title", label: t.work.title, isRequired: true, most: 200 },
    ...(mine ? [{ name: "body", label: t.work.message, kind: /** @type {const} */ ("area"), most: 4000, rows: 4 }] : []),
  ];
  const send = async (/** @type {Values} */ { participant_ids, title, body }) => {
    const people = mine && !participant_ids.includes(mine) ? [mine, ...participant_ids] : participant_ids;
    const id = await once(async () => (await request("POST", "/conversations", { body: { title, participant_ids: people } })).data.id);
    if (body) await request("POST", `/conversations/${id}/messages`, { body: { body } });
    toast(t.work.saved.conversations);
  };
  return html`<${Form} title=${t.work.create.conversations} text=${subject(person)} fields=${fields} send=${send} onClose=${onClose}
    first=${{ participant_ids: person ? [person] : [] }} />`;
}

/** Asks reviewers for observations about a person: of a bound session, about oneself at first. @param {WriteProps} p */
function NewAssignment({ person, first, onClose }) {
  /** @type {FieldOf[]} */
  const fields = [
    ...about("employee_id", t.work.about, person),
    { name: "reviewer_ids", label: t.work.reviewers, kind: "people", isRequired: true },
    { name: "title", label: t.work.question, isRequired: true, most: 200 },
    { name: "instructions", label: t.work.instructions, kind: "area", most: 4000, rows: 3 },
    { name: "due_date", label: t.work.due, kind: "date", isHalf: !isBound() },
    ...(isBound() ? [] : [{ name: "requester_id", label: t.work.requester, kind: /** @type {const} */ ("person") }]),
  ];
  const send = async (/** @type {Values} */ values) => {
    await request("POST", "/assignments", { body: filled({ employee_id: person, ...values }) });
    toast(t.work.saved.assignments);
  };
  return html`<${Form} title=${t.work.create.assignments} text=${subject(person, t.work.assignmentText)} fields=${fields} send=${send} onClose=${onClose}
    first=${{ due_date: day(14), employee_id: self(), ...first }} />`;
}

/** @param {WriteProps} p */
function NewPerson({ first, onClose }) {
  const departments = usePersonOptions();
  const fields = [...personFields(departments),
    { name: "send_invite", label: t.people.invite, kind: "select", isRequired: true, options: [["false", t.work.noInvite], ["true", t.work.invite]] }];
  const send = async (/** @type {Values} */ { custom_fields, send_invite, ...values }) => {
    const { data } = await request("POST", "/employees",
      { body: { ...filled(values), custom_fields: customOf(custom_fields), send_invite: send_invite === "true" } });
    go(`/people/${data.id}`);
    toast(t.work.saved.people);
  };
  return html`<${Form} title=${t.work.create.people} fields=${fields} send=${send} onClose=${onClose}
    first=${{ role: "employee", custom_fields: {}, ...first }} />`;
}

/** @type {Record<string, { scope: string, dialog: any, isOpen?: () => boolean }>} */
const WRITES = {
  observations: { scope: "observations:write", dialog: NewObservation },
  objectives: { scope: "objectives:write", dialog: NewObjective },
  summaries: { scope: "summaries:write", dialog: NewSummary },
  conversations: { scope: "conversations:write", dialog: NewConversation },
  assignments: { scope: "assignments:write", dialog: NewAssignment },
  people: { scope: "employees:write", dialog: NewPerson, isOpen: mayWritePeople },
};

/**
 * A button that opens the dialog for a new resource. Absent without the right.
 * @param {{ name: string, person?: string | null, first?: Values, kind?: "primary" | "quiet", text?: string, label?: string }} p
 */
export function Write({ name, person, first, kind, text, label }) {
  const [isOpen, setIsOpen] = useState(false);
  const { scope, dialog, isOpen: may } = /** @type {NonNullable<typeof WRITES[string]>} */ (WRITES[name]);
  if (!can(scope) || (may && !may())) return null;
  return html`<${Button} kind=${kind} aria-label=${label} onClick=${() => setIsOpen(true)}>${text ?? t.work.create[name]}</${Button}>
    ${isOpen && html`<${dialog} person=${person} first=${first} onClose=${() => setIsOpen(false)} />`}`;
}
