// Drafts of forms: kept in this tab until they are stored or discarded, so that a reload or Back loses nothing. Signing out
// forgets them.

const KEPT = "candor-drafts";

/** @returns {Record<string, Record<string, any>>} */
const drafts = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");

/** @param {string} name */
export const draftOf = (name) => drafts()[name] ?? null;

/** @param {string} name @param {Record<string, any>} values */
export const keepDraft = (name, values) => sessionStorage.setItem(KEPT, JSON.stringify({ ...drafts(), [name]: values }));

/** @param {string} name */
export function dropDraft(name) {
  const { [name]: _, ...others } = drafts();
  sessionStorage.setItem(KEPT, JSON.stringify(others));
}

export const forgetDrafts = () => sessionStorage.removeItem(KEPT);
