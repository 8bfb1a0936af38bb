// Rows and scroll positions of the views in the history: Back shows a view as it was left, and reads its rows again.

/** Views of the history that are kept. */
const MOST = 20;

/** @typedef {{ scroll: number, lists: Map<string, { rows: any[], cursor: string | null }> }} Kept */

/** @type {Map<number, Kept>} */
const entries = new Map();

/** Returns the kept state of a view, by the number of its entry in the history. @param {number} entry @returns {Kept} */
export function keptOf(entry) {
  const kept = entries.get(entry) ?? { scroll: 0, lists: new Map() };
  entries.delete(entry);
  entries.set(entry, kept);
  const [oldest] = entries.keys();
  if (entries.size > MOST && oldest !== undefined) entries.delete(oldest);
  return kept;
}

/** Forgets all views, for a session with another key. */
export const forgetKept = () => entries.clear();
