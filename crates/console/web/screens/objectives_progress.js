// Progress of an objective: its key results as bars, the line over its period, its check-ins and the form for one.

import { request } from "../lib/api.js";
import { Line, Progress } from "../lib/charts.js";
import { useAction, useList } from "../lib/data.js";
import { Dialog } from "../lib/dialog.js";
import { date, percent } from "../lib/format.js";
import { Person } from "../lib/people.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Field, Problem, Prose, Shown, Time, fieldError } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").Objective} Objective */
/** @typedef {import("../types").CheckIn} CheckIn */

/** @type {Record<string, "good" | "warn" | "bad">} */
const TONES = { on_track: "good", at_risk: "warn", off_track: "bad" };
const QUIET_DAYS = 14;
const CONFIDENCES = ["on_track", "at_risk", "off_track"];

/** The beginning of the day since which an objective should have a check-in. */
export const quietSince = () =>
  new Date(Date.now() - QUIET_DAYS * 86_400_000).toISOString().slice(0, 10) + "T00:00:00Z";

/** Objectives that should have had a check-in. @param {Objective} one */
export const isOverdue = (one) => one.status === "in_progress" && (one.last_check_in_at ?? one.approved_at ?? one.created_at) < quietSince();

/** A value with the unit of its key result, which may be removed. @param {any} result @param {number} value */
const measured = (result, value) => result?.metric === "boolean" ? (value === 1 ? t.progress.yes : t.progress.no)
  : result?.metric === "percent" ? percent(value, 100) : `${value}${result?.unit ? ` ${result.unit}` : ""}`;

/** Confidence of the last check-in. @param {{ of: Objective }} p */
export const Confidence = ({ of }) => of.confidence && html`<${Badge} tone=${TONES[of.confidence]}>
  ${t.words[of.confidence] ?? of.confidence}</${Badge}>`;

/** The figures of an objective. @param {{ of: Objective }} p */
export function Figures({ of }) {
  return html`${of.progress !== null &&
      html`<${Progress} label=${t.progress.progress} of=${of.progress} text=${percent(of.progress, 100)} />`}
    ${of.key_results.map((one) => html`<${Progress} key=${one.id} label=${one.title} of=${one.progress}
      text=${t.progress.way(measured(one, one.start), measured(one, one.current), measured(one, one.target))} />`)}
    ${(of.confidence ?? of.last_check_in_at) && html`<div class="entry-head muted">
      <${Confidence} of=${of} />
      <span>${t.progress.last} <${Time} at=${of.last_check_in_at} none=${t.never} /></span></div>`}`;
}

/** The check-ins of an objective, newest first. @param {{ path: string, objective: Objective }} p */
export function CheckInSteps({ path, objective }) {
  const list = useList(/** @type {"/employee-objectives/{}/check-ins"} */ (`${path}/check-ins`), { limit: 100 });
  const day = (/** @type {string} */ at) => new Date(at).getTime();
  const result = (/** @type {{ id: string }} */ changed) => objective.key_results.find((one) => one.id === changed.id);
  return html`
    <${Shown} of=${list} empty=${html`<p class="muted">${t.progress.none}</p>`}>
      ${(/** @type {CheckIn[]} */ rows) => html`
      <${Line} label=${t.progress.overTime} from=${day(objective.period_start)} to=${day(objective.period_end)}
        names=${[date(objective.period_start), date(objective.period_end)]}
        points=${rows.filter((one) => one.progress !== null)
          .map((one) => ({ at: day(one.created_at), value: one.progress ?? 0, name: date(one.created_at) }))
          .reverse()} />
      <ol class="steps">${rows.map((one) => html`<li key=${one.id}><div class="step-head">
        <strong>${one.progress === null ? "–" : percent(one.progress, 100)}</strong>
        ${one.confidence && html`<${Badge} tone=${TONES[one.confidence]}>
          ${t.words[one.confidence] ?? one.confidence}</${Badge}>`}
        ${one.author_id && html`<${Person} id=${one.author_id} />`}
        <span class="muted"><${Time} at=${one.created_at} /></span></div>
        ${one.note && html`<${Prose}>${one.note}</${Prose}>`}
        ${one.key_results.length > 0 && html`<ul>${one.key_results.map((changed) => html`<li key=${changed.id}
          dir="auto">${t.progress.moved(changed.title, measured(result(changed), changed.from),
            measured(result(changed), changed.to))}</li>`)}</ul>`}</li>`)}
      </ol>`}</${Shown}>`;
}

/** `true` if the key may check in on the objective now. @param {Objective} one */
export const mayCheckIn = (one) =>
  can("objectives:write") && (one.status === "approved" || one.status === "in_progress");

/**
 * The form of a check-in. Values that stay as they are are not sent.
 * @param {{ path: string, objective: Objective, onClose: () => void, onDone: () => void }} p
 */
export function CheckInForm({ path, objective, onClose, onDone }) {
  const [values, setValues] = useState(/** @type {Record<string, string>} */ ({}));
  const [confidence, setConfidence] = useState("");
  const [note, setNote] = useState("");
  const results = objective.key_results;
  const set = (/** @type {string} */ name) => (/** @type {any} */ event) =>
    setValues({ ...values, [name]: event.target.value });
  const given = Object.entries(values).filter(([, value]) => value !== "");
  const isEmpty = given.length === 0 && !confidence && !note.trim();
  const { run, isBusy, error } = useAction(async () => {
    const sent = given.filter(([id]) => id !== "progress").map(([id, value]) => ({ id, current: Number(value) }));
    const body = { ...(confidence ? { confidence } : {}), ...(note.trim() ? { note: note.trim() } : {}),
      ...(values["progress"] ? { progress: Number(values["progress"]) } : {}),
      ...(sent.length > 0 ? { key_results: sent } : {}) };
    await request("POST", `${path}/check-ins`, { body });
    toast(t.progress.done(objective.title));
    onDone();
    onClose();
  });
  const foot = html`<${Button} onClick=${onClose}>${t.cancel}</${Button}>
    <${Button} kind="primary" busy=${isBusy} disabled=${isEmpty} onClick=${run}>${t.progress.checkIn}</${Button}>`;
  const place = (/** @type {string} */ id) => given.filter(([name]) => name !== "progress")
    .findIndex(([name]) => name === id);
  return html`<${Dialog} title=${t.progress.checkIn} onClose=${onClose} foot=${foot}>
    <p dir="auto"><strong>${objective.title}</strong></p>
    ${results.length === 0 && html`<${Field} label=${t.progress.progress} hint=${t.progress.percentHint}
      error=${fieldError(error, "progress")}>
      <input type="number" inputmode="numeric" min="0" max="100" value=${values["progress"] ?? ""}
        onInput=${set("progress")} /></${Field}>`}
    ${results.map((one) => html`<${Field} key=${one.id} label=${one.title}
      hint=${t.progress.way(measured(one, one.start), measured(one, one.current), measured(one, one.target))}
      error=${fieldError(error, `key_results[${place(one.id)}]`)}>
      ${one.metric === "boolean"
        ? html`<select value=${values[one.id] ?? ""} onChange=${set(one.id)}>
          <option value="">${t.progress.unchanged}</option><option value="1">${t.progress.yes}</option>
          <option value="0">${t.progress.no}</option></select>`
        : html`<input type="number" inputmode="decimal" step="any" value=${values[one.id] ?? ""}
          placeholder=${String(one.current)} onInput=${set(one.id)} />`}</${Field}>`)}
    <${Field} label=${t.progress.confidence} error=${fieldError(error, "confidence")}>
      <select value=${confidence} onChange=${(/** @type {any} */ event) => setConfidence(event.target.value)}>
        <option value="">${t.progress.unstated}</option>
        ${CONFIDENCES.map((word) => html`<option value=${word}>${t.words[word]}</option>`)}</select></${Field}>
    <${Field} label=${t.progress.note} hint=${t.optional} error=${fieldError(error, "note")}>
      <textarea maxlength="2000" value=${note} dir="auto"
        onInput=${(/** @type {any} */ event) => setNote(event.target.value)}></textarea></${Field}>
    ${error && html`<${Problem} error=${error} />`}</${Dialog}>`;
}
