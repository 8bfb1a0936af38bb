// Matters that wait for the session, read at once, and the screen of each.

import { useGet } from "./data.js";
import { href } from "./router.js";

/** @typedef {import("../types").Matter} Matter */

/** What waits: matters, and the number of each kind that the session may see. */
export const useAttention = () => useGet("/attention");

/** Screens of resources by the first part of their path. @type {Record<string, (id: string) => string>} */
const SCREENS = {
  webhooks: (id) => href(`/webhooks/${id}`), connectors: () => href("/connectors"), "api-keys": () => href("/keys"),
  "employee-objectives": (id) => href(`/feedback/objectives/${id}`), "manager-objectives": (id) => href(`/feedback/manager-objectives/${id}`),
  summaries: (id) => href(`/feedback/summaries/${id}`), assignments: () => href("/feedback", { view: "assignments" }),
};

/** The address of the screen of a matter. @param {Matter} of */
export const screenOf = ({ path, id, kind }) => kind === "feedback_requested" ? href("/me") : SCREENS[path.split("/")[1] ?? ""]?.(id) ?? href("/");
