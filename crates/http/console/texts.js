// All words of the console. Screens contain none, so that one file can be read, corrected and translated.

/** @type {Record<string, string>} */
const words = {
  success: "Success", failed: "Failed", dropped: "Dropped", active: "Active", paused: "Paused", failing: "Failing", pending: "Pending", revoked: "Revoked",
  expired: "Expired", expiring: "Expires soon", employee: "Employee", manager: "Manager", org_admin: "Org admin", org: "Organization", deactivated: "Deactivated",
  pending_invite: "Invited", strength: "Strength", opportunity: "Opportunity", proposed: "Proposed", in_review: "In review", approved: "Approved",
  in_progress: "In progress", completed: "Completed", missed: "Missed", archived: "Archived", draft: "Draft", pending_review: "In review", shared: "Shared", open: "Open",
  canceled: "Canceled", submitted: "Submitted", all: "All", standard: "Standard", admin: "Admin", api_key: "API key", connector: "Connector", system: "Service",
  person: "The person and managers", managers: "Managers only", create: "Create", update: "Update", deactivate: "Deactivate", reactivate: "Reactivate", skip: "Unchanged",
  reject: "Refused", succeeded: "Succeeded", partial: "Partly applied",
};

/** @type {Record<string, string>} */
const failures = {
  status: "Status other than 2xx", redirect: "Redirect", gone: "410 Gone", not_https: "Not HTTPS", forbidden_address: "Address not allowed", unresolvable: "Host not found",
  connect: "Connection refused", tls: "TLS error", timeout: "Timeout", closed: "Connection closed", malformed: "Not valid HTTP", too_large: "Answer too large", too_late: "Retry window over",
  other: "Other",
};

/** @type {Record<string, string>} */
const failureTexts = {
  status: "The receiver answered with an error. Correct the receiver, then resend this delivery.",
  redirect: "The receiver answered with a redirect, which is not followed. Change the URL of the subscription.",
  gone: "The receiver answered 410. Change the URL of the subscription, or delete it.",
  not_https: "The URL is not HTTPS. Change the URL of the subscription.",
  forbidden_address: "The host resolves to an address that is not public. Change the URL, or ask the operator to trust the network.",
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
  no_connection: "No connection to the service", validation_error: "Some values are not valid", bad_request: "The request is malformed",
  authentication_required: "The key is not accepted", permission_denied: "This key may not do that", not_found: "Not found", conflict: "Not possible in the current state",
  idempotency_conflict: "The request was sent before with another content", unprocessable: "A referenced resource does not fit", rate_limited: "Too many requests",
  server_error: "The service failed", unavailable: "The service is temporarily unavailable", timeout: "The request took too long", console_error: "The console failed",
  other: (/** @type {number} */ status) => (status ? `Error ${status}` : "Error"),
};

/** @type {any} */
export const t = {
  words, failures, failureTexts, problems,
  problemTexts: { no_connection: "Check the network, then try again.", authentication_required: "The key is missing, expired or revoked." },
  screens: { today: "Today", webhooks: "Webhooks", events: "Events", people: "People", import: "CSV import", feedback: "Feedback", keys: "API keys", audit: "Audit log", connectors: "Connectors" },
  navigation: "Screens", moreScreens: "More", skip: "Skip to the content", signOut: "Sign out", theme: "Colours", themes: { system: "System", light: "Light", dark: "Dark" },
  environments: { live: "Live", test: "Test" }, quotas: { read: "Reads", write: "Writes", webhook_test: "Webhook tests", csv: "CSV imports" },
  loading: "Loading …", more: "Show more", tryAgain: "Try again", requestId: "Request", copy: "Copy", copied: "Copied", notCopied: "The browser does not allow copying",
  cancel: "Cancel", close: "Close", save: "Save", create: "Create", edit: "Edit", delete: "Delete", stored: "I have stored it", required: "Required", optional: "Optional",
  any: "Any", all: "All", clear: "Clear", filters: "Filters", search: "Search", state: "State", time: "Time", name: "Name", id: "Id", field: "Field", actions: "Actions", from: "From", to: "To",
  description: "Description", created: "Created", never: "Never", none: "None", nothing: "Nothing here.", before: "before", after: "after", findPerson: "Name or e-mail",
  notHere: "Not found", notHereTitle: "This view does not exist, or the key may not see it", notHereText: "The address may be of another version, or it needs a scope that this key lacks.",
  requests: "Requests", requestsText: "The requests of this view, newest first. The key is in $CANDOR_API_KEY.", noRequests: "No requests yet", language: "Language", code: "the code",
  missingScope: (/** @type {string} */ scope) => `The key lacks the scope ${scope}. Ask an administrator for a key that has it.`,
  missingLevel: "This needs a key of the admin level.",
  waiting: (/** @type {number} */ status, /** @type {number} */ seconds) =>
    status === 429 ? `The quota of this key is used up. Waiting ${seconds} s, then trying again.` : `The service is busy. Waiting ${seconds} s, then trying again.`,
  entrance: {
    title: "Open the console", text: "Enter an API key. The console shows what the key may see and offers what it may do.", key: "API key", keep: "Keep the key until this tab is closed",
    open: "Open", hint: "No key yet? An administrator creates one, or sends a link.", docs: "API reference", again: "Enter a key again",
    againText: "The service no longer accepts the key: it is expired or revoked. What you typed is still there.",
  },
  stale: { title: "Changed by another person", text: "While you were editing, another person saved the fields below. Choose which version stays.", stored: "Stored now", typed: "Your version",
    theirs: "Keep the stored version", mine: "Save my version" },
  today: {
    lead: (/** @type {string} */ name) => `What needs attention, as seen with the key “${name}”.`, attention: "Needs attention", calm: "Nothing waits", calmText: "Webhooks deliver, connectors run, and no review is pending.",
    success: "Delivered, 24 hours", slowest: "slowest subscription", queue: "Queue", failing: "Failing subscriptions", quota: "Quota of this key",
    quotaText: "Requests of this key within the last 60 seconds.", pausedWebhook: "Webhook paused", failingWebhook: "Webhook fails", connector: "Connector has issues", key: "Key expires",
    objective: "Objective in review", summary: "Summary in review", assignment: "Assignment overdue",
    ofSubscriptions: (/** @type {number} */ count) => (count === 1 ? "of 1 subscription" : `of ${count} subscriptions`), others: (/** @type {number} */ count) => `and ${count} more`,
    used: (/** @type {string} */ part, /** @type {string} */ whole) => `${part} of ${whole}`,
  },
  webhooks: {
    lead: "Subscriptions that receive events, and every attempt to deliver one.", create: "New subscription", subscriptions: "Subscriptions", deliveries: "Deliveries", subscription: "Subscription",
    delivery: "Delivery", receiver: "Receiver", rate: "Delivered, 24 h", rate24: "Delivered, 24 hours", p95: "95th percentile", nextAttempt: "Next attempt", lastAttempt: "Last attempt",
    none: "No subscriptions yet", noneText: "Create a subscription to receive events at a URL of yours.", event: "Event", eventId: "Event id", answer: "Status", took: "Duration", attempt: "Attempt",
    attempts: (/** @type {number} */ count) => (count === 1 ? "1 attempt" : `${count.toLocaleString("en")} attempts`),
    median: (/** @type {string} */ value) => `median ${value}`,
    queued: (/** @type {number} */ count) => `${count.toLocaleString("en")} in the queue`, failed: "Failed attempts", chart: "Attempts by hour, last 24 hours", successes: "delivered", failures: "failed",
    chartLabel: (/** @type {number} */ good, /** @type {number} */ bad) => `Attempts of the last 24 hours: ${good} delivered, ${bad} failed`,
    noDeliveries: "No deliveries", noDeliveriesText: "Attempts appear here when an event of a subscribed type happens. Send a test to see one, or clear the filters.", log: "Delivery log",
    test: "Send a test", testText: "Sends the event test.ping once, also to a paused subscription.", tested: "The receiver acknowledged the test", testFailed: "The test failed: see the log",
    pause: "Pause", pauseText: "Events of this time are not queued. A replay can deliver them later.", enable: "Enable", enableText: "Resumes deliveries and resets the count of failures.",
    deleteTitle: "Delete the subscription", deleteText: "Deliveries stop at once. The subscription and its log cannot be restored.", types: "Event types", every: "All events", url: "URL of the receiver",
    urlHint: "With https. The receiver must have a public address.", secret: "Signing secret", secretText: "Store the secret with the receiver. It is shown only once.", rotate: "Rotate the secret",
    rotateText: "Creates a new secret. Until the end of the overlap, each delivery is signed with both secrets.", overlap: "The previous secret stays valid for",
    overlaps: { 0: "No time", 3600: "1 hour", 86400: "24 hours", 604800: "7 days" }, rotated: (/** @type {string} */ end) => `The new secret. The previous one signs too and ends ${end}. Store it: it is shown only once.`,
    rotatedNow: "The new secret. The previous one has ended. Store it: it is shown only once.", replay: "Replay", replayText: "Delivers events of a time range again, with the same event ids.", since: "Events since",
    only: "Events", onlyFailed: "Not acknowledged", onlyAll: "All of the subscribed types", notCounted: "The number of events is not known before the replay.",
    wouldSend: (/** @type {string} */ count) => `${count} events would be delivered.`, wouldSendMore: (/** @type {string} */ count) => `At least ${count} events would be delivered.`,
    replayed: (/** @type {number} */ count) => `${count.toLocaleString("en")} deliveries are queued`,
  },
  delivery: {
    resend: "Resend now", resent: "The delivery is queued and starts at once", failedText: "The attempt failed.", attempts: "Attempts of this event", request: "Request", result: "Result",
    answer: "Answer", noAnswer: "No answer", failure: "Reason", resource: "Resource", id: "Delivery id", thisAttempt: (/** @type {number} */ number) => `Attempt ${number} (this one)`,
    attempt: (/** @type {number} */ number) => `Attempt ${number}`, answered: (/** @type {number} */ status, /** @type {string} */ took) => `Status ${status} after ${took}`, next: "Next attempt",
    requestText: "The signature is computed for each attempt. The service does not store the body of the answer.", body: "Body",
  },
  events: {
    lead: "The feed of the last 24 hours as it comes, newest first.", event: "Event", resource: "Resource", deliveries: "Show", live: "Live", paused: "Paused", pause: "Pause", resume: "Resume",
    none: "No events in the last 24 hours", noneText: "New events appear here within two seconds. Clear the filter to see all types.", noDeliveries: "No subscription received this event.",
  },
  people: {
    lead: "People of the organization and their reporting lines.", list: "List", tree: "Reporting tree", person: "Person", role: "Role", department: "Department", title: "Job title", manager: "Manager",
    searchHint: "Name or e-mail", none: "No people found", noneText: "Change the filters, or import people from a CSV file.", noTree: "No reporting lines yet",
    noTreeText: "Give people a manager, or import them with the column manager_email.", treeText: "Arrow keys move and open, Enter shows the person.", details: "Details", email: "E-mail", source: "Source",
    manual: "Entered by hand", externalId: "External id", deactivatedAt: "Deactivated", history: "History", reports: "Direct reports", changeManager: "Change manager", firstName: "First name", lastName: "Last name",
    changeManagerText: (/** @type {string} */ name) => `Choose the new manager of ${name}. The team of ${name} moves along.`, done: "Saved",
    managerProblems: { reporting_cycle: "This person reports to the one you are changing: the line would become a circle. First change the manager between them.",
      not_found_in_organization: "This person is not active in the organization.", field_managed_externally: "The HR system manages this field. Change it there, or release the person from the connector." },
    managed: (/** @type {string} */ source) => `${source} manages name, e-mail, manager and department. Change them there.`,
    deactivate: "Deactivate", deactivateText: "The person can no longer log in. History and reporting line stay.", reactivate: "Reactivate", reactivateText: "The person is active again, with the former reporting line.",
    rehire: "Rehire", rehireText: "The person is active again and counts as rehired.", invite: "Send invitation", inviteText: "Sends the invitation again and ends the former link.", invited: "The invitation is sent",
    inviteLink: "No mail server is configured. Give this link to the person.",
  },
  csv: {
    lead: "Create and change people from a file. Nothing is written before you apply the plan.", drop: "Drop a CSV file here", dropText: "UTF-8 with a header row, at most 10,000 rows and 5 MB. The column email identifies the person.",
    choose: "Choose a file", template: "Empty template", another: "Another file", tooLarge: "The file is larger than 5 MB", checking: "Checking the file …", applying: "Applying", applied: "The file is applied",
    progress: (/** @type {string} */ done, /** @type {string} */ all) => `${done} of ${all} rows`, rows: "Rows", columns: "Columns", ignored: "ignored", clearing: "Empty cells clear the stored value",
    created: "Created", updated: "Updated", deactivated: "Deactivated", skipped: "Unchanged", refused: "Refused", row: "Row", problem: "Problem", action: "Effect", change: "Changes", problems: "Refused rows", changes: "Changes",
    apply: (/** @type {string} */ count) => `Apply ${count} changes`, take: (/** @type {string} */ count) => `Download ${count} refused rows`, tree: "Show the reporting tree",
    planText: "This is a dry run. Refused rows change nothing.", doneText: "Correct the refused rows in their file and import it again.", others: (/** @type {string} */ count) => `and ${count} more`,
  },
  feedback: {
    lead: "What people wrote about each other's work.", observations: "Observations", objectives: "Objectives", summaries: "Summaries", conversations: "Conversations", assignments: "Assignments", all: "Show all",
    searchHint: "Words of the text", type: "Type", archived: "Archived", onlyArchived: "Only archived", notFound: "Nothing found", notFoundText: "All words must be in the text. Use fewer words or other ones.",
    none: "No observations", noneText: "Observations appear here as they are recorded with POST /v1/observations.", impact: "Impact", action: "Recommended action", context: "Show context", observation: "Observation",
    about: (/** @type {string} */ name) => `Observation about ${name}`, author: "Author", visibility: "Visible to", attributes: "Attributes", details: "Details", others: "Other observations about this person", citedIn: "Summaries that cite it",
    archive: "Archive", restore: "Restore", restored: "The observation is restored", archivedNow: "The observation is archived", kind: "Kind", managerObjectives: "Of teams and the organization", owner: "Owner",
    noObjectives: "No objectives", noObjectivesText: "Change the filters, or create one with POST /v1/employee-objectives.", history: "History", noSummaries: "No summaries", noSummariesText: "Summaries appear here as drafts first.",
    noConversations: "No conversations", noConversationsText: "Conversations appear here when people write to each other.", noAssignments: "No assignments", noAssignmentsText: "Assignments ask reviewers for observations about a person.",
    read: "Read", by: "by", answer: "Answer of the person", aboutPerson: "About", cancelAssignment: "Cancel assignment", cancelText: "Reviewers can no longer submit. Submitted observations stay.",
    cites: (/** @type {number} */ observations, /** @type {number} */ objectives) => `cites ${observations} observations, ${objectives} objectives`, due: (/** @type {string} */ date) => `due ${date}`,
    submitted: (/** @type {number} */ part, /** @type {number} */ whole) => `${part} of ${whole} submitted`, acted: (/** @type {string} */ verb, /** @type {string} */ title) => `${verb}: ${title}`,
  },
  verbs: { submit: "Submit", approve: "Approve", reject: "Reject", complete: "Complete", miss: "Mark as missed", archive: "Archive", return: "Return", share: "Share" },
  verbTexts: { submit: "Moves it to review.", approve: "The owner is notified.", reject: "It returns to the owner with the reason.", complete: "It becomes read-only.", miss: "It becomes read-only.",
    archive: "It disappears from lists and stays in the audit log.", return: "It returns to the author with the reason.", share: "The person can read it." },
  reasons: { comment: "Comment", reason: "Reason", outcome: "Outcome" },
  keys: {
    lead: "Keys that open the API, with their scopes and last use.", create: "New key", rotate: "Rotate", revoke: "Revoke", own: "this one", scopes: "Scopes", all: "All scopes", person: "Acts for", used: "Last used", end: "Ends",
    noEnd: "No end", none: "No keys", level: "Access level", environment: "Data set", days: (/** @type {number} */ count) => (count === 1 ? "In 1 day" : `In ${count} days`), created: "The key is created",
    createdText: "Store the key now. It is shown only once.", rotated: "The new secret of the key", rotateText: (/** @type {string} */ name) => `Creates a new secret for “${name}”. The previous one stays valid for a while.`,
    revokeText: (/** @type {string} */ name) => `“${name}” stops working within a second and cannot be restored.`, revoked: "The key is revoked",
  },
  audit: { lead: "Who changed what, with the values before and after.", action: "Action", target: "Changed resource", actor: "Changed by", by: "by", onlyTarget: "only this", none: "No entries", noneText: "Change the filters to see other changes." },
  connectors: {
    lead: "HR systems that manage people, and their last upload.", create: "New connector", none: "No connectors", noneText: "A connector marks people as managed by an HR system, which uploads them as CSV.", release: "Release people",
    releaseText: (/** @type {string} */ source) => `All people of ${source} keep their values and can be changed here again.`, released: (/** @type {number} */ count) => `${count} people released`, last: "Last upload", result: "Result",
    mapped: "Managed custom fields", mappedHint: "Keys, separated by commas", issue: "Open issue", source: "Name of the HR system", sourceHint: "Lower-case letters, digits, - and _",
  },
};
