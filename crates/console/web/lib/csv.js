// CSV texts: the rows of a file and their cells, for the file of refused rows and for corrections.

/**
 * Divides a text into records without changing them. Quoted cells may contain line ends.
 * @param {string} text
 * @returns {string[]}
 */
export function records(text) {
  const found = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') isQuoted = !isQuoted;
    if (text[at] !== "\n" || isQuoted) continue;
    found.push(text.slice(start, at).replace(/\r$/, ""));
    start = at + 1;
  }
  if (start < text.length) found.push(text.slice(start));
  return found;
}

/** Cells of one record. @param {string} record @param {string} [separator] */
export function cells(record, separator = ",") {
  const found = [""];
  let isQuoted = false;
  for (let at = 0; at < record.length; at += 1) {
    const letter = record.charAt(at);
    const last = found.length - 1;
    if (letter === '"' && isQuoted && record[at + 1] === '"') {
      found[last] = `${found[last]}"`;
      at += 1;
    } else if (letter === '"') isQuoted = !isQuoted;
    else if (letter === separator && !isQuoted) found.push("");
    else found[last] = `${found[last]}${letter}`;
  }
  return found;
}

/** One cell as CSV. @param {string} text */
export const cell = (text) => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/**
 * The file with other cells. Rows without a change stay as they are written.
 * @param {string} text @param {string} separator
 * @param {Map<number, Map<number, string>>} changes new cells by the number of the row, where the header is row 1, and
 *   by their place in it
 */
export function withCells(text, separator, changes) {
  const rows = records(text).map((record, at) => {
    const changed = changes.get(at + 1);
    if (!changed) return record;
    const row = cells(record, separator);
    for (const [place, value] of changed) {
      while (row.length <= place) row.push("");
      row[place] = value;
    }
    return row.map(cell).join(separator);
  });
  return [...rows, ""].join("\n");
}

/**
 * The file with another header.
 * @param {string} text with commas @param {string[]} names
 */
export function withHeader(text, names) {
  const [header = ""] = records(text);
  return names.map(cell).join(",") + text.slice(header.length);
}

/**
 * The header and the rows with these numbers, where the header is row 1, each with the reason in a column
 * `problem`.
 * @param {string} text @param {Map<number, string>} reasons @param {string} separator
 */
export function pick(text, reasons, separator) {
  const [header = "", ...rows] = records(text);
  const picked =
    rows.flatMap((row, at) => (reasons.has(at + 2) ? [`${row}${separator}${cell(reasons.get(at + 2) ?? "")}`] : []));
  return [`${header}${separator}problem`, ...picked, ""].join("\n");
}

/**
 * Hands a text to the browser as a file. CSV begins with a byte order mark: without one, Excel reads other characters than
 * those of ASCII as Windows-1252, and saves them so.
 * @param {string} name @param {string} text @param {string} type
 */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob(type === "text/csv" ? ["\uFEFF", text] : [text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
