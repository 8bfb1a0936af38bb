// The organization: its name and the rules of its reviews, departments, and attributes of observations.

import { request } from "../lib/api.js";
import { useAction, useGet, useList } from "../lib/data.js";
import { Form } from "../lib/form.js";
import { useRoute } from "../lib/router.js";
import { can, isAdmin } from "../lib/session.js";
import { toast } from "../lib/toast.js";
import { Button, Card, Empty, Facts, Filters, Id, Page, Problem, Shown, Status, Table, Tabs, Time } from "../lib/ui.js";
import { html, useState } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../lib/form.js").FieldOf} FieldOf */
/** @typedef {import("../types").Organization} Organization */

const o = t.work.organization;
/** @type {[string, string, string][]} */
const VIEWS = [["settings", o.settings, "settings:read"], ["departments", o.departments, "employees:read"], ["attributes", o.attributes, "observations:read"]];
/** @type {[string, string][]} */
const TONES = ["neutral", "positive", "constructive"].map((tone) => [tone, o.tones[tone]]);

/** @type {Record<string, { path: "/departments" | "/attributes", scope: string, create: string, none: string, noneText: string, fields: FieldOf[] }>} */
const KINDS = {
  departments: { path: "/departments", scope: "employees:write", create: o.newDepartment, none: o.noDepartments, noneText: o.noDepartmentsText,
    fields: [{ name: "name", label: t.name, isRequired: true, most: 120 }] },
  attributes: { path: "/attributes", scope: "observations:write", create: o.newAttribute, none: o.noAttributes, noneText: o.noAttributesText,
    fields: [{ name: "name", label: t.name, isRequired: true, most: 80 }, { name: "category", label: o.category, isRequired: true, most: 80 },
      { name: "tone", label: o.tone, kind: "select", isRequired: true, options: TONES }] },
};

export default function OrganizationPage() {
  const { query } = useRoute();
  const open = VIEWS.filter(([, , scope]) => can(scope));
  const view = (open.find(([name]) => name === query.view) ?? open[0])?.[0] ?? "";
  const kind = KINDS[view];
  const [isNew, setIsNew] = useState(false);
  const create = (/** @type {string} */ look) => kind && isAdmin() && can(kind.scope) &&
    html`<${Button} kind=${look} onClick=${() => setIsNew(true)}>${kind.create}</${Button}>`;
  const send = async (/** @type {any} */ values) => {
    await request("POST", kind?.path ?? "", { body: values });
    toast(o.stored(values.name));
  };
  return html`<${Page} title=${t.screens.organization} lead=${o.lead} actions=${create("primary")}>
    <${Tabs} label=${t.screens.organization} tabs=${open.map(([name, text]) => [name, text])} />
    ${view === "settings" ? html`<${Settings} />` : kind && html`<${Names} key=${view} kind=${kind} create=${create("")} />`}
    ${isNew && kind && html`<${Form} title=${kind.create} fields=${kind.fields} send=${send} onClose=${() => setIsNew(false)} />`}
  </${Page}>`;
}

function Settings() {
  const read = useGet("/organization");
  const [version, setVersion] = useState(/** @type {{ was: any, etag: string | null } | null} */ (null));
  const mayWrite = can("settings:write") && isAdmin();
  const reviews = /** @type {[string, string][]} */ (Object.entries(o.reviews));
  /** @type {FieldOf[]} */
  const fields = [{ name: "name", label: o.name, isRequired: true, most: 120 },
    { name: "objective_review", label: o.objectiveReview, kind: "select", isRequired: true, options: reviews },
    { name: "summary_review", label: o.summaryReview, kind: "select", isRequired: true, options: reviews },
    { name: "visible_custom_fields", label: o.visibleFields, hint: o.visibleHint }];
  const keys = (/** @type {string | null} */ text) => (text ?? "").split(",").map((one) => one.trim()).filter(Boolean);
  const edit = () => read.data && setVersion({ etag: read.etag,
    was: { ...read.data, visible_custom_fields: read.data.visible_custom_fields?.join(", ") || null } });
  const send = async (/** @type {any} */ values, /** @type {string | null} */ etag) => {
    const body = "visible_custom_fields" in values ? { ...values, visible_custom_fields: keys(values.visible_custom_fields) } : values;
    await request("PATCH", "/organization", { body, etag });
    toast(o.saved);
  };
  return html`<${Shown} of=${read}>${(/** @type {Organization} */ one) => html`<${Card} title=${o.settings}
      actions=${mayWrite && html`<${Button} onClick=${edit}>${t.edit}</${Button}>`}><${Facts} entries=${[
        [o.name, one.name], [o.objectiveReview, o.reviews[one.objective_review] ?? one.objective_review],
        [o.summaryReview, o.reviews[one.summary_review] ?? one.summary_review],
        [o.visibleFields, one.visible_custom_fields?.join(", ") || (one.visible_custom_fields ? t.none : t.all)],
        [t.created, html`<${Time} at=${one.created_at} />`], [t.id, html`<${Id} value=${one.id} />`]]} /></${Card}>`}</${Shown}>
    ${version && html`<${Form} title=${o.settings} action=${t.save} fields=${fields} send=${send} onClose=${() => setVersion(null)}
      of=${{ path: "/organization", was: version.was, etag: version.etag, onReload: read.reload }} />`}`;
}

/** Departments or attributes. @param {{ kind: NonNullable<typeof KINDS[string]>, create: any }} p */
function Names({ kind, create }) {
  const { query } = useRoute();
  const list = useList(kind.path, { "filter[archived]": query.archived });
  const [version, setVersion] = useState(/** @type {{ was: any, etag: string | null } | null} */ (null));
  const mayWrite = isAdmin() && can(kind.scope);
  const edit = useAction(async (/** @type {string} */ id) => {
    const { data, etag } = await request("GET", /** @type {string} */ (`${kind.path}/${id}`));
    setVersion({ was: data, etag });
  });
  const archive = useAction(async (/** @type {any} */ one) => {
    await request("POST", `${kind.path}/${one.id}/${one.archived_at ? "restore" : "archive"}`);
    toast(one.archived_at ? o.isRestored(one.name) : o.isArchived(one.name));
  });
  const send = async (/** @type {any} */ values, /** @type {string | null} */ etag) => {
    await request("PATCH", `${kind.path}/${version?.was.id}`, { body: values, etag });
    toast(o.stored(values.name ?? version?.was.name));
  };
  const hasTone = kind.path === "/attributes";
  const columns = [{ name: "name", label: t.name, isMain: true, cell: (/** @type {any} */ one) => html`<span dir="auto">${one.name}</span>` },
    ...(hasTone ? [{ name: "category", label: o.category, cell: (/** @type {any} */ one) => html`<span dir="auto">${one.category}</span>` },
      { name: "tone", label: o.tone, cell: (/** @type {any} */ one) => o.tones[one.tone] ?? one.tone }] : []),
    ...(query.archived === "all" ? [{ name: "state", label: t.state, cell: (/** @type {any} */ one) => one.archived_at ? html`<${Status} word="archived" />` : o.present }] : []),
    ...(mayWrite ? [{ name: "actions", label: t.actions, cell: (/** @type {any} */ one) => html`<div class="actions">
      ${!one.archived_at && html`<${Button} aria-label=${`${t.edit}: ${one.name}`} onClick=${() => edit.run(one.id)}>${t.edit}</${Button}>`}
      <${Button} aria-label=${`${one.archived_at ? o.restore : o.archive}: ${one.name}`} busy=${archive.isBusy} onClick=${() => archive.run(one)}>
        ${one.archived_at ? o.restore : o.archive}</${Button}></div>` }] : [])];
  const filters = [{ name: "archived", label: t.state, first: o.present,
    options: /** @type {[string, string][]} */ ([["true", o.archived], ["all", t.all]]) }];
  const error = edit.error ?? archive.error;
  return html`<${Filters} filters=${filters} />${error && html`<${Problem} error=${error} />`}
    <${Shown} of=${list} empty=${html`<${Empty} title=${kind.none} text=${kind.noneText}>${create}</${Empty}>`}>
      ${(/** @type {any[]} */ rows) => html`<${Table} caption=${hasTone ? o.attributes : o.departments} columns=${columns} rows=${rows} />`}</${Shown}>
    ${version && html`<${Form} title=${t.edit} action=${t.save} fields=${kind.fields} send=${send} onClose=${() => setVersion(null)}
      of=${{ path: `${kind.path}/${version.was.id}`, was: version.was, etag: version.etag, onReload: list.reload }} />`}`;
}
