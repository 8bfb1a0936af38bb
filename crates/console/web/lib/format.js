// Times, numbers and values in the form in which people read them.

import { locale as LOCALE, language } from "./language.js";
import { t } from "../texts.js";

const DATE_TIME = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit",
});
const DATE_TIME_YEAR = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
});
const DATE = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const HOUR = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" });
const RELATIVE = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "long" });
const NUMBER = new Intl.NumberFormat(language);
const PERCENT = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });

const MINUTE = 60_000;
const HOURS = 60 * MINUTE;
const DAY = 24 * HOURS;

/** Time in the zone of the person. @param {string} at */
export function time(at) {
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return (isThisYear ? DATE_TIME : DATE_TIME_YEAR).format(date);
}

/** Time in UTC, for the title of a shown time. @param {string} at */
export const utc = (at) => `${at.replace("T", " ").replace(/\.\d+Z$|Z$/, "")} UTC`;

/** @param {string} at */
export const date = (at) => DATE.format(new Date(at));

/** @param {string | number} at */
export const hour = (at) => HOUR.format(new Date(at));

/** Distance from now: "3 minutes ago", "in 2 hours". @param {string} at @param {number} [now] */
export function relative(at, now = Date.now()) {
  const distance = new Date(at).getTime() - now;
  const size = Math.abs(distance);
  if (size < 45_000) return distance < 0 ? t.justNow : t.soon;
  if (size < HOURS) return RELATIVE.format(Math.round(distance / MINUTE), "minute");
  if (size < DAY) return RELATIVE.format(Math.round(distance / HOURS), "hour");
  return RELATIVE.format(Math.round(distance / DAY), "day");
}

/** @param {number} value */
export const number = (value) => NUMBER.format(value);

/** Never 100 % while something is missing. @param {number} part @param {number} whole */
export function percent(part, whole) {
  if (whole === 0) return "–";
  const share = part / whole;
  return PERCENT.format(share < 1 ? Math.min(share, 0.999) : 1);
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
  return `${Math.round(milliseconds / 60_000)} min`;
}

/** A value of the API as text. @param {unknown} value */
export function plain(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "string") return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? time(value) : value;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A word of the API as people read it: `in_progress` is "In progress". @param {string} word */
export const words = (word) => capital(word.replaceAll(/[_.]/g, " "));

/** What an action did: "Changed". @param {string} verb */
export const verbName = (verb) => t.verbsDone[verb] ? capital(t.verbsDone[verb]) : words(verb);

/** An action of the audit log: `employee.update` is "Person: changed". @param {string} action */
export function actionName(action) {
  const [kind = "", verb = ""] = action.split(".");
  return `${t.kinds[kind] ?? words(kind)}: ${t.verbsDone[verb] ?? words(verb)}`;
}

/** Names of fields that are not the form's own. @type {Record<string, string>} */
const FIELDS = {
  access_level: t.keys.level, active: t.words.active ?? "", allowed_networks: t.keys.networks, attribute_ids: t.feedback.attributes, author_id: t.feedback.author,
  body: t.work.body, category: t.work.organization.category, confidence: t.progress.confidence, created_at: t.created, custom_fields: t.work.custom,
  deactivated_at: t.people.deactivatedAt, department_id: t.people.department, department_name: t.people.department, description: t.description,
  due_date: t.work.due, email: t.people.email, employee_id: t.people.person, environment: t.keys.environment, event_types: t.webhooks.types,
  expires_at: t.keys.end, external_id: t.people.externalId, filter: t.webhooks.filter, first_name: t.people.firstName, headers: t.delivery.headers,
  hris_source: t.people.source, impact: t.feedback.impact, included_objective_ids: t.feedback.objectives, included_observation_ids: t.feedback.observations,
  instructions: t.work.instructions, is_hris_managed: verbName("manage"), job_title: t.people.title, key_results: t.work.results, last_sync_at: t.connectors.last, last_sync_message: t.connectors.issue, last_sync_status: t.connectors.result, last_name: t.people.lastName, manager_email: t.people.manager,
  manager_id: t.people.manager, max_per_second: t.webhooks.rateLimit, name: t.name, note: t.progress.note, objective_review: t.work.organization.objectiveReview,
  observation: t.feedback.observation, observation_date: t.work.day, owner_id: t.feedback.owner, parent_id: t.work.supports, participant_ids: t.work.participants,
  period_end: t.work.to, period_start: t.work.from, progress: t.progress.progress, recommended_action: t.feedback.action, requester_id: t.work.requester,
  retention: t.retention.title, reviewer_ids: t.work.reviewers, role: t.people.role, scope: t.feedback.kind, scopes: t.keys.scopes, status: t.state,
  summary_review: t.work.organization.summaryReview, title: t.work.title, tone: t.work.organization.tone, type: t.feedback.type, url: t.webhooks.url,
  visibility: t.feedback.visibility, visible_custom_fields: t.work.organization.visibleFields,
};

/** The name of a field as forms have it: `manager_id` is "Manager", `approved_at` is "Approved". @param {string} field @param {string} [other] the name without one */
export function fieldName(field, other = words(field.replace(/_ids?$/, ""))) {
  const verb = /^(\w+?)e?d_at$/.exec(field)?.[1];
  const done = verb && [verb, `${verb}e`, verb.replace(/t$/, "")].find((one) => t.verbsDone[one]);
  return FIELDS[field] ?? (done ? verbName(done) : other);
}

/**
 * Cuts a text after this many characters, never within one.
 * @param {string} text @param {number} most
 */
export function short(text, most) {
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join("").trimEnd()}…` : text;
}

/** @param {{ first_name: string, last_name: string }} person */
export const fullName = (person) => `${person.first_name} ${person.last_name}`;

/**
 * The instant of a time of day on a day of the reader's clock, as filters take it. A text that is no day stays, so that the service
 * refuses it.
 * @param {string} day @param {string} clock
 */
const instant = (day, clock) => {
  const at = new Date(`${day}T${clock}`);
  return Number.isNaN(at.getTime()) ? day : at.toISOString();
};
/** @param {string} day */
export const startOfDay = (day) => instant(day, "00:00:00.000");
/** @param {string} day */
export const endOfDay = (day) => instant(day, "23:59:59.999");
