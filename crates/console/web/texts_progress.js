// Texts of key results and check-ins.

export const progress = {
  progress: "Progress", confidence: "Confidence", note: "Note", checkIn: "Check in", checkIns: "Check-ins",
  last: "Last check-in:", none: "No check-ins", overTime: "Progress over the period", quiet: "None for 14 days",
  yes: "Yes", no: "No", unchanged: "Unchanged", unstated: "Not given", percentHint: "0 to 100",
  way: (/** @type {string} */ start, /** @type {string} */ current, /** @type {string} */ target) =>
    `${current} (from ${start} to ${target})`,
  moved: (/** @type {string} */ title, /** @type {string} */ from, /** @type {string} */ to) =>
    `${title}: ${from} → ${to}`,
  done: (/** @type {string} */ title) => `Checked in: ${title}`,
};
