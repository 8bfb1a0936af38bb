// Event types that a subscription can name.

/** @type {import("../types").EventType[]} */
export const EVENT_TYPES = [
  "observation.created", "observation.updated", "observation.archived", "observation.restored", "summary.created",
  "summary.updated",
  "summary.submitted", "summary.approved", "summary.shared", "summary.archived", "summary.feedback_submitted",
  "conversation.message.created",
  "objective.created", "objective.status_changed", "objective.updated", "objective.archived", "assignment.created",
  "assignment.completed",
  "employee.created", "employee.updated", "employee.deactivated", "employee.reactivated", "employee.rehired",
  "test.ping", "webhook.disabled",
];
