// CSV texts: the rows of a file, for the file of refused rows.

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

/** Cells of one record. @param {string} record */
export function cells(record) {
  const found = [""];
  let isQuoted = false;
  for (let at = 0; at < record.length; at += 1) {
    const letter = record.charAt(at);
    const last = found.length - 1;
    if (letter === '"' && isQuoted && record[at + 1] === '"') {
      found[last] = `${found[last]}"`;
      at += 1;
    } else if (letter === '"') isQuoted = !isQuoted;
    else if (letter === "," && !isQuoted) found.push("");
    else found[last] = `${found[last]}${letter}`;
  }
  return found;
}

/** One cell as CSV. @param {string} text */
export const cell = (text) => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

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
