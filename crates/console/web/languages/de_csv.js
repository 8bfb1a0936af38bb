// Texte des CSV-Imports.

/** @param {number} count */
const rows = (count) => (count === 1 ? "1 Zeile" : `${count.toLocaleString("de")} Zeilen`);

export const csv = {
  lead: "Personen aus einer Datei anlegen und ändern. Nichts wird geschrieben, bevor Sie den Plan anwenden.",
  drop: "CSV-Datei hier ablegen",
  dropText: "Eine Kopfzeile, dann eine Zeile für jede Person: höchstens 10.000 Zeilen und 5 MB, UTF-8. Die Spalte email " +
    "kennzeichnet die Person. Kommas, Semikolons oder Tabulatoren können die Zellen trennen.",
  choose: "Datei wählen", template: "Leere Vorlage", another: "Andere Datei",
  tooLarge: "Die Datei ist größer als 5 MB", checking: "Die Datei wird geprüft …", applying: "Wird angewendet",
  applied: (/** @type {string} */ name) => `${name} ist angewendet`,
  progress: (/** @type {number} */ done, /** @type {number} */ all) => `${done.toLocaleString("de")} von ${rows(all)}`, rows: "Zeilen",
  separator: "Trennzeichen",
  separators: /** @type {Record<string, string>} */ ({ ";": "Semikolons, als Kommas gesendet", "\t": "Tabulatoren, als Kommas gesendet" }),
  encoding: "Diese Datei ist nicht UTF-8",
  encodingText: (/** @type {number} */ count) => "Sie lässt sich als Windows-1252 lesen, wie Excel sie speichert. Dann " +
    (count === 1 ? "hat 1 Zelle" : `haben ${count.toLocaleString("de")} Zellen`) +
    " andere Zeichen als in UTF-8:",
  encodingHint: "Sehen Sie die Namen an. Wenn sie falsch sind, speichern Sie die Datei als „CSV UTF-8“ und wählen Sie sie erneut.",
  agree: "Als Windows-1252 lesen",
  unreadable: {
    empty: { title: "Die Datei ist leer", text: "Wählen Sie eine Datei mit einer Kopfzeile und mindestens einer Person." },
    workbook: { title: "Das ist eine Arbeitsmappe oder ein Archiv, kein CSV", text: "Öffnen Sie sie in Excel oder einer anderen " +
      "Tabellenkalkulation, speichern Sie sie als „CSV UTF-8“, und wählen Sie diese Datei." },
    oldWorkbook: { title: "Das ist ein Dokument eines älteren Excel oder Word, kein CSV", text: "Öffnen Sie es in einer " +
      "Tabellenkalkulation, speichern Sie es als „CSV UTF-8“, und wählen Sie diese Datei." },
    pdf: { title: "Das ist ein PDF, kein CSV", text: "Exportieren Sie die Personen aus dem HR-System als CSV." },
    compressed: { title: "Diese Datei ist komprimiert", text: "Entpacken Sie sie, und wählen Sie die CSV-Datei." },
    utf16: { title: "Diese Datei ist UTF-16", text: "So speichert Excel „Unicode-Text“. Speichern Sie sie als „CSV UTF-8“, und " +
      "wählen Sie diese Datei." },
    page: { title: "Das ist eine Webseite oder XML, kein CSV", text: "Manche Systeme nennen das .xls. Öffnen Sie es in einer " +
      "Tabellenkalkulation, speichern Sie es als „CSV UTF-8“, und wählen Sie diese Datei." },
    binary: { title: "Diese Datei ist kein Text", text: "Wählen Sie eine CSV-Datei." },
    encoding: { title: "Die Kodierung dieser Datei ist nicht bekannt", text: "Sie ist weder UTF-8 noch Windows-1252. " +
      "Speichern Sie sie als „CSV UTF-8“, und wählen Sie diese Datei." },
  },
  planned: { created: "Werden angelegt", updated: "Werden geändert", deactivated: "Werden deaktiviert" },
  columns: "Spalten", columnsOf: (/** @type {number} */ count) => (count === 1 ? "1 Spalte" : `${count} Spalten`),
  inFile: "In der Datei", example: "Beispiel", readAs: "Gelesen als", note: "Hinweis",
  columnsText: "Wenn eine Spalte etwas anderes ist, als sie gelesen wird, wählen Sie das Feld.", guessed: "Aus dem Namen geraten",
  noEmail: "Keine Spalte wird als E-Mail gelesen. Wählen Sie sie in der Liste der Spalten.",
  recalled: "Die Felder sind die, die Sie für die letzte Datei mit diesen Spalten gewählt haben.",
  notRead: "Nicht gelesen", custom: "Eigenes Feld …", leftOut: "Auslassen",
  unnamed: (/** @type {number} */ place) => `Spalte ${place}`,
  readAsOf: (/** @type {string} */ name) => `Gelesen als: ${name}`,
  keyOf: (/** @type {string} */ name) => `Schlüssel des eigenen Felds: ${name}`,
  correction: "Berichtigung", cellOf: (/** @type {string} */ name, /** @type {number} */ row) => `${name}, Zeile ${row}`,
  checkAgain: "Erneut prüfen", changedText: "Spalten oder Zellen haben sich seit der letzten Prüfung geändert.",
  clearing: "Leere Zellen löschen den gespeicherten Wert",
  created: "Angelegt", updated: "Geändert", deactivated: "Deaktiviert", skipped: "Unverändert", refused: "Abgelehnt",
  row: "Zeile", problem: "Problem", action: "Wirkung", change: "Änderungen", problems: "Abgelehnte Zeilen",
  changes: "Änderungen",
  noChanges: "Nichts anzuwenden",
  apply: (/** @type {number} */ created, /** @type {number} */ changed, /** @type {number} */ deactivated) => {
    const parts = /** @type {[string, number][]} */ ([["anlegen", created], ["ändern", changed], ["deaktivieren", deactivated]]);
    const text = parts.filter(([, count]) => count).map(([verb, count]) => `${count.toLocaleString("de")} ${verb}`);
    return `Anwenden: ${text.join(", ")}`;
  },
  take: (/** @type {number} */ count) => `${rows(count)} mit Fehlern herunterladen`, tree: "Berichtslinien zeigen",
  planText: "Das ist ein Probelauf. Abgelehnte Zeilen ändern nichts.",
  doneText: "Berichtigen Sie die abgelehnten Zeilen hier oder in ihrer Datei.",
  others: (/** @type {string} */ count) => `und ${count} weitere`,
};
