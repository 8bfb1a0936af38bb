// Wörter der Formulare und der Seiten für Führungskräfte und Mitarbeitende.

/** @param {number} count */
const people = (count) => (count === 1 ? "1 Person" : `${count} Personen`);

/** @type {any} */
export const work = {
  /** @type {Record<string, string>} */
  create: { observations: "Neue Beobachtung", objectives: "Neues Ziel", summaries: "Neue Zusammenfassung", conversations: "Neues Gespräch",
    assignments: "Um Feedback bitten", people: "Neue Person" },
  /** @type {Record<string, string>} */
  saved: { observations: "Die Beobachtung ist gespeichert", objectives: "Das Ziel ist gespeichert", summaries: "Der Entwurf ist gespeichert",
    conversations: "Das Gespräch hat begonnen", assignments: "Die Personen sind gefragt", people: "Die Person ist angelegt" },
  /** @type {Record<string, (name: string) => string>} */
  done: { deactivate: (name) => `${name} ist deaktiviert`, reactivate: (name) => `${name} ist wieder aktiv`, rehire: (name) => `${name} ist wieder eingestellt` },
  about: "Über", day: "Tag", title: "Titel", from: "Von", to: "Bis", then: "Danach",
  asDraft: "Als Vorschlag behalten", andSubmit: "Zur Prüfung einreichen", body: "Text", objective: "Ziel", summary: "Zusammenfassung",
  scopes: { employee: "Der Person", manager: "Des Teams der Person", org: "Der Organisation" },
  supports: "Unterstützt", results: "Schlüsselergebnisse", addResult: "Schlüsselergebnis hinzufügen",
  /** @type {Record<string, string>} */
  result: { title: "Was gemessen wird", metric: "Gemessen als", start: "Von", target: "Ziel", unit: "Einheit" },
  metrics: { number: "Zahl", percent: "Prozent", boolean: "Erledigt oder nicht" },
  draftText: "Die Zusammenfassung beginnt als Entwurf, den die Person nicht sieht. Was sie anführt, wird auf ihrer Seite gewählt.",
  participants: "Beteiligte", with: "Mit", message: "Nachricht", send: "Senden", inName: "Im Namen von", noMessages: "Noch keine Nachrichten.",
  reviewers: "Wer gefragt wird", question: "Frage", instructions: "Hinweise", due: "Fällig", requester: "Gefragt von",
  assignmentText: "Jede gefragte Person wird benachrichtigt und antwortet mit Beobachtungen.",
  custom: "Eigene Felder", customKey: "Name eines Felds", addCustom: "Hinzufügen", noInvite: "Keine Einladung senden", invite: "Sofort senden",
  noBody: "Diese Zusammenfassung hat noch keinen Text.", cited: "Was sie anführt", cite: "Wählen, was sie anführt",
  versions: "Frühere Fassungen", noVersions: "Der Text wurde nicht geändert.", replacedBy: "ersetzt von", sentBack: "Zurückgegeben",
  unread: (/** @type {number} */ count, /** @type {boolean} */ isCut) => isCut ? `${count}+ neue Nachrichten` : count === 1 ? "1 neue Nachricht" : `${count} neue Nachrichten`,
  notices: "Benachrichtigungen", noticesRead: (/** @type {number} */ count) => `Die neuesten ${count} Benachrichtigungen sind gelesen. Auch ältere Nachrichten können auf Sie warten.`,
  reply: "Auf die Zusammenfassung antworten", answered: "Die Antwort ist gespeichert", acknowledge: "Kenntnisnahme", acknowledged: "Zur Kenntnis genommen",
  notAcknowledged: "Nicht zur Kenntnis genommen",
  mine: {
    lead: "Feedback, das Sie sehen dürfen, Ihre Ziele, und was auf Sie wartet.", manager: "Ihre Führungskraft:", waits: "Wartet auf Sie", nothing: "Nichts wartet auf Sie",
    overview: "Übersicht",
    quiet: "Check-in fällig", answer: "Antworten",
    ask: "Jemanden fragen", noFeedback: "Noch kein Feedback", noFeedbackText: "Fragen Sie jemanden, was gut war und was besser sein könnte.",
    noObjectives: "Noch keine Ziele", noObjectivesText: "Schreiben Sie auf, was Sie erreichen wollen, und reichen Sie es zur Prüfung ein.",
    answerTitle: (/** @type {string} */ title) => `Antworten: ${title}`, given: "Das Feedback ist gegeben",
  },
  team: {
    lead: "Ihre Mitarbeitenden, deren Ziele, und was auf Sie wartet.", reports: "Mitarbeitende", last: "Letztes Feedback", never: "Noch keines",
    waits: "Prüfungen, die warten", nothing: "Keine Prüfung wartet", none: "Niemand berichtet an Sie",
    noneText: "Personen erscheinen hier, sobald Sie ihre Führungskraft sind.", feedback: "Feedback schreiben",
    open: "Offene Ziele", noOpen: "Kein offenes Ziel", overdue: "Check-in überfällig",
    more: "Nicht alle Ziele werden gezeigt. Öffnen Sie eine Person, um ihre zu sehen.",
  },
  bulk: {
    select: (/** @type {string} */ name) => `${name} auswählen`, all: "Alle gezeigten auswählen",
    chosen: (/** @type {number} */ count) => `${count} ausgewählt`, none: "Auswahl aufheben",
    deactivate: "Deaktivieren", manager: "Führungskraft ändern", department: "Abteilung ändern", approve: "Freigeben", resend: "Erneut senden",
    deactivateText: (/** @type {number} */ count) => `${people(count)} ${count === 1 ? "kann" : "können"} sich nicht mehr anmelden. Verlauf und Berichtslinien bleiben.`,
    managerText: (/** @type {number} */ count) => `Wählen Sie die neue Führungskraft von ${count === 1 ? "1 Person" : `${count} Personen`}.`,
    departmentText: (/** @type {number} */ count) => `Wählen Sie die neue Abteilung von ${count === 1 ? "1 Person" : `${count} Personen`}.`,
    approveText: (/** @type {number} */ count) => `Gibt ${count === 1 ? "1 Ziel" : `${count} Ziele`} frei. Die Inhaber werden benachrichtigt.`,
    resendText: (/** @type {number} */ count) => `Reiht ${count === 1 ? "1 Zustellung" : `${count} Zustellungen`} erneut ein. Sie beginnen sofort.`,
    progress: (/** @type {number} */ part, /** @type {number} */ whole) => `${part} von ${whole} erledigt`,
    done: (/** @type {number} */ count, /** @type {number} */ whole, /** @type {string} */ verb) => `${count === whole ? count : `${count} von ${whole}`} ${verb}`,
    refused: (/** @type {number} */ count) => `${count} nicht erledigt. Sie bleiben ausgewählt:`,
  },
  organization: {
    lead: "Name, Prüfungen, Abteilungen und Merkmale der Organisation.", settings: "Einstellungen", departments: "Abteilungen",
    attributes: "Merkmale", name: "Name", objectiveReview: "Prüfung von Zielen", summaryReview: "Prüfung von Zusammenfassungen",
    reviews: { optional: "Freiwillig", required: "Pflicht: Eine andere Person gibt frei", disabled: "Keine: Nichts wird eingereicht" },
    visibleFields: "Eigene Felder, die alle sehen", visibleHint: "Schlüssel, durch Kommas getrennt",
    saved: "Die Einstellungen sind gespeichert", newDepartment: "Neue Abteilung", newAttribute: "Neues Merkmal",
    category: "Gruppe", tone: "Ton", tones: { positive: "Positiv", neutral: "Neutral", constructive: "Konstruktiv" },
    archive: "Archivieren", restore: "Wiederherstellen", archived: "Archiviert", present: "In Gebrauch",
    noDepartments: "Keine Abteilungen", noDepartmentsText: "Abteilungen gliedern Personen in Listen, Importen und Zählungen.",
    noAttributes: "Keine Merkmale", noAttributesText: "Merkmale benennen, worum es in einer Beobachtung geht.",
    stored: (/** @type {string} */ name) => `${name} ist gespeichert`, isArchived: (/** @type {string} */ name) => `${name} ist archiviert`,
    isRestored: (/** @type {string} */ name) => `${name} ist wiederhergestellt`,
  },
  print: { title: (/** @type {string} */ name) => `Daten über ${name}`, take: "Seite zum Drucken", made: "Erstellt am",
    cut: "Der Dienst hat die Daten ohne ihr Ende gesendet. Versuchen Sie es erneut." },
  scim: { create: "Anbieter verbinden", text: "Legt einen Konnektor und sein Token an. Der Anbieter sendet dann Personen über SCIM.",
    name: "Name des Anbieters", nameHint: "Zum Beispiel Okta. Personen, die er verwaltet, zeigen ihn als Quelle.", data: "Datenbestand", tenant: "Tenant URL", token: "Token", once: "Das Token wird nur einmal gezeigt. Fügen Sie beide in die Einstellungen der Bereitstellung beim Anbieter ein.",
    next: "Testen Sie dann dort die Verbindung, weisen Sie einige Personen zu, und sehen Sie die Anfragen auf dieser Ansicht an.", networks: "Netze des Anbieters" },
};
