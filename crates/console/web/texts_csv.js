// Texts of the CSV import.

export const csv = {
  lead: "Create and change people from a file. Nothing is written before you apply the plan.",
  drop: "Drop a CSV file here",
  dropText: "A header row, then one row for each person: at most 10,000 rows and 5 MB, UTF-8. The column email " +
    "identifies the person. Commas, semicolons or tabs may separate the cells.",
  choose: "Choose a file", template: "Empty template", another: "Another file",
  tooLarge: "The file is larger than 5 MB", checking: "Checking the file …", applying: "Applying",
  applied: (/** @type {string} */ name) => `${name} is applied`,
  progress: (/** @type {number} */ done, /** @type {number} */ all) => `${done.toLocaleString("en")} of ` +
    (all === 1 ? "1 row" : `${all.toLocaleString("en")} rows`), rows: "Rows",
  separator: "Separator",
  separators: /** @type {Record<string, string>} */ ({ ";": "Semicolons, sent as commas", "\t": "Tabs, sent as commas" }),
  encoding: "This file is not UTF-8",
  encodingText: (/** @type {number} */ count) => "It can be read as Windows-1252, as Excel saves it. Then " +
    (count === 1 ? "1 cell has" : `${count.toLocaleString("en")} cells have`) +
    " other characters than in UTF-8:",
  encodingHint: "Look at the names. If they are wrong, save the file as “CSV UTF-8” and choose it again.",
  agree: "Read it as Windows-1252",
  unreadable: {
    empty: { title: "The file is empty", text: "Choose a file with a header row and at least one person." },
    workbook: { title: "This is a workbook or an archive, not CSV", text: "Open it in Excel or another " +
      "spreadsheet, save it as “CSV UTF-8”, and choose that file." },
    oldWorkbook: { title: "This is a document of an older Excel or Word, not CSV", text: "Open it in a " +
      "spreadsheet, save it as “CSV UTF-8”, and choose that file." },
    pdf: { title: "This is a PDF, not CSV", text: "Export the people from the HR system as CSV." },
    compressed: { title: "This file is compressed", text: "Unpack it, and choose the CSV file." },
    utf16: { title: "This file is UTF-16", text: "Excel saves “Unicode text” so. Save it as “CSV UTF-8”, and " +
      "choose that file." },
    page: { title: "This is a web page or XML, not CSV", text: "Some systems call it .xls. Open it in a " +
      "spreadsheet, save it as “CSV UTF-8”, and choose that file." },
    binary: { title: "This file is not text", text: "Choose a CSV file." },
    encoding: { title: "The encoding of this file is not known", text: "It is neither UTF-8 nor Windows-1252. " +
      "Save it as “CSV UTF-8”, and choose that file." },
  },
  planned: { created: "To create", updated: "To change", deactivated: "To deactivate" },
  columns: "Columns", columnsOf: (/** @type {number} */ count) => (count === 1 ? "1 column" : `${count} columns`),
  inFile: "In the file", example: "Example", readAs: "Read as", note: "Note",
  columnsText: "If a column is something else than it is read as, choose the field.", guessed: "Guessed from the name",
  noEmail: "No column is read as E-mail. Choose it in the list of columns.",
  recalled: "The fields are those that you chose for the last file with these columns.",
  notRead: "Not read", custom: "Custom field …", leftOut: "Leave out",
  unnamed: (/** @type {number} */ place) => `Column ${place}`,
  readAsOf: (/** @type {string} */ name) => `Read as: ${name}`,
  keyOf: (/** @type {string} */ name) => `Key of the custom field: ${name}`,
  correction: "Correction", cellOf: (/** @type {string} */ name, /** @type {number} */ row) => `${name}, row ${row}`,
  checkAgain: "Check again", changedText: "Columns or cells have changed since the last check.",
  clearing: "Empty cells clear the stored value",
  created: "Created", updated: "Updated", deactivated: "Deactivated", skipped: "Unchanged", refused: "Refused",
  row: "Row", problem: "Problem", action: "Effect", change: "Changes", problems: "Refused rows",
  changes: "Changes",
  noChanges: "Nothing to apply",
  apply: (/** @type {number} */ created, /** @type {number} */ changed, /** @type {number} */ deactivated) => {
    const parts = [["create", created], ["change", changed], ["deactivate", deactivated]];
    const text = parts.filter(([, count]) => count).map(([verb, count]) => `${verb} ${count?.toLocaleString("en")}`);
    return `Apply: ${text.join(", ")}`;
  },
  take: (/** @type {number} */ count) =>
    (count === 1 ? "Download 1 refused row" : `Download ${count.toLocaleString("en")} refused rows`), tree: "Show the reporting tree",
  planText: "This is a dry run. Refused rows change nothing.",
  doneText: "Correct the refused rows here or in their file.",
  others: (/** @type {string} */ count) => `and ${count} more`,
};
