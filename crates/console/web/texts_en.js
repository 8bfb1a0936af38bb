// All words of the console in English.

import { csv } from "./texts_csv.js";
import { progress } from "./texts_progress.js";
import { work } from "./texts_work.js";
import { signIn } from "./texts_sign_in.js";

/** @type {Record<string, string>} */
const words = {
  success: "Success", failed: "Failed", dropped: "Dropped", active: "Active", paused: "Paused", failing: "Failing",
  pending: "Pending", disabled: "Disabled", revoked: "Revoked",
  expired: "Expired", expiring: "Expires soon", employee: "Employee", manager: "Manager", org_admin: "Org admin",
  org: "Organization", deactivated: "Deactivated",
  pending_invite: "Invited", strength: "Strength", opportunity: "Opportunity", proposed: "Proposed",
  in_review: "In review", approved: "Approved",
  in_progress: "In progress", completed: "Completed", running: "Running", held: "Held", missed: "Missed", archived: "Archived", draft: "Draft",
  pending_review: "In review", shared: "Shared", open: "Open",
  canceled: "Canceled", submitted: "Submitted", all: "All", standard: "Standard", admin: "Admin",
  api_key: "API key", connector: "Connector", system: "Service",
  person: "The person and managers", managers: "Managers only", create: "Create", update: "Update",
  deactivate: "Deactivate", reactivate: "Reactivate", skip: "Unchanged",
  reject: "Refused", succeeded: "Succeeded", partial: "Partly applied", link_open: "Link not opened",
  link_over: "Link expired", off: "Off",
  manager_pending: "Manager unknown", reporting_cycle: "Reporting cycle", too_deep: "Too many managers above",
  department_archived: "Department archived",
  last_admin: "Last org admin", managed_elsewhere: "Managed elsewhere", identity_conflict: "Several people match",
  adoption_unconfirmed: "Confirm the adoption",
  on_track: "On track", at_risk: "At risk", off_track: "Off track", none: "Not given",
};

/** @type {Record<string, string>} */
const failures = {
  status: "Status other than 2xx", redirect: "Redirect", gone: "410 Gone", not_https: "Not HTTPS",
  forbidden_address: "Address not allowed", unresolvable: "Host not found",
  connect: "Connection refused", tls: "TLS error", timeout: "Timeout", closed: "Connection closed",
  malformed: "Not valid HTTP", too_large: "Answer too large", too_late: "Retry window over",
  other: "Other",
};

/** @type {Record<string, string>} */
const failureTexts = {
  status: "The receiver answered with an error. Correct the receiver, then resend this delivery.",
  redirect: "The receiver answered with a redirect, which is not followed. Change the URL of the subscription.",
  gone: "The receiver answered 410. Change the URL of the subscription, or delete it.",
  not_https: "The URL is not HTTPS. Change the URL of the subscription.",
  forbidden_address:
    "The host resolves to an address that is not public. " +
      "Change the URL, or ask the operator to trust the network.",
  unresolvable: "DNS does not know the host. Correct the URL or the DNS record.",
  connect: "No connection to the receiver. Start it or open its port, then resend this delivery.",
  tls: "The TLS handshake failed. Renew or correct the receiver's certificate.",
  timeout: "The receiver did not answer in time. Acknowledge first and work later.",
  closed: "The receiver closed the connection before it answered.",
  malformed: "The response was not valid HTTP.",
  too_large: "The event is too large to deliver.",
  too_late: "The retry window was over before the attempt.",
};

/** @type {any} */
const problems = {
  canceled: "Canceled", canceled_write: "Canceled without an answer",
  no_answer: "No answer", screen_not_loaded: "The screen did not load",
  no_connection: "No connection to the service", validation_error: "Some values are not valid",
  bad_request: "The request is malformed",
  authentication_required: "The key is not accepted", permission_denied: "This key may not do that",
  not_found: "Not found", conflict: "Not possible in the current state",
  idempotency_conflict: "The request was sent before with another content",
  unprocessable: "A referenced resource does not fit", rate_limited: "Too many requests",
  server_error: "The service failed", unavailable: "The service is temporarily unavailable",
  timeout: "The request took too long", console_error: "The console failed",
  link_ended: "The link no longer opens", no_provider: "No sign-in for this address",
  sign_in_denied: "The sign-in was refused", sign_in_expired: "The sign-in took too long",
  sign_in_not_linked: "The account belongs to no person here", sign_in_provider: "The provider did not sign you in",
  session_open: "The session is still open",
  other: (/** @type {number} */ status) => (status ? `Error ${status}` : "Error"),
};

/** @type {any} */
export const t = {
  words, failures, failureTexts, problems,
  listed: "Correct what the list names, then try again.",
  unanswered: "The service has not answered yet.", cancelRequest: "Cancel the request",
  problemTexts: { canceled: "You canceled the request.",
    canceled_write: "You canceled the request, which may be done all the same. Look at the result before you repeat it.",
    no_connection: "Check the network, then try again.",
    no_answer: "The service did not answer within 30 seconds. Try again.",
    screen_not_loaded: "The service is not reachable, or it was upgraded and this tab has the former version. Try " +
      "again, or reload the page.",
    authentication_required: "The key is missing, expired or revoked.",
    link_ended: "A link opens once, within 30 minutes. It was used, is too old, or was taken back. Ask for " +
      "another link, or enter a key.",
    no_provider: "Check the address. If it is right, ask an administrator whether your organization signs in here, or " +
      "enter a key.",
    sign_in_denied: "You or the provider canceled it. Try again, or ask an administrator whether you may use Candor.",
    sign_in_expired: "It was not finished within 10 minutes, or it began in another browser. Begin again here.",
    sign_in_not_linked: "The provider knows you, but the account leads to no active person of the organization. Ask an " +
      "administrator to link it.",
    sign_in_provider: "The provider could not be reached, or its answer was not valid. Try again in a few minutes, then " +
      "tell an administrator.",
    session_open: "You are signed out here, but the service did not answer, so the session ends by itself later. An " +
      "administrator can end it now." },
  lists: { sort: "Order", columns: "Columns", save: "Download as CSV",
    saved: (/** @type {string} */ count) => `Downloaded: ${count} rows`,
    cut: (/** @type {string} */ count) => `The list is longer: the file has its first ${count} rows.`,
    /** @type {Record<string, string>} */
    sorts: { last_name: "Last name", first_name: "First name", "-created_at": "Created last", created_at: "Created first",
      "-updated_at": "Changed last", "-observation_date": "Latest date", observation_date: "Earliest date",
      "-period_end": "Latest end", period_end: "Earliest end", last_check_in_at: "Oldest check-in" } },
  palette: { title: "Search", hint: "A name, a word, a screen or an id", results: "Results", id: "Open the id",
    count: (/** @type {number} */ count) => (count === 0 ? "Nothing found." : count === 1 ? "1 result" : `${count} results`) },
  charts: { hour: "Hour", numbers: "As a table", most: (/** @type {string} */ count) => `Highest bar: ${count} in an hour` },
  screens: { today: "Today", webhooks: "Webhooks", events: "Events", people: "People", import: "CSV import",
    feedback: "Feedback", me: "My page", team: "My team", organization: "Organization", keys: "API keys", audit: "Audit log",
    connectors: "Connectors", signIn: "Sign-in" },
  undo: "Undo", undone: "Undone", notUndone: "It could not be undone: it was changed meanwhile.", justNow: "just now", soon: "in a few seconds", chooseLanguage: "Language",
  navigation: "Screens", moreScreens: "More", skip: "Skip to the content", signOut: "Sign out", theme: "Colours", display: "Display", density: "Density", densities: { comfortable: "Comfortable", compact: "Compact" },
  themes: { system: "System", light: "Light", dark: "Dark" },
  environments: { live: "Live", test: "Test" },
  quotas: { read: "Reads", write: "Writes", webhook_test: "Webhook tests", csv: "CSV imports",
    export: "Exports", scim: "SCIM" },
  loading: "Loading …", more: "Show more", tryAgain: "Try again", requestId: "Request", copy: "Copy",
  copied: "Copied", notCopied: "The browser does not allow copying",
  cancel: "Cancel", close: "Close", remove: "Remove", goOn: "Keep it open", discard: "Discard", closeNow: "Close it",
  draftKept: "What you typed before is still here.", typedLoses: "Discard what you typed?", secretLoses: "Close it? The secret is not shown again.", save: "Save", create: "Create", edit: "Edit", delete: "Delete",
  stored: "I have stored it", required: "Required", optional: "Optional",
  any: "Any", all: "All", clear: "Clear", filters: "Filters", moreFilters: "More filters", fewerFilters: "Fewer filters", search: "Search", state: "State", time: "Time",
  name: "Name", id: "Id", field: "Field", actions: "Actions", from: "From", to: "To",
  description: "Description", created: "Created", never: "Never", none: "None", nothing: "Nothing here.",
  before: "before", after: "after", findPerson: "Name or e-mail", choosePerson: "Choose a person from the list, or empty the field.", searchFailed: "The search failed. Type again.",
  peopleFound: (/** @type {number} */ count) => (count === 0 ? "Nobody found." : count === 1 ? "1 person found" : `${count} people found`),
  notHere: "Not found", notHereTitle: "This view does not exist",
  notHereText: "The address may be of another version.", closedTitle: "This key may not see this view", or: " or ",
  requests: "Requests", requestsText: "The requests of this view, newest first.",
  reload: "Reload the page",
  setup: "Once, in the shell, with your key in place of …:",
  noRequests: "No requests yet", language: "Language", code: "the code",
  missingScope: (/** @type {string} */ scope) =>
    `The key lacks the scope ${scope}. Ask an administrator for a key that has it.`,
  missingLevel: "This needs a key of the admin level.",
  missingKind: { admin: "This needs a key of the admin level.", bound: "This needs a session that acts for a person.",
    operator: "This needs a key of the admin level for the live data.",
    organization: "This needs a key of the admin level for the live data that acts for no person.",
    unbound: "This needs a key that acts for no person." },
  waiting: (/** @type {number} */ status, /** @type {number} */ seconds) =>
    status === 429 ? `The quota of this key is used up. Waiting ${seconds} s, then trying again.`
    : `The service is busy. Waiting ${seconds} s, then trying again.`,
  entrance: {
    title: "Open the console",
    text: "Sign in with the account of your organization. Candor never sees its password.", email: "Work address",
    signIn: "Sign in", emailHint: "Leads to the provider of your organization. It is not kept.",
    or: "Or with a key", key: "API key", keep: "Keep the key until this tab is closed",
    open: "Open", hint: "The console shows what the key may see and offers what it may do.", docs: "API reference",
    again: "Sign in again",
    againText: "The service no longer accepts the session or the key: it is expired or revoked. What you typed is still there.",
    newTab: "Sign in in a new tab", newTabText: "Then come back here: this tab goes on by itself.",
  },
  commandLine: {
    title: "Sign in the command line", text: "The program candor on this computer waits for a sign-in. It gets a session " +
      "of yours and may do what you may do.",
    compare: "Go on only if you have just started candor login, and if it shows this code:", wrong: "If not, close this page: " +
      "somebody else may have sent you here.", code: "Code",
    signIn: "The codes are the same: sign in",
  },
  offer: {
    session: (/** @type {any} */ linked, /** @type {any} */ current) => `You signed in to ${linked.organization_name} ` +
      `(“${linked.name}”). Now you are in ${current.organization_name} with “${current.name}”. ` +
      "What you do after that is done with the new session.",
    title: (/** @type {string} */ name) => `Open ${name}?`,
    first: (/** @type {any} */ linked) => `This link opens ${linked.organization_name} (${linked.organization_id}) with the ` +
      `key “${linked.name}”. Open it only if you expected it: anybody can send a link into an organization of theirs.`,
    text: (/** @type {any} */ linked, /** @type {any} */ current) => `This link opens ${linked.organization_name} ` +
      `with the key “${linked.name}”. Now you are in ${current.organization_name} with the key “${current.name}”. ` +
      "What you do after that is done in the other organization.",
    open: "Open it",
  },
  stale: { title: "Changed meanwhile", untouched: "Not changed by you",
    text: "While you were editing, the fields below were saved. Choose which version stays.",
    others: "While you were editing, other fields were saved than those of this form. Your version changes none of them.",
    stored: "Stored now", typed: "Your version",
    theirs: "Keep the stored version", mine: "Save my version" },
  today: {
    lead: (/** @type {string} */ name) => `What needs attention, as seen with the key “${name}”.`,
    leadOfPerson: "What waits for you.",
    attention: "Needs attention", calm: "Nothing waits",
    /** @type {Record<string, string>} */
    calmOf: { webhooks: "No webhook is paused or failing.", connectors: "No connector is paused or failing.",
      keys: "No key ends within 14 days.", objectives: "No objective waits for a review.",
      summaries: "No summary waits for a review.", assignments: "No assignment is overdue." },
    unseen: "This key sees nothing that could wait",
    success: "Delivered, 24 hours", slowest: "slowest subscription", queue: "Queue",
    failing: "Failing subscriptions", quota: "Quota of this key",
    quotaText: "Requests of this key within a minute, as of the last answer to this tab.",
    requests: "Requests by hour, last 24 hours", answered: "answered", refusedOrFailed: "refused or failed",
    requestsLabel: (/** @type {number} */ good, /** @type {number} */ bad) =>
      `Requests of the last 24 hours: ${good} answered, ${bad} refused or failed`,
    ofSubscriptions: (/** @type {number} */ count) =>
      (count === 1 ? "of 1 subscription" : `of ${count} subscriptions`),
    others: (/** @type {number} */ count) => `and ${count} more`,
    planEndsEarly: "The service has shown the changes of some rows only. A smaller file shows all of them.",
    othersAtLeast: (/** @type {number} */ count) => `and at least ${count} more`,
    used: (/** @type {string} */ part, /** @type {string} */ whole) => `${part} of ${whole}`,
    most: (/** @type {string} */ whole) => `at most ${whole} a minute`,
  },
  /** What waits, by its kind. @type {Record<string, string>} */
  matters: { webhook_inactive: "Webhook paused", webhook_failing: "Webhook fails", connector_paused: "Connector is paused",
    connector_failing: "Connector has issues", api_key_expiring: "Key expires", objective_returned: "Sent back", summary_returned: "Sent back",
    feedback_requested: "Feedback asked", summary_shared: "Summary to read", objective_in_review: "Objective in review",
    summary_in_review: "Summary in review", assignment_overdue: "Assignment overdue", objective_quiet: "No check-in for 14 days" },
  webhooks: {
    lead: "Subscriptions that receive events, and every attempt to deliver one.", create: "New subscription",
    subscriptions: "Subscriptions", deliveries: "Deliveries", subscription: "Subscription",
    delivery: "Delivery", receiver: "Receiver", rate: "Delivered, 24 h", rate24: "Delivered, 24 hours",
    p95: "95th percentile", nextAttempt: "Next attempt", lastAttempt: "Last attempt",
    none: "No subscriptions yet", noneText: "Create a subscription to receive events at a URL of yours.",
    event: "Event", eventId: "Event id", result: "Result", answer: "HTTP", took: "Duration", attempt: "Attempt",
    attempts: (/** @type {number} */ count) =>
      (count === 1 ? "1 attempt" : `${count.toLocaleString("en")} attempts`),
    median: (/** @type {string} */ value) => `median ${value}`,
    uncounted: "There are too many attempts to count them all.",
    queued: (/** @type {number} */ count) => `${count.toLocaleString("en")} in the queue`,
    failed: "Failed attempts", chart: "Attempts by hour, last 24 hours", successes: "delivered",
    failures: "failed",
    chartLabel: (/** @type {number} */ good, /** @type {number} */ bad) =>
      `Attempts of the last 24 hours: ${good} delivered, ${bad} failed`,
    noDeliveries: "No deliveries",
    noDeliveriesText:
      "Attempts appear here when an event of a subscribed type happens. " +
        "Send a test to see one, or clear the filters.",
    log: "Delivery log",
    test: "Send a test", testText: "Sends the event test.ping once, also to a paused subscription.",
    tested: (/** @type {number} */ status, /** @type {string} */ took) =>
      `The receiver answered the test with ${status} after ${took}`,
    testFailed: (/** @type {string} */ reason) => `The test failed: ${reason}`,
    testOpen: "The receiver has not answered the test yet: see the log",
    pause: "Pause", pauseText: "Events of this time are not queued. A replay can deliver them later.",
    enable: "Enable", enableText: "Resumes deliveries and resets the count of failures.",
    deleteTitle: "Delete the subscription",
    deleteText: "Deliveries stop at once. The subscription and its log cannot be restored.", types: "Event types",
    every: "All events", url: "URL of the receiver",
    urlHint: "With https. The receiver must have a public address.", secret: "Signing secret",
    secretText: "Store the secret with the receiver. It is shown only once.", rotate: "Rotate the secret",
    rotateText: "Creates a new secret. Until the end of the overlap, each delivery is signed with both secrets.",
    overlap: "The previous secret stays valid for",
    overlaps: { 0: "No time", 3600: "1 hour", 86400: "24 hours", 604800: "7 days" },
    rotated: (/** @type {string} */ end) =>
      `The new secret. The previous one signs too and ends ${end}. Store it: it is shown only once.`,
    rotatedNow: "The new secret. The previous one has ended. Store it: it is shown only once.", replay: "Replay",
    replayText: "Delivers events of a time range again, with the same event ids.", since: "Events since",
    only: "Events", onlyFailed: "Not acknowledged", onlyAll: "All of the subscribed types",
    notCounted: "The number of events is not known before the replay.",
    wouldSend: (/** @type {string} */ count) => `${count} events would be delivered.`,
    wouldSendMore: (/** @type {string} */ count) => `At least ${count} events would be delivered.`,
    replayed: (/** @type {number} */ count) => `${count.toLocaleString("en")} deliveries are queued`,
    rateLimit: "Most requests per second", rateLimitHint: "1 to 1,000. Empty for no limit.",
    filter: "Filter", filterPeople: "Only about these people", filterAddPerson: "Add a person", filterDropPerson: "Remove",
    filterDepartments: "Only about people of these departments",
    filterHint: "Ids with spaces between them. Empty for all.",
    filterType: "Only observations of the type", filterAny: "All events",
    filterScope: "Only objectives of the scope",
    filterOfPeople: (/** @type {number} */ count) => (count === 1 ? "1 person" : `${count} people`),
    filterOfDepartments: (/** @type {number} */ count) => (count === 1 ? "1 department" : `${count} departments`),
  },
  delivery: {
    resend: "Resend now", resent: "The delivery is queued and starts at once", latestFailed: "The latest attempt failed.",
    attempts: "Attempts of this event", request: "Request", presentState: "Event now", nextAt: "The next attempt is due",
    /** @type {Record<string, string>} */
    present: { success: "The receiver has acknowledged the event.", failed: "The receiver has not acknowledged the event.",
      dropped: "The receiver has not acknowledged the event, and the service has given up." },
    noAnswer: "No answer", failure: "Reason", id: "Delivery id",
    thisAttempt: (/** @type {number} */ number) => `Attempt ${number} (this one)`,
    attempt: (/** @type {number} */ number) => `Attempt ${number}`,
    answered: (/** @type {number} */ status, /** @type {string} */ took) => `Status ${status} after ${took}`,
    next: "Next attempt",
    loggedText: "From the log, which keeps neither the other headers nor the bodies of request and answer.",
    wouldBe: "What would be sent now", wouldBeText: "Made from the event and the subscription as they are now. At the " +
      "time of the attempt, the subscription may have had other headers or another payload.",
    headers: "Custom headers", body: "Body", thinBody: "Body, without the content (thin)",
  },
  events: {
    lead: "Each change as it comes, newest first.", event: "Event", resource: "Resource", resourceId: "Resource id",
    deliveries: "Show", live: "Live", stopped: "Not updated", paused: "Paused", pause: "Pause", resume: "Resume",
    none: "No events yet", cut: "More events came than this screen shows. These are the newest.",
    noneText: "New events appear here within two seconds. Clear the filter to see all types.",
    noDeliveries: "No subscription received this event.",
  },
  people: {
    lead: "People of the organization and their reporting lines.", list: "List", tree: "Reporting tree",
    person: "Person", role: "Role", department: "Department", title: "Job title", manager: "Manager",
    searchHint: "Name or e-mail", none: "No people found", onlyHere: "People who are here now.", left: "People who left", nobodyLeft: "Nobody has left", alsoLeft: "Found among all people, also those who left.",
    notInSearch: "The filters by role, department and manager do not apply to a search.",
    noneText: "Change the filters, or import people from a CSV file.", noTree: "No reporting lines yet",
    noTreeText: "Give people a manager, or import them with the column manager_email.",
    treeText: "Arrow keys move and open, Enter shows the person.", details: "Details", email: "E-mail",
    source: "Source",
    manual: "Entered by hand", externalId: "External id", deactivatedAt: "Deactivated", history: "History",
    reports: "Direct reports", changeManager: "Change manager", firstName: "First name", lastName: "Last name",
    changeManagerText: (/** @type {string} */ name) =>
      `Choose the new manager of ${name}. The team of ${name} moves along.`,
    saved: (/** @type {string} */ name) => `Saved: ${name}`,
    reportsStay: (/** @type {string} */ name, /** @type {number} */ count, /** @type {boolean} */ isMore) =>
      count === 1 ? `1 person reports to ${name} and keeps this manager until you change it.`
        : `${isMore ? "At least " : ""}${count} people report to ${name} and keep this manager until you change it.`,
    managerProblems:
      { reporting_cycle:
        "This person reports to the one you are changing: the line would become a circle. " +
          "First change the manager between them.",
      not_found_in_organization: "This person is not active in the organization.",
      field_managed_externally:
        "The HR system manages this field. Change it there, or release the person from the connector." },
    managed: (/** @type {string} */ source) =>
      `${source} manages name, e-mail, manager and department. Change them there.`,
    deactivate: "Deactivate", deactivateText: "The person can no longer log in. History and reporting line stay.",
    reactivate: "Reactivate", reactivateText: "The person is active again, with the former reporting line.",
    rehire: "Rehire", rehireText: "The person is active again and counts as rehired.", invite: "Send invitation",
    inviteText: "Sends the invitation again and ends the former link.", invited: "The invitation is sent",
    inviteLink: "No mail server is configured. Give this link to the person.",
  },
  data: {
    title: "Data about this person", take: "Download the data", taken: "The data is downloaded",
    hold: "Hold the data", release: "End the hold", heldNow: "The data is held", released: "The hold has ended", holdState: "Legal hold", heldAt: "Held since",
    holdText: "While the hold lasts, the data about this person cannot be erased.",
    heldText: "The data cannot be erased before the hold ends.",
    releaseText: "The data about this person can be erased again.", reason: "Reason",
    reasonHint: "Kept in the audit log. Do not name people in it.",
    activeText: "Only the data of people who are deactivated can be erased.",
    eraseText: "An erasure removes the name and everything about this person.", erase: "Erase the data",
    eraseTitle: (/** @type {string} */ name) => `Erase the data about ${name}`,
    cannotUndo: "This cannot be undone.",
    stays: "The id stays, and what the person wrote about others stays under the name Former employee.",
    nothing: "Nothing but the person's own entry is removed.",
    keptByHold: (/** @type {string} */ count) => `Kept by a legal hold: ${count}. The erasure goes on when the hold ends.`,
    outOfReach: "Backups, receivers of webhooks, exports and copies of clients are out of reach: erase the data there.",
    confirm: "E-mail address, to confirm", begun: "The erasure has begun",
    erased: "The name is erased. The receipt tells when everything about this person is removed.", receipts: "Erasures", rows: "Removed",
    requestedAt: "Requested", completedAt: "Completed", none: "No erasures",
    noneText: "A person's page offers the erasure of their data once they are deactivated.",
    /** @type {Record<string, string>} */
    kinds: { observations: "Observations", objectives: "Objectives", check_ins: "Check-ins", summaries: "Summaries",
      assignments: "Assignments", messages: "Messages", notifications: "Notifications",
      invitations: "Invitations", sync_issues: "Issues of connectors", scim_accounts: "Accounts of providers",
      identity_links: "Accounts that sign in",
      api_keys: "API keys", conversations: "Conversations", audit_entries: "Audit entries", events: "Events",
      stored_responses: "Replays of requests" },
  },
  retention: {
    title: "Retention", rule: "Rule", removes: "Removes", appliesAt: "In the run of", preview: "Preview",
    lead: "Archived data and the data of people who left is removed after these periods. Data under a legal hold stays.",
    keep: "Keep", save: "Save the periods", saved: "The periods are saved",
    saveText: "A rule that becomes shorter removes nothing for 7 days. What is removed then cannot be restored.",
    runs: "Runs", startedAt: "Started", none: "No runs", noneText: "The first run follows 7 days after the first rule.",
    period: (/** @type {string} */ period) => {
      const years = /^P(\d+)Y$/.exec(period)?.[1];
      return !years ? period : years === "1" ? "After 1 year" : `After ${years} years`;
    },
    /** @type {Record<string, string>} */
    rules: { archived_observations: "Archived observations", archived_objectives: "Archived objectives",
      archived_summaries: "Archived summaries", archived_conversations: "Archived conversations",
      deactivated_people: "Deactivated people" },
  },
  csv,
  feedback: {
    lead: "What people wrote about each other's work.", observations: "Observations", objectives: "Objectives",
    summaries: "Summaries", conversations: "Conversations", assignments: "Assignments", all: "Show all",
    searchHint: "Words of the text", type: "Type", archived: "Archived", onlyArchived: "Only archived", notArchived: "Not archived",
    notInSearch: "A search finds observations that are not archived.",
    notFound: "Nothing found", notFoundText: "All words must be in the text. Use fewer words or other ones.",
    none: "No observations", noneText: "Change the filters, or write the first one.",
    impact: "Impact", action: "Recommended action", context: "Show context", observation: "Observation",
    about: (/** @type {string} */ name) => `Observation about ${name}`, author: "Author", visibility: "Visible to",
    attributes: "Attributes", details: "Details", others: "Other observations about this person",
    citedIn: "Summaries that cite it",
    archive: "Archive", restore: "Restore", restored: "The observation is restored",
    archivedNow: "The observation is archived", kind: "Kind", managerObjectives: "Of teams and the organization",
    owner: "Owner",
    noObjectives: "No objectives",
    noObjectivesText: "Change the filters, or write the first one.", history: "History",
    noSummaries: "No summaries", noSummariesText: "Summaries appear here as drafts first.",
    noConversations: "No conversations",
    noConversationsText: "Conversations appear here when people write to each other.",
    noAssignments: "No assignments",
    noAssignmentsText: "Assignments ask reviewers for observations about a person.",
    changed: "Changed since the approval", editedBy: "edited by",
    read: "Read", by: "by", answer: "Answer of the person", aboutPerson: "About",
    cancelAssignment: "Cancel assignment",
    cancelText: "Reviewers can no longer submit. Submitted observations stay.",
    cites: (/** @type {number} */ observations, /** @type {number} */ objectives) =>
      `cites ${observations === 1 ? "1 observation" : `${observations} observations`}, ` +
      (objectives === 1 ? "1 objective" : `${objectives} objectives`),
    late: "Overdue", due: (/** @type {string} */ date) => `due ${date}`,
    submitted: (/** @type {number} */ part, /** @type {number} */ whole) => `${part} of ${whole} submitted`,
    acted: (/** @type {string} */ verb, /** @type {string} */ title) => `${verb}: ${title}`,
  },
  progress,
  work,
  signIn,
  verbs: { submit: "Submit", approve: "Approve", reject: "Reject", complete: "Complete", miss: "Mark as missed",
    archive: "Archive", return: "Return", share: "Share" },
  verbsDone: { create: "Created", update: "Changed", start: "Started", check_in: "Checked in", feedback: "Answered", submit: "Submitted", approve: "Approved", reject: "Rejected", complete: "Completed", miss: "Marked as missed",
    archive: "Archived", return: "Returned", share: "Shared" },
  verbTexts: { submit: "Moves it to review.", approve: "The owner is notified.",
    reject: "It returns to the owner with the reason.", complete: "It becomes read-only.",
    miss: "It becomes read-only.",
    archive: "It disappears from lists and stays in the audit log.",
    return: "It returns to the author with the reason.", share: "The person can read it." },
  reasons: { comment: "Comment", reason: "Reason", outcome: "Outcome" },
  keys: {
    lead: "Keys that open the API, with their scopes and last use.", create: "New key", rotate: "Rotate",
    revoke: "Revoke", own: "this one", session: "session", sessions: "Sessions of people", keys: "Keys", kind: "Kind", scopes: "Scopes", all: "All scopes", many: (/** @type {number} */ count) => `${count} scopes`, reads: (/** @type {number} */ count) => `${count} scopes, read only`, person: "Acts for", used: "Last used",
    end: "Ends", onlyRead: "All that only read", scopesHint: "Tick at least one.",
    noEnd: "No end", networks: "Networks", networksHint: "One per line, such as 192.0.2.0/24. Empty: everywhere",
    none: "No keys", level: "Access level", environment: "Data set",
    days: (/** @type {number} */ count) => (count === 1 ? "In 1 day" : `In ${count} days`),
    created: "The key is created",
    createdText: "Store the key now. It is shown only once.", rotated: "The new secret of the key",
    rotateText: (/** @type {string} */ name) =>
      `Creates a new secret for “${name}”. The previous one stays valid for a while.`,
    revokeText: (/** @type {string} */ name) => `“${name}” stops working within a second and cannot be restored.`,
    revokeOwn: "This is the key that you are signed in with. It stops working within a second: the console closes, and the key cannot be restored.",
    personHint: "The key sees and does what this person may. Empty: all of the organization",
    quota: (/** @type {string | null} */ reads, /** @type {string | null} */ writes) =>
      `Quota a minute: ${[reads && `${reads} reads`, writes && `${writes} writes`].filter(Boolean).join(", ")}`,
    revoked: "The key is revoked", enable: "Enable", enabled: "The key is enabled",
    enableText: (/** @type {string} */ name) =>
      `“${name}” is from before its person was deactivated. The person is active again, and the key will be, too.`,
  },
  links: {
    create: "New portal link",
    text: "The link opens this console once, for a person without a key. Its key is in the list of keys.",
    nameHint: "Shown in the list of keys, such as the name of the person", access: "Access", lifetime: "Ends",
    created: "The link is created",
    kinds: { webhooks: "Webhooks and events, read only", people: "People, read only",
      reads: "All that this key sees, read only", everything: "All that this key may do" },
    lifetimes: { 900: "In 15 minutes", 3600: "In 1 hour", 28800: "In 8 hours", 86400: "In 24 hours" },
    createdText: (/** @type {string} */ open, /** @type {string} */ end) =>
      `Send it to the person. It opens once, until ${open}. Access ends at ${end}; revoke the key to end it now.`,
  },
  audit: { lead: "Who changed what, with the values before and after.", action: "Action",
    target: "Changed resource", person: "Changed person", actor: "Changed by", by: "by", onlyTarget: "only this", none: "No entries",
    noneText: "Change the filters to see other changes." },
  provider: {
    issues: "Open issues", noIssues: "No open issues.", requests: "Newest requests",
    noRequests: "The identity provider has sent no request.",
    at: "Time", request: "Request", duration: "Duration", lastRequest: "Last request",
    lastChange: "Last change of a person",
    agent: "Client", people: "Managed people", mappings: "Mapped custom fields", brake: "Brake",
    brakeText: (/** @type {number} */ percent, /** @type {number} */ least) =>
      percent === 100 ? "Off" : `Stops at ${percent} % of the people within an hour, but not below ${least} people`,
    paused: "Changes are paused",
    pausedText: "Many people were deactivated within an hour. Check the assignments of the identity provider.",
    resume: "Resume", resumed: "The connector accepts changes again", resolve: "Resolve",
    resolvedIssue: "The issue is resolved",
    times: (/** @type {number} */ count) => (count === 1 ? "1 request" : `${count} requests`),
  },
  connectors: {
    type: "Type", typeHint: "An identity provider sends people over SCIM. It needs an API key with the scope scim.",
    csv: "Uploads of CSV files", scim: "Identity provider (SCIM)",
    lead: "HR systems that manage people, and their last upload.", create: "New connector", none: "No connectors",
    noneText: "A connector marks people as managed by an HR system, which uploads them as CSV.",
    release: "Release people",
    releaseText: (/** @type {string} */ source) =>
      `All people of ${source} keep their values and can be changed here again.`,
    released: (/** @type {number} */ count) => `${count} people released`, last: "Last upload", result: "Result",
    mapped: "Managed custom fields", mappedHint: "Keys, separated by commas", issue: "Open issue",
    source: "Name of the HR system", sourceHint: "Lower-case letters, digits, - and _",
  },
};
