// Refused rows of a file that was sent in parts: their numbers in the file, and the rows to correct.

/** @typedef {import("../types").CsvReportDataError} Refused */
/** @typedef {(row: number) => number} Numbering returns the number in the file of a row of a part */

/** A quoted value, or numbers of rows, in a message. */
const ROWS = /"(?:[^"\\]|\\.)*"|\brows? \d+(?:, \d+)*/g;
/** The quoted value at the beginning of a message. */
const QUOTED = /^"((?:[^"\\]|\\.)*)"/;

/** @param {string} message @param {Numbering} numberOf */
const renumberedText = (message, numberOf) => message.replace(ROWS, (found) => found.startsWith('"') ? found
  : found.replace(/\d+/g, (digits) => String(numberOf(Number(digits)))));

/** @param {number | undefined} row @param {Numbering} numberOf */
const renumberedCause = (row, numberOf) => (row === undefined ? {} : { caused_by_row: numberOf(row) });

/** Returns a refused row of a part as one of the file. @param {Refused} one @param {Numbering} numberOf @returns {Refused} */
export const renumbered = (one, numberOf) => ({
  ...one,
  ...renumberedCause(one.caused_by_row, numberOf),
  row_number: numberOf(one.row_number),
  message: renumberedText(one.message, numberOf),
  problems: one.problems.map((problem) => ({
    ...problem,
    ...renumberedCause(problem.caused_by_row, numberOf),
    message: renumberedText(problem.message, numberOf),
  })),
});

/**
 * Names the rows of managers that were refused in other parts. A part alone says that they do not exist.
 * @param {Refused[]} errors @returns {Refused[]}
 */
export function withCauses(errors) {
  const key = (/** @type {string} */ email) => email.trim().toLowerCase();
  const rows = new Map(errors.map((one) => [key(one.email), one.row_number]));
  return errors.map((one) => {
    const place = one.problems.findIndex((problem) => problem.field === "manager_email"
      && problem.code === "not_found_in_organization" && problem.caused_by_row === undefined);
    const problem = one.problems[place];
    const [quoted, email] = QUOTED.exec(problem?.message ?? "") ?? [];
    const row = rows.get(key(email ?? ""));
    if (!problem || row === undefined || row === one.row_number) return one;
    const message = `${quoted} is in row ${row}, which was not imported: correct that row first`;
    return {
      ...one,
      ...(one.problems.length === 1 && { caused_by_row: row }),
      message: one.message.replace(problem.message, () => message),
      problems: one.problems.map((other, at) => (at === place ? { ...problem, message, caused_by_row: row } : other)),
    };
  });
}
