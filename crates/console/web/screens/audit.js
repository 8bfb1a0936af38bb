// The audit log: each change with its fields before and after.

import { Changes, Thing } from "../lib/changes.js";
import { useList } from "../lib/data.js";
import { actionName, endOfDay, startOfDay } from "../lib/format.js";
import { PersonFilter } from "../lib/people.js";
import { href, useRoute } from "../lib/router.js";
import { can, isOperator } from "../lib/session.js";
import { Empty, Filters, Id, Page, Shown, Time } from "../lib/ui.js";
import { html } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {import("../types").AuditEntry} Entry */

/** Verbs of the audit log, by the kind of what is changed. A test compares them with those of the service. @type {Record<string, string>} */
const VERBS = {
  api_key: "announce_end create create_link open_link remind revoke rotate update",
  assignment: "cancel create submit",
  attribute: "archive create restore update",
  connector: "create open_issue pause release resolve_issue resume sync update",
  conversation: "archive create update",
  department: "archive create restore update",
  employee: "accept_invitation change_sign_in_address confirm_identity create deactivate erase hold invite link link_identity log_out_identity manage reactivate read_personal_data rehire release release_hold unlink_identity update",
  erasure: "complete continue rekey",
  identity_provider: "create delete prove rekey update",
  invitation: "mail",
  message: "create",
  notification: "read read_all",
  objective: "approve archive check_in complete create miss reject start submit update",
  observation: "archive create restore update",
  organization: "continue_export create export update",
  retention: "begin complete erase remove",
  session: "begin refuse",
  summary: "approve archive create feedback return share submit update",
  test_data: "reset",
  webhook: "create delete disable redeliver rekey replay report_failing rotate test update",
};
const ACTIONS = Object.entries(VERBS).flatMap(([kind, verbs]) => verbs.split(" ").map((verb) => `${kind}.${verb}`));

/**
 * The filter by actor: a choice of keys and connectors for those who may read them, otherwise an id.
 * @param {string | undefined} actor
 */
function useActors(actor) {
  const mayRead = can("settings:read") && isOperator();
  const keys = useList(mayRead ? "/api-keys" : null, { limit: 100 });
  const connectors = useList(mayRead ? "/connectors" : null, { limit: 100 });
  const filter = { name: "actor", label: t.audit.actor, hint: "key_…" };
  if (!keys.rows || !connectors.rows || keys.hasMore || connectors.hasMore) return filter;
  const options = [...keys.rows.map((one) => [one.id, one.name]), ...connectors.rows.map((one) => [one.id, one.hris_source])];
  // A person, or the key of another data set.
  if (actor && options.every(([id]) => id !== actor)) options.push([actor, actor]);
  return { ...filter, options: /** @type {[string, string][]} */ (options) };
}

export default function Audit() {
  const { query } = useRoute();
  const actors = useActors(query.actor);
  const log = useList("/audit-log", {
    "filter[target_id]": query.target, "filter[actor_id]": query.actor, "filter[action]": query.action,
    "filter[occurred_at][gte]": query.from && startOfDay(query.from),
    "filter[occurred_at][lte]": query.to && endOfDay(query.to),
  });
  const filters = [
    { name: "action", label: t.audit.action,
      options: ACTIONS.map((one) => /** @type {[string, string]} */ ([one, actionName(one)])) },
    { name: "target", label: t.audit.person, part: PersonFilter },
    actors,
    { name: "target", label: t.audit.target, hint: "emp_…", isMore: true },
    { name: "from", label: t.from, type: "date", isMore: true }, { name: "to", label: t.to, type: "date", isMore: true },
  ];
  return html`<${Page} title=${t.screens.audit} lead=${t.audit.lead}><${Filters} filters=${filters} />
    <${Shown} of=${log} empty=${html`<${Empty} title=${t.audit.none} text=${t.audit.noneText} />`}>
      ${(/** @type {Entry[]} */ rows) => html`
      <ul class="list">
        ${rows.map((one) => html`<${Line} key=${one.id} entry=${one} />`)}</ul>`}</${Shown}></${Page}>`;
}

/** @param {{ entry: Entry }} p */
function Line({ entry }) {
  const { actor, target } = entry;
  return html`<li class="entry"><div class="entry-head"><strong title=${entry.action}>${actionName(entry.action)}</strong><${Thing} id=${target.id} isGone=${entry.action.endsWith(".delete")} />
      <a class="muted" href=${href("/audit", { target: target.id })}>${t.audit.onlyTarget}</a>
      <span class="muted time"><${Time} at=${entry.occurred_at} exact=${true} /></span></div>
    <${Changes} changes=${entry.changes} />
    ${entry.comment && html`<p class="prose" dir="auto">${entry.comment}</p>`}
    <div class="entry-head by muted">
      <span>
        ${t.audit.by} ${actor.id
          ? html`<a href=${href("/audit", { actor: actor.id })} dir="auto">${actor.name}</a>` : actor.name}
      ${" "}(${t.words[actor.type] ?? actor.type})</span>
    ${entry.request_id && html`<span>${t.requestId} <${Id} value=${entry.request_id} /></span>`}
      ${entry.context.ip && html`<span>${entry.context.ip}</span>`}</div></li>`;
}
