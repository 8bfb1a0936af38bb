// Texts about the breaks that were found.

import { KINDS } from './kinds.mjs';

const HEADING = '### Breaks of the API';

/** Returns the breaks that the unreleased section of the changelog lists below the heading, with their reasons. */
export function intended(changelog) {
  const unreleased = changelog.split(/^## /m).find((section) => section.startsWith('Unreleased')) ?? '';
  const part = unreleased.split(/^(?=### )/m).find((section) => section.startsWith(HEADING)) ?? '';
  return new Map([...part.matchAll(/^- `([^`]+)`:?(.*)$/gm)].map(([, text, reason]) => [text, reason.trim()]));
}

/** Returns a line for each break that is not listed, and for each entry without a break or a reason. */
export function problems(found, listed) {
  // An entry is for one operation, or for several that break in the same way.
  const entries = ({ text }) => [text, text.replace(/^.*?: /, 'several operations: ')];
  const unlisted = found.filter((entry) => !entries(entry).some((text) => listed.has(text)));
  const lines = unlisted.map(({ text, kind, users, by }) => {
    const others = users.length > 1 ? ` and ${users.length - 1} more` : '';
    const where = users.length > 0 ? ` (${users[0]}${others})` : '';
    return `docs/openapi.json: ${text}${where}. ${KINDS[kind]}, or list it in CHANGELOG.md [${[...by].join(', ')}]`;
  });
  for (const [text, reason] of listed) {
    const isFound = found.some((entry) => entries(entry).includes(text));
    if (!isFound) lines.push(`CHANGELOG.md: \`${text}\` is no break. Remove the entry`);
    else if (!reason) lines.push(`CHANGELOG.md: \`${text}\` has no reason. Add it after a colon`);
  }
  return lines;
}
