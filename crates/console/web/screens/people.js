// People: list and search, the tree of reporting lines, and one person.

import { readAll, request } from "../lib/api.js";
import { BulkBar, useBulk } from "../lib/bulk.js";
import { useGet, useList } from "../lib/data.js";
import { fullName } from "../lib/format.js";
import { Initials, Person, PersonFilter } from "../lib/people.js";
import { href, useRoute } from "../lib/router.js";
import { can } from "../lib/session.js";
import { Empty, Filters, Page, Problem, Shown, Skeleton, Status, Table, Tabs, Time } from "../lib/ui.js";
import { html, useEffect, useRef, useState } from "../lib/view.js";
import { t } from "../texts.js";
import { canErase, Erasures } from "./people_data.js";
import { canRetain, Retention } from "./people_retention.js";
import { ColumnChoice, orderOf, Save, useColumns } from "./list_tools.js";
import { OnePerson } from "./people_one.js";
import { mayWritePeople, Write } from "./write.js";

/** @typedef {import("../types").Employee} Employee */

export default function People() {
  const { path, query } = useRoute();
  const id = path.split("/")[2];
  if (id) return html`<${OnePerson} id=${id} />`;
  const isOfPeople = !["erasures", "retention"].includes(query.view ?? "");
  const actions = isOfPeople && can("employees:write") && html`<${Write} name="people" kind="primary" />
    <a class="button" href=${href("/import")}>${t.screens.import}</a>`;
  return html`<${Page} title=${t.screens.people} lead=${t.people.lead} actions=${actions}>
    <${Tabs} label=${t.screens.people} tabs=${[["list", t.people.list], ["tree", t.people.tree],
      ...(canErase() ? [["erasures", t.data.receipts]] : []),
      ...(canRetain() ? [["retention", t.retention.title]] : [])]} />
    ${query.view === "tree" ? html`<${Tree} />`
      : query.view === "erasures" && canErase() ? html`<${Erasures} />`
      : query.view === "retention" && canRetain() ? html`<${Retention} />` : html`<${List} />`}
  </${Page}>`;
}

/** @type {[string, string][]} */
const ROLES = [["employee", t.words.employee ?? ""], ["manager", t.words.manager ?? ""],
  ["org_admin", t.words.org_admin ?? ""]];
/** @type {[string, string][]} */
const STATES = [["deactivated", t.words.deactivated ?? ""], ["pending_invite", t.words.pending_invite ?? ""],
  ["all", t.all]];

function List() {
  const { query } = useRoute();
  const departments = useList("/departments", { limit: 100 });
  const names = new Map((departments.rows ?? []).map((one) => [one.id, one.name]));
  const listQuery = { "filter[role]": query.role, "filter[status]": query.state, "filter[department_id]": query.department,
    "filter[manager_id]": query.manager, expand: "manager,department", sort: query.sort };
  const all = useList(query.q ? null : "/employees", listQuery);
  const searchQuery = { q: query.q, types: "employees", "filter[status]": query.state ?? "all" };
  const found = useList(query.q ? "/search" : null, searchQuery);
  const hits = found.rows?.map((one) => /** @type {Employee} */ (one.resource)) ?? null;
  const people = query.q ? { ...found, rows: hits } : all;
  // A search has its own order, and no filter but the state.
  const isOff = Boolean(query.q);
  const filters = [
    { name: "q", label: t.search, hint: t.people.searchHint },
    { name: "state", label: t.state, options: STATES, first: query.q ? t.all : t.words.active },
    { name: "department", label: t.people.department, isOff, options: /** @type {[string, string][]} */ ([...names.entries()]) },
    { name: "role", label: t.people.role, options: ROLES, isMore: true, isOff },
    { name: "manager", label: t.people.manager, part: PersonFilter, isMore: true, isOff },
    { ...orderOf(["last_name", "first_name", "-created_at", "created_at", "-updated_at"]), isOff },
  ];
  const bulk = useBulk(people.rows, { name: fullName, isOpen: (one) => one.status !== "deactivated", may: mayWritePeople() });
  const columns = [...bulk.column,
    { name: "name", label: t.name, isMain: true,
      cell: (/** @type {Employee} */ one) =>
        html`<div class="who"><${Initials} of=${one} /><div><a href=${href(`/people/${one.id}`)} dir="auto">${fullName(one)}</a>
      <span class="cell-note">${one.email}</span></div></div>` },
    { name: "title", label: t.people.title, cell: (/** @type {Employee} */ one) => one.job_title ?? "–" },
    { name: "department", label: t.people.department,
      cell: (/** @type {Employee} */ one) => one.department?.name ?? names.get(one.department_id ?? "") ??
        (one.department_id ? html`<code>${one.department_id}</code>` : "–") },
    { name: "manager", label: t.people.manager, cell: (/** @type {Employee} */ one) => one.manager
      ? html`<a href=${href(`/people/${one.manager.id}`)} dir="auto">${fullName(one.manager)}</a>`
      : html`<${Person} id=${one.manager_id} />` },
    { name: "role", label: t.people.role, cell: (/** @type {Employee} */ one) => html`<span class="word">${t.words[one.role] ?? one.role}</span>` },
    { name: "state", label: t.state,
      cell: (/** @type {Employee} */ one) => html`<${Status} word=${one.status} />
        ${one.deactivated_at && html`<span class="cell-note"><${Time} at=${one.deactivated_at} /></span>`}` },
  ];
  const shown = useColumns(columns);
  const fields = fieldsOf((id) => names.get(id) ?? id);
  const isOfLeft = !query.q && query.state === "deactivated" && !query.role && !query.department && !query.manager;
  const empty = isOfLeft ? html`<${Empty} title=${t.people.nobodyLeft} />` : html`<${Empty} title=${t.people.none} text=${query.q ? "" : t.people.noneText}>
    <${Write} name="people" /></${Empty}>`;
  return html`<${Filters} filters=${filters}>
      <${ColumnChoice} columns=${columns} />
      <${Save} name="people" path=${query.q ? "/search" : "/employees"} query=${query.q ? searchQuery : listQuery} fields=${fields} /></${Filters}>
    ${query.q && !query.state && html`<p class="muted">${t.people.alsoLeft}</p>`}
    ${!query.q && !query.state && html`<p class="muted">${t.people.onlyHere}
      ${" "}<a href=${href("/people", { state: "deactivated" })}>${t.people.left}</a></p>`}
    ${query.q && (query.role || query.department || query.manager) &&
      html`<p class="muted">${t.people.notInSearch}</p>`}
    <${Shown} of=${people} empty=${empty}>${(/** @type {Employee[]} */ rows) => html`
    <${Table} caption=${t.screens.people} columns=${shown} rows=${rows} />`}</${Shown}>
    <${BulkBar} of=${bulk} actions=${bulkActions([...names.entries()])} />`;
}

/** Columns of the file of people, whose rows are people or hits of a search. @param {(id: string) => string} department @returns {[string, (row: any) => unknown][]} */
function fieldsOf(department) {
  /** @type {[string, (one: Employee) => unknown][]} */
  const fields = [
    [t.people.firstName, (one) => one.first_name], [t.people.lastName, (one) => one.last_name], [t.people.email, (one) => one.email],
    [t.people.title, (one) => one.job_title], [t.people.department, (one) => one.department_id && department(one.department_id)],
    [t.people.manager, (one) => one.manager ? fullName(one.manager) : one.manager_id], [t.people.role, (one) => t.words[one.role] ?? one.role],
    [t.state, (one) => t.words[one.status] ?? one.status], [t.people.externalId, (one) => one.external_id], [t.id, (one) => one.id],
  ];
  return fields.map(([title, text]) => [title, (row) => text(row.resource ?? row)]);
}

/** Returns the actions for several people at once. @param {[string, string][]} departments @returns {import("../lib/bulk.js").BulkAction[]} */
const bulkActions = (departments) => [
  { name: "manager", verb: "update", text: t.work.bulk.managerText, field: { name: "manager_id", label: t.people.manager, kind: "person", isRequired: true },
    send: (one, id, quiet) => request("PATCH", `/employees/${one.id}`, { body: { manager_id: id }, ...quiet }) },
  { name: "department", verb: "update", text: t.work.bulk.departmentText, field: { name: "department_id", label: t.people.department, kind: "select", options: departments },
    send: (one, id, quiet) => request("PATCH", `/employees/${one.id}`, { body: { department_id: id || null }, ...quiet }) },
  { name: "deactivate", text: t.work.bulk.deactivateText, isDanger: true,
    send: (one, _, quiet) => request("POST", `/employees/${one.id}/deactivate`, quiet) },
];

/** @typedef {{ person: Employee, level: number, isOpen: boolean, reports: Employee[] | null }} Branch */

/** Pages that are searched for people without a manager. */
const MOST_PAGES = 100;
/** Direct reports that are read, more than a person has. */
const MOST_REPORTS = 10_000;

/** People without a manager: the heads of the trees. */
async function heads() {
  /** @type {Employee[]} */
  const found = [];
  let cursor = /** @type {string | null} */ (null);
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { data } = await request("GET", "/employees",
      { query: { limit: 100, "filter[role]": ["manager", "org_admin"], cursor } });
    found.push(...data.data.filter((/** @type {Employee} */ one) => one.manager_id === null));
    cursor = data.next_cursor;
    if (!data.has_more) break;
  }
  return found;
}

/** Direct reports of a person. @param {string} id @returns {Promise<Employee[]>} */
async function reportsOf(id) {
  return (await readAll("/employees", { "filter[manager_id]": id }, MOST_REPORTS)).rows;
}

function Tree() {
  const [branches, setBranches] = useState(/** @type {Branch[] | null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [active, setActive] = useState(0);
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    heads().then(async (people) => {
      const rows = people.map((person) => ({ person, level: 1, isOpen: false, reports: null }));
      setBranches(rows);
      if (rows.length && rows.length <= 3) await open(rows, 0);
    }).catch(setError);
  }, []);
  const focus = (/** @type {number} */ at) => {
    setActive(at);
    requestAnimationFrame(() =>
      /** @type {HTMLElement | undefined} */ (frame.current?.querySelectorAll("[role=treeitem]")[at])?.focus());
  };
  const open = async (/** @type {Branch[]} */ rows, /** @type {number} */ at) => {
    const branch = /** @type {Branch} */ (rows[at]);
    const reports = branch.reports ?? (await reportsOf(branch.person.id));
    const below = reports.map((person) => ({ person, level: branch.level + 1, isOpen: false, reports: null }));
    setBranches((now) =>
      (now ?? rows).flatMap((one) =>
        (one.person.id === branch.person.id ? [{ ...one, isOpen: true, reports }, ...below] : [one])));
  };
  const close = (/** @type {number} */ at) => setBranches((rows) => {
    if (!rows) return rows;
    const level = rows[at]?.level ?? 0;
    const end = rows.findIndex((one, other) => other > at && one.level <= level);
    return rows.filter((_, other) => other <= at || (end !== -1 && other >= end))
      .map((one, other) => (other === at ? { ...one, isOpen: false } : one));
  });
  const toggle = (/** @type {number} */ at) => branches &&
    (branches[at]?.isOpen ? close(at) : open(branches, at).catch(setError));
  const press = (/** @type {KeyboardEvent} */ event, /** @type {number} */ at) => {
    const rows = branches ?? [];
    const parent = rows.slice(0, at).findLastIndex((one) => one.level < (rows[at]?.level ?? 0));
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => focus(Math.min(at + 1, rows.length - 1)), ArrowUp: () => focus(Math.max(at - 1, 0)),
      Home: () => focus(0), End: () => focus(rows.length - 1),
      ArrowRight: () => (rows[at]?.isOpen ? focus(Math.min(at + 1, rows.length - 1)) : toggle(at)),
      ArrowLeft: () => (rows[at]?.isOpen ? close(at) : parent >= 0 && focus(parent)),
      Enter: () => /** @type {HTMLElement} */ (event.currentTarget).querySelector("a")?.click(),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  if (error) return html`<${Problem} error=${error} />`;
  if (!branches) return html`<${Skeleton} />`;
  if (branches.length === 0) return html`<${Empty} title=${t.people.noTree} text=${t.people.noTreeText} />`;
  return html`<p class="muted"><span class="desk">${t.people.treeText} </span>${t.people.treeNote}</p>
    <div class="tree" role="tree" aria-label=${t.people.tree} ref=${frame}>${branches.map((branch, at) => html`
    <div key=${branch.person.id} role="treeitem" tabindex=${at === active ? 0 : -1} aria-level=${branch.level}
      onFocus=${() => setActive(at)}
      aria-expanded=${branch.reports?.length === 0 ? null : String(branch.isOpen)}
      style=${{ paddingLeft: `${(branch.level - 1) * 22 + 8}px` }}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => press(event, at)}>
      <span class="toggle" aria-hidden="true" onClick=${() => toggle(at)}>
        ${branch.reports?.length === 0 ? "·" : branch.isOpen ? "▾" : "▸"}</span>
      <${Initials} of=${branch.person} /><a href=${href(`/people/${branch.person.id}`)} tabindex="-1" dir="auto">${fullName(branch.person)}</a>
      <span class="muted">${branch.person.job_title ?? ""}</span></div>`)}</div>`;
}
