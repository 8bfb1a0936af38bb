// Files as people have them: their encoding, and the separator of their cells. Nothing is guessed in silence. A file that
// is no CSV gets a reason, and another encoding than UTF-8 is read only after the person has agreed.

/** @typedef {"empty" | "workbook" | "oldWorkbook" | "pdf" | "compressed" | "utf16" | "page" | "binary" | "encoding"} Reason */
/** @typedef {{ text: string, encoding: "utf-8" | "windows-1252" }} Decoded */

const BOM = "\uFEFF";
/** First bytes of files that people take for CSV. */
const SIGNATURES = /** @type {[Reason, number[]][]} */ ([
  ["workbook", [0x50, 0x4b, 0x03, 0x04]], ["oldWorkbook", [0xd0, 0xcf, 0x11, 0xe0]],
  ["pdf", [0x25, 0x50, 0x44, 0x46]], ["compressed", [0x1f, 0x8b]], ["utf16", [0xff, 0xfe]], ["utf16", [0xfe, 0xff]],
]);
/** Bytes without a character in Windows-1252. Browsers decode them as control characters. */
const UNASSIGNED = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/** @param {string} encoding @param {Uint8Array} bytes */
function strictly(encoding, bytes) {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Decodes a file, or names why it cannot be one.
 * @param {Uint8Array} bytes
 * @returns {Decoded | Reason}
 */
export function decode(bytes) {
  if (bytes.length === 0) return "empty";
  const signature = SIGNATURES.find(([, start]) => start.every((byte, at) => bytes[at] === byte));
  if (signature) return signature[0];
  // UTF-16 without a mark has a zero in every other byte of the header.
  if (bytes.length > 1 && (bytes[0] === 0) !== (bytes[1] === 0)) return "utf16";
  if (bytes.includes(0)) return "binary";
  const text = strictly("utf-8", bytes);
  if (text !== null) return /^\s*<(!doctype|html|\?xml|table)/i.test(text) ? "page"
    : { text: text.replace(new RegExp(`^${BOM}+`), ""), encoding: "utf-8" };
  if (UNASSIGNED.some((byte) => bytes.includes(byte))) return "encoding";
  const western = strictly("windows-1252", bytes);
  return western === null ? "encoding" : { text: western, encoding: "windows-1252" };
}

/** Length of the cell at the beginning of a text, with its quotes. @param {string} text @param {number} at
 * @param {string} separator */
function endOfCell(text, at, separator) {
  let end = at;
  if (text[end] === '"') {
    for (end += 1; end < text.length && (text[end] !== '"' || text[end + 1] === '"'); end += 1)
      if (text[end] === '"') end += 1;
    end += 1;
  }
  while (end < text.length && text[end] !== separator && text[end] !== "\n") end += 1;
  return Math.min(end, text.length);
}

/** Separator of the header row: the one that divides it most often outside of quotes. @param {string} text */
export function separatorOf(text) {
  const header = text.replace(/"(?:[^"]|"")*"/g, "").split(/\r?\n/, 1)[0] ?? "";
  const counts = [",", ";", "\t"].map((one) => ({ one, count: header.split(one).length }));
  return counts.reduce((most, next) => (next.count > most.count ? next : most)).one;
}

/** Line that tells Excel the separator. Excel does not show it as a row. */
export const withoutSeparatorLine = (/** @type {string} */ text) => text.replace(/^sep=.\r?\n/i, "");

/**
 * The cells of a file as they are written, with their quotes, and what follows each: a separator, a line end or nothing.
 * @param {string} text @param {string} separator
 * @returns {{ cell: string, after: string }[]}
 */
function written(text, separator) {
  const found = [];
  for (let at = 0; at < text.length; ) {
    const end = endOfCell(text, at, separator);
    const isBreak = text[end] === "\n" && end > at && text[end - 1] === "\r";
    const cell = text.slice(at, isBreak ? end - 1 : end);
    found.push({ cell, after: isBreak ? "\r\n" : (text[end] ?? "") });
    at = end + 1;
  }
  return found;
}

/**
 * The same file with commas. Broken quotes stay as they are, so that the service refuses them.
 * @param {string} text @param {string} separator
 */
export function withCommas(text, separator) {
  if (separator === ",") return text;
  return written(text, separator).map(({ cell, after }) =>
    `${cell.includes(",") && !cell.includes('"') ? `"${cell}"` : cell}${after === separator ? "," : after}`).join("");
}

/** Cells with characters outside of ASCII. @param {string} text @param {string} separator */
export const cellsBeyondAscii = (text, separator) =>
  written(text, separator).map(({ cell }) => cell).filter((cell) => /[^\0-\x7f]/.test(cell));
