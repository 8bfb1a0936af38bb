// Feedback: observations with search, and the tabs of objectives, summaries, conversations and assignments.

import { orderOf, Save } from "./list_tools.js";
import { request } from "../lib/api.js";
import { useAction, useGet, useList } from "../lib/data.js";
import { date, fullName } from "../lib/format.js";
import { Person, PersonFilter } from "../lib/people.js";
import { href, useRoute } from "../lib/router.js";
import { can } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Card, Closed, Empty, Facts, Filters, Id, Page, Problem, Prose, Shown, Status, Tabs,
  Time } from "../lib/ui.js";
import { html } from "../lib/view.js";
import { t } from "../texts.js";
import { OneObjective } from "./objective_one.js";
import { OneSummary } from "./summary_one.js";
import { Write } from "./write.js";
import { Assignments, Conversations, Objectives, Summaries } from "./feedback_lists.js";

/** @typedef {import("../types").Observation} Observation */
/** @typedef {import("../types").SearchHit} SearchHit */

/** @type {[string, string, any][]} */
const VIEWS = [["observations", t.feedback.observations, Observations],
  ["objectives", t.feedback.objectives, Objectives],
  ["summaries", t.feedback.summaries, Summaries], ["conversations", t.feedback.conversations, Conversations],
  ["assignments", t.feedback.assignments, Assignments]];

export default function Feedback() {
  const { path, query } = useRoute();
  const [, , id, part] = path.split("/");
  if (id === "summaries" && part) return html`<${OneSummary} id=${part} />`;
  if (id && part) return html`<${OneObjective} kind=${id} id=${part} />`;
  if (id) return html`<${One} id=${id} />`;
  const open = VIEWS.filter(([name]) => can(`${name}:read`));
  const view = open.find(([name]) => name === query.view) ?? open[0];
  return html`<${Page} title=${t.screens.feedback} lead=${t.feedback.leads[view?.[0] ?? ""]}
    actions=${view && html`<${Write} key=${view[0]} name=${view[0]} kind="primary" />`}>
    <${Tabs} label=${t.screens.feedback} tabs=${open.map(([name, text]) => [name, text])} />
    ${view && html`<${view[2]} key=${view[0]} />`}
  </${Page}>`;
}

/** @type {[string, string][]} */
const TYPES = [["strength", t.words.strength ?? ""], ["opportunity", t.words.opportunity ?? ""]];

/** Columns of the file of observations, whose rows are observations or hits of a search. @type {[string, (row: any) => unknown][]} */
const FIELDS = /** @type {[string, (one: Observation) => unknown][]} */ ([
  [t.people.person, (one) => one.employee ? fullName(one.employee) : one.employee_id], [t.feedback.type, (one) => t.words[one.type] ?? one.type],
  [t.time, (one) => one.observation_date], [t.feedback.observation, (one) => one.observation], [t.feedback.impact, (one) => one.impact],
  [t.feedback.action, (one) => one.recommended_action], [t.feedback.visibility, (one) => t.words[one.visibility] ?? one.visibility],
  [t.id, (one) => one.id],
]).map(([title, text]) => [title, (row) => text(row.resource ?? row)]);

function Observations() {
  const { query } = useRoute();
  const isSearch = Boolean(query.q);
  const path = isSearch ? "/search" : "/observations";
  const listQuery = isSearch
    ? { q: query.q, types: "observations", "filter[employee_id]": query.person, "filter[type]": query.type }
    : { "filter[employee_id]": query.person, "filter[type]": query.type, "filter[archived]": query.archived,
      expand: can("employees:read") ? "employee,author" : null, sort: query.sort };
  const found = useList(path, listQuery);
  const filters = [
    { name: "q", label: t.search, hint: t.feedback.searchHint },
    { name: "person", label: t.people.person, part: PersonFilter },
    { name: "type", label: t.feedback.type, options: TYPES },
    { name: "archived", label: t.feedback.archived, first: t.feedback.notArchived, isMore: true, isOff: isSearch,
      options: /** @type {[string, string][]} */ ([["true", t.feedback.onlyArchived], ["all", t.all]]) },
    { ...orderOf(["-observation_date", "observation_date", "-created_at", "-updated_at"]), isOff: isSearch },
  ];
  const empty = isSearch
    ? html`<${Empty} title=${t.feedback.notFound} text=${t.feedback.notFoundText} />`
    : html`<${Empty} title=${t.feedback.none} text=${t.feedback.noneText}>
      <${Write} name="observations" person=${query.person} /></${Empty}>`;
  const entry = (/** @type {Observation | SearchHit} */ row) => "resource" in row
    ? html`<${Entry} key=${row.id} observation=${row.resource} highlights=${row.highlights} isShort />`
    : html`<${Entry} key=${row.id} observation=${row} isShort />`;
  return html`<${Filters} filters=${filters}>
      <${Save} name="observations" path=${path} query=${listQuery} fields=${FIELDS} /></${Filters}>
    ${isSearch && query.archived && html`<p class="muted">${t.feedback.notInSearch}</p>`}
    <${Shown} of=${found} empty=${empty}>
      ${(/** @type {(Observation | SearchHit)[]} */ rows) =>
        html`<ul class="list">${rows.map(entry)}</ul>`}</${Shown}>`;
}

/**
 * A text with its matched words. Positions count Unicode scalar values.
 * @param {{ snippet: string, ranges: number[][] }} p
 */
export function Marked({ snippet, ranges }) {
  const letters = [...snippet];
  const parts = [];
  let at = 0;
  for (const [from = 0, to = 0] of ranges) {
    parts.push(letters.slice(at, from).join(""), html`<mark>${letters.slice(from, to).join("")}</mark>`);
    at = to;
  }
  return html`<${Prose}>${parts}${letters.slice(at).join("")}</${Prose}>`;
}

/** @param {{ observation: Observation, highlights?: any[], isShort?: boolean }} p */
function Entry({ observation, highlights, isShort }) {
  const { employee } = observation;
  const person = employee
    ? html`<a class="person" href=${href(`/people/${employee.id}`)} dir="auto">${fullName(employee)}</a>`
    : html`<${Person} id=${observation.employee_id} />`;
  return html`<li class=${`entry ${isShort ? "short" : ""}`}>
    <div class="entry-head"><${Status} word=${observation.type} /><strong>${person}</strong>
      ${observation.author_id && html`<span class="muted">${t.feedback.by} ${observation.author
        ? html`<a class="person" href=${href(`/people/${observation.author_id}`)} dir="auto">${fullName(observation.author)}</a>` : html`<${Person} id=${observation.author_id} />`}</span>`}
      <${Closed} of=${observation} />
      ${observation.archived_at && html`<${Badge}>${t.words.archived}</${Badge}>`}
      <span class="muted time">${date(observation.observation_date)}</span></div>
    ${highlights?.length ? highlights.map((one) => html`<${Marked} key=${one.field} ...${one} />`)
      : html`<${Prose}>${observation.observation}</${Prose}>`}
    ${!highlights && observation.impact &&
      html`<div><span class="muted">${t.feedback.impact}</span><${Prose}>${observation.impact}</${Prose}></div>`}
    ${!highlights && observation.recommended_action &&
      html`<div><span class="muted">${t.feedback.action}</span>
        <${Prose}>${observation.recommended_action}</${Prose}></div>`}
    ${isShort &&
      html`<div class="entry-head">
        <a href=${href(`/feedback/${observation.id}`)}>${t.feedback.context}</a></div>`}</li>`;
}

/** One observation and its context. @param {{ id: string }} p */
function One({ id }) {
  const observation = useGet(`/observations/${id}`,
    { expand: can("employees:read") ? "employee,author,attributes" : "attributes" });
  const one = observation.data;
  const others = useList(one ? "/observations" : null, { "filter[employee_id]": one?.employee_id, limit: 10 });
  const summaries = useList(can("summaries:read") ? "/summaries" : null,
    { "filter[included_observation_id]": id, "filter[status]": "all", limit: 10 });
  const archive = useAction(async () => {
    const send = (/** @type {string} */ verb) => request("POST", `/observations/${id}/${verb}`);
    if (one?.archived_at) {
      await send("restore");
      toast(t.feedback.restored);
    } else {
      await send("archive");
      toast(t.feedback.archivedNow, "good", () => send("restore"));
    }
    observation.reload();
  });
  const actions = one && can("observations:write") &&
    html`<${Button} busy=${archive.isBusy} onClick=${archive.run}>
      ${one.archived_at ? t.feedback.restore : t.feedback.archive}</${Button}>`;
  const title = one?.employee ? t.feedback.about(fullName(one.employee)) : t.feedback.observation;
  const none = html`<p class="muted">${t.nothing}</p>`;
  return html`<${Page} title=${title} back=${{ href: href("/feedback"), text: t.screens.feedback }}
    actions=${actions}>
    ${archive.error && html`<${Problem} error=${archive.error} />`}
    <${Shown} of=${observation}>
      ${(/** @type {Observation} */ data) => html`<div class="stack"><ul><${Entry} observation=${data} /></ul>
      <${Card} title=${t.feedback.details}><${Facts} entries=${[
        [t.feedback.author, html`<${Person} id=${data.author_id} />`],
        [t.feedback.visibility, t.words[data.visibility] ?? data.visibility],
        [t.feedback.attributes,
          data.attributes?.length
            ? html`<div class="tags">
              ${data.attributes.map((tag) => html`<${Badge}>${tag.name}</${Badge}>`)}</div>`
            : "–"],
        [t.people.externalId, data.external_id ?? "–"],
        [t.created, html`<${Time} at=${data.created_at} />`],
        [t.id, html`<${Id} value=${data.id} />`],
        ...Object.entries(data.metadata)]} /></${Card}></div>`}</${Shown}>
    <div class="balance">
      <${Card} title=${t.feedback.others}><${Shown} of=${{ ...others, hasMore: false }} rows=${2} empty=${none}>
        ${(/** @type {Observation[]} */ rows) => html`<ul class="attention">${rows
      .filter((row) => row.id !== id)
        .map((row) =>
          html`<li key=${row.id}><${Status} word=${row.type} />
            <span class="grow">
              <a href=${href(`/feedback/${row.id}`)} dir="auto">${row.observation.slice(0, 120)}</a></span>
        <span class="muted">${date(row.observation_date)}</span></li>`)}</ul>`}</${Shown}></${Card}>
    ${can("summaries:read") &&
      html`<${Card} title=${t.feedback.citedIn}><${Shown} of=${{ ...summaries, hasMore: false }} rows=${2}
        empty=${none}>${(/** @type {import("../types").Summary[]} */ rows) => html`<ul class="attention">${rows
      .map((row) =>
        html`<li key=${row.id}><${Status} word=${row.status} />
          <span class="grow"><a href=${href(`/feedback/summaries/${row.id}`)} dir="auto">${row.title}</a></span></li>`)}</ul>`}</${Shown}></${Card}>`}</div>
  </${Page}>`;
}
