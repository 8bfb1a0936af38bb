// Alle Wörter der Konsole auf Deutsch. Die Namen sind die von `texts_en.js`; ein Test vergleicht sie.

import { csv } from "./de_csv.js";
import { progress } from "./de_progress.js";
import { signIn } from "./de_sign_in.js";
import { work } from "./de_work.js";

/** @param {number} count @param {string} one @param {string} many */
const number = (count, one, many) => (count === 1 ? `1 ${one}` : `${count.toLocaleString("de")} ${many}`);

/** @type {Record<string, string>} */
const words = {
  success: "Zugestellt", failed: "Fehlgeschlagen", dropped: "Aufgegeben", active: "Aktiv", paused: "Angehalten", failing: "Gestört",
  pending: "Ausstehend", disabled: "Abgeschaltet", revoked: "Widerrufen",
  expired: "Abgelaufen", expiring: "Läuft bald ab", employee: "Mitarbeitende", manager: "Führungskraft", org_admin: "Organisations-Admin",
  org: "Organisation", deactivated: "Deaktiviert",
  pending_invite: "Eingeladen", strength: "Stärke", opportunity: "Chance", proposed: "Vorgeschlagen",
  in_review: "In Prüfung", approved: "Freigegeben",
  in_progress: "In Arbeit", completed: "Erreicht", running: "Läuft", held: "Gesperrt", missed: "Verfehlt", archived: "Archiviert", draft: "Entwurf",
  pending_review: "In Prüfung", shared: "Geteilt", open: "Offen",
  canceled: "Abgebrochen", submitted: "Eingereicht", all: "Alle", standard: "Standard", admin: "Admin",
  api_key: "API-Schlüssel", connector: "Konnektor", system: "Dienst",
  person: "Die Person und Führungskräfte", managers: "Nur Führungskräfte", create: "Anlegen", update: "Ändern",
  deactivate: "Deaktivieren", reactivate: "Reaktivieren", skip: "Unverändert",
  reject: "Abgelehnt", succeeded: "Gelungen", partial: "Teilweise übernommen", link_open: "Link nicht geöffnet",
  link_over: "Link abgelaufen", off: "Aus",
  manager_pending: "Führungskraft unbekannt", reporting_cycle: "Kreis in der Berichtslinie", too_deep: "Zu viele Führungskräfte darüber",
  department_archived: "Abteilung archiviert",
  last_admin: "Letzter Organisations-Admin", managed_elsewhere: "Anderswo verwaltet", identity_conflict: "Mehrere Personen passen",
  adoption_unconfirmed: "Übernahme bestätigen",
  on_track: "Auf Kurs", at_risk: "Gefährdet", off_track: "Nicht auf Kurs", none: "Keine Angabe",
};

/** @type {Record<string, string>} */
const failures = {
  status: "Anderer Status als 2xx", redirect: "Umleitung", gone: "410 Gone", not_https: "Kein HTTPS",
  forbidden_address: "Adresse nicht erlaubt", unresolvable: "Host nicht gefunden",
  connect: "Verbindung abgelehnt", tls: "TLS-Fehler", timeout: "Zeit überschritten", closed: "Verbindung geschlossen",
  malformed: "Kein gültiges HTTP", too_large: "Antwort zu groß", too_late: "Zeit für Versuche vorbei",
  other: "Andere",
};

/** @type {Record<string, string>} */
const failureTexts = {
  status: "Der Empfänger hat mit einem Fehler geantwortet. Beheben Sie ihn dort und senden Sie diese Zustellung erneut.",
  redirect: "Der Empfänger hat mit einer Umleitung geantwortet, der nicht gefolgt wird. Ändern Sie die URL des Abonnements.",
  gone: "Der Empfänger hat mit 410 geantwortet. Ändern Sie die URL des Abonnements oder löschen Sie es.",
  not_https: "Die URL ist kein HTTPS. Ändern Sie die URL des Abonnements.",
  forbidden_address:
    "Der Host führt zu einer Adresse, die nicht öffentlich ist. " +
      "Ändern Sie die URL, oder bitten Sie den Betrieb, dem Netz zu vertrauen.",
  unresolvable: "DNS kennt den Host nicht. Berichtigen Sie die URL oder den DNS-Eintrag.",
  connect: "Keine Verbindung zum Empfänger. Starten Sie ihn oder öffnen Sie seinen Port, und senden Sie diese Zustellung erneut.",
  tls: "Der TLS-Handshake ist fehlgeschlagen. Erneuern oder berichtigen Sie das Zertifikat des Empfängers.",
  timeout: "Der Empfänger hat nicht rechtzeitig geantwortet. Er sollte zuerst bestätigen und danach arbeiten.",
  closed: "Der Empfänger hat die Verbindung geschlossen, bevor er geantwortet hat.",
  malformed: "Die Antwort war kein gültiges HTTP.",
  too_large: "Das Ereignis ist zu groß für eine Zustellung.",
  too_late: "Die Zeit für Versuche war vor diesem Versuch vorbei.",
};

/** @type {any} */
const problems = {
  canceled: "Abgebrochen", canceled_write: "Ohne Antwort abgebrochen",
  no_answer: "Keine Antwort", screen_not_loaded: "Die Ansicht wurde nicht geladen",
  no_connection: "Keine Verbindung zum Dienst", validation_error: "Einige Werte sind nicht gültig",
  bad_request: "Die Anfrage hat keine gültige Form",
  authentication_required: "Der Schlüssel wird nicht angenommen", permission_denied: "Dieser Schlüssel darf das nicht",
  not_found: "Nicht gefunden", conflict: "Im jetzigen Zustand nicht möglich",
  idempotency_conflict: "Die Anfrage wurde schon mit anderem Inhalt gesendet",
  unprocessable: "Etwas, worauf die Anfrage verweist, passt nicht", rate_limited: "Zu viele Anfragen",
  server_error: "Der Dienst hat einen Fehler", unavailable: "Der Dienst ist vorübergehend nicht verfügbar",
  timeout: "Die Anfrage hat zu lange gedauert", console_error: "Die Konsole hat einen Fehler",
  link_ended: "Der Link öffnet nicht mehr", no_provider: "Keine Anmeldung für diese Adresse",
  sign_in_denied: "Die Anmeldung wurde abgelehnt", sign_in_expired: "Die Anmeldung hat zu lange gedauert",
  sign_in_not_linked: "Das Konto gehört hier zu keiner Person", sign_in_provider: "Der Anbieter hat Sie nicht angemeldet",
  session_open: "Die Sitzung ist noch offen",
  other: (/** @type {number} */ status) => (status ? `Fehler ${status}` : "Fehler"),
};

/** @type {any} */
export const t = {
  words, failures, failureTexts, problems,
  listed: "Berichtigen Sie, was die Liste nennt, und versuchen Sie es dann erneut.",
  unanswered: "Der Dienst hat noch nicht geantwortet.", cancelRequest: "Anfrage abbrechen",
  problemTexts: { canceled: "Sie haben die Anfrage abgebrochen.",
    canceled_write: "Sie haben die Anfrage abgebrochen. Sie kann trotzdem ausgeführt sein. Sehen Sie nach, bevor Sie sie wiederholen.",
    no_connection: "Prüfen Sie das Netz, und versuchen Sie es dann erneut.",
    no_answer: "Der Dienst hat nicht innerhalb von 30 Sekunden geantwortet. Versuchen Sie es erneut.",
    screen_not_loaded: "Der Dienst ist nicht erreichbar, oder er wurde aktualisiert und dieser Tab hat die frühere Version. " +
      "Versuchen Sie es erneut, oder laden Sie die Seite neu.",
    authentication_required: "Der Schlüssel fehlt, ist abgelaufen oder widerrufen.",
    link_ended: "Ein Link öffnet einmal, innerhalb von 30 Minuten. Er wurde benutzt, ist zu alt oder wurde zurückgenommen. Bitten " +
      "Sie um einen neuen Link, oder geben Sie einen Schlüssel ein.",
    no_provider: "Prüfen Sie die Adresse. Wenn sie stimmt, fragen Sie eine Administratorin oder einen Administrator, ob sich Ihre " +
      "Organisation hier anmeldet, oder geben Sie einen Schlüssel ein.",
    sign_in_denied: "Sie oder der Anbieter haben sie abgebrochen. Versuchen Sie es erneut, oder fragen Sie in der Administration, ob " +
      "Sie Candor benutzen dürfen.",
    sign_in_expired: "Sie wurde nicht innerhalb von 10 Minuten beendet, oder sie begann in einem anderen Browser. Beginnen Sie hier neu.",
    sign_in_not_linked: "Der Anbieter kennt Sie, aber das Konto führt zu keiner aktiven Person der Organisation. Bitten Sie die " +
      "Administration, es zu verknüpfen.",
    sign_in_provider: "Der Anbieter war nicht erreichbar, oder seine Antwort war nicht gültig. Versuchen Sie es in einigen Minuten " +
      "erneut, und sagen Sie es dann der Administration.",
    session_open: "Sie sind hier abgemeldet, aber der Dienst hat nicht geantwortet. Die Sitzung endet deshalb später von selbst. Die " +
      "Administration kann sie jetzt beenden." },
  lists: { sort: "Reihenfolge", columns: "Spalten", save: "Als CSV herunterladen",
    saved: (/** @type {string} */ count) => `Heruntergeladen: ${count} Zeilen`,
    cut: (/** @type {string} */ count) => `Die Liste ist länger: Die Datei hat ihre ersten ${count} Zeilen.`,
    /** @type {Record<string, string>} */
    sorts: { last_name: "Nachname", first_name: "Vorname", "-created_at": "Zuletzt angelegt", created_at: "Zuerst angelegt",
      "-updated_at": "Zuletzt geändert", "-observation_date": "Neuestes Datum", observation_date: "Ältestes Datum",
      "-period_end": "Spätestes Ende", period_end: "Frühestes Ende", last_check_in_at: "Ältester Check-in" } },
  palette: { title: "Suchen", hint: "Name, Wort, Ansicht oder Id", results: "Ergebnisse", id: "Id öffnen",
    count: (/** @type {number} */ count) => (count === 0 ? "Nichts gefunden." : number(count, "Ergebnis", "Ergebnisse")) },
  charts: { hour: "Stunde", numbers: "Als Tabelle", most: (/** @type {string} */ count) => `Höchster Balken: ${count} in einer Stunde` },
  screens: { today: "Heute", webhooks: "Webhooks", events: "Ereignisse", people: "Personen", import: "CSV-Import",
    feedback: "Feedback", me: "Meine Seite", team: "Mein Team", organization: "Organisation", keys: "API-Schlüssel", audit: "Änderungsprotokoll",
    connectors: "Konnektoren", signIn: "Anmeldung" },
  undo: "Rückgängig", undone: "Rückgängig gemacht", notUndone: "Es ließ sich nicht rückgängig machen: Es wurde inzwischen geändert.", justNow: "gerade eben", soon: "in wenigen Sekunden", chooseLanguage: "Sprache",
  navigation: "Ansichten", moreScreens: "Mehr", skip: "Zum Inhalt springen", signOut: "Abmelden", theme: "Farben", display: "Darstellung", density: "Dichte", densities: { comfortable: "Bequem", compact: "Kompakt" },
  themes: { system: "System", light: "Hell", dark: "Dunkel" },
  environments: { live: "Live", test: "Test" },
  quotas: { read: "Lesen", write: "Schreiben", webhook_test: "Webhook-Tests", csv: "CSV-Importe",
    export: "Exporte", scim: "SCIM" },
  loading: "Wird geladen …", more: "Mehr zeigen", tryAgain: "Erneut versuchen", requestId: "Anfrage", copy: "Kopieren",
  copied: "Kopiert", notCopied: "Der Browser erlaubt das Kopieren nicht",
  cancel: "Abbrechen", close: "Schließen", remove: "Entfernen", goOn: "Offen lassen", discard: "Verwerfen", closeNow: "Ja, schließen",
  draftKept: "Was Sie vorher geschrieben haben, ist noch da.", typedLoses: "Verwerfen, was Sie geschrieben haben?", secretLoses: "Schließen? Das Geheimnis wird nicht noch einmal gezeigt.", save: "Speichern", create: "Anlegen", edit: "Bearbeiten", delete: "Löschen",
  stored: "Ich habe es gespeichert", required: "Pflichtfeld", optional: "Freiwillig",
  any: "Beliebig", all: "Alle", clear: "Zurücksetzen", filters: "Filter", moreFilters: "Weitere Filter", fewerFilters: "Weniger Filter", search: "Suchen", state: "Zustand", time: "Zeit",
  name: "Name", id: "Id", field: "Feld", actions: "Aktionen", from: "Von", to: "Bis",
  description: "Beschreibung", created: "Angelegt", never: "Nie", none: "Keine", nothing: "Hier ist nichts.",
  before: "vorher", after: "nachher", findPerson: "Name oder E-Mail", choosePerson: "Wählen Sie eine Person aus der Liste, oder leeren Sie das Feld.", searchFailed: "Die Suche ist fehlgeschlagen. Schreiben Sie erneut.",
  peopleFound: (/** @type {number} */ count) => (count === 0 ? "Niemand gefunden." : `${number(count, "Person", "Personen")} gefunden`),
  notHere: "Nicht gefunden", notHereTitle: "Diese Ansicht gibt es nicht",
  notHereText: "Die Adresse kann von einer anderen Version sein.", closedTitle: "Dieser Schlüssel darf diese Ansicht nicht sehen", or: " oder ",
  requests: "Anfragen", requestsText: "Die Anfragen dieser Ansicht, die neueste zuerst.",
  reload: "Seite neu laden",
  setup: "Einmal, in der Shell, mit Ihrem Schlüssel statt …:",
  noRequests: "Noch keine Anfragen", language: "Sprache", code: "den Code",
  missingScope: (/** @type {string} */ scope) =>
    `Dem Schlüssel fehlt der Scope ${scope}. Bitten Sie die Administration um einen Schlüssel, der ihn hat.`,
  missingLevel: "Dafür braucht es einen Admin-Schlüssel.",
  missingKind: { admin: "Dafür braucht es einen Admin-Schlüssel.", bound: "Dafür braucht es die Sitzung einer Person.",
    operator: "Dafür braucht es einen Admin-Schlüssel für die echten Daten.",
    organization: "Dafür braucht es einen Admin-Schlüssel für die echten Daten, der für keine Person handelt.",
    unbound: "Dafür braucht es einen Schlüssel, der für keine Person handelt." },
  waiting: (/** @type {number} */ status, /** @type {number} */ seconds) =>
    status === 429 ? `Das Kontingent dieses Schlüssels ist verbraucht. In ${seconds} s wird es erneut versucht.`
    : `Der Dienst ist ausgelastet. In ${seconds} s wird es erneut versucht.`,
  entrance: {
    title: "Konsole öffnen",
    text: "Melden Sie sich mit dem Konto Ihrer Organisation an. Candor sieht das Passwort nie.", email: "Adresse bei der Arbeit",
    signIn: "Anmelden", emailHint: "Führt zum Anbieter Ihrer Organisation. Sie wird nicht gespeichert.",
    or: "Oder mit einem Schlüssel", key: "API-Schlüssel", keep: "Den Schlüssel behalten, bis dieser Tab geschlossen wird",
    open: "Öffnen", hint: "Die Konsole zeigt, was der Schlüssel sehen darf, und bietet an, was er darf.", docs: "API-Referenz",
    again: "Erneut anmelden",
    againText: "Der Dienst nimmt die Sitzung oder den Schlüssel nicht mehr an: abgelaufen oder widerrufen. Was Sie geschrieben haben, ist noch da.",
    newTab: "In einem neuen Tab anmelden", newTabText: "Kommen Sie danach hierher zurück: Dieser Tab macht von selbst weiter.",
  },
  commandLine: {
    title: "Die Kommandozeile anmelden", text: "Das Programm candor auf diesem Computer wartet auf eine Anmeldung. Es bekommt eine " +
      "Sitzung von Ihnen und darf, was Sie dürfen.",
    compare: "Machen Sie nur weiter, wenn Sie gerade candor login gestartet haben und es diesen Code zeigt:", wrong: "Wenn nicht, schließen " +
      "Sie diese Seite: Jemand anderes kann Sie hierher geschickt haben.", code: "Code",
    signIn: "Die Codes sind gleich: anmelden",
  },
  offer: {
    session: (/** @type {any} */ linked, /** @type {any} */ current) => `Sie haben sich bei ${linked.organization_name} ` +
      `angemeldet („${linked.name}“). Jetzt sind Sie in ${current.organization_name} mit „${current.name}“. ` +
      "Was Sie danach tun, geschieht mit der neuen Sitzung.",
    title: (/** @type {string} */ name) => `${name} öffnen?`,
    first: (/** @type {any} */ linked) => `Dieser Link öffnet ${linked.organization_name} (${linked.organization_id}) mit dem ` +
      `Schlüssel „${linked.name}“. Öffnen Sie ihn nur, wenn Sie ihn erwartet haben: Jeder kann einen Link in eine eigene Organisation senden.`,
    text: (/** @type {any} */ linked, /** @type {any} */ current) => `Dieser Link öffnet ${linked.organization_name} ` +
      `mit dem Schlüssel „${linked.name}“. Jetzt sind Sie in ${current.organization_name} mit dem Schlüssel „${current.name}“. ` +
      "Was Sie danach tun, geschieht in der anderen Organisation.",
    open: "Öffnen",
  },
  stale: { title: "Inzwischen geändert", untouched: "Von Ihnen nicht geändert",
    text: "Während Sie bearbeitet haben, wurden die Felder unten gespeichert. Wählen Sie, welche Fassung bleibt.",
    others: "Während Sie bearbeitet haben, wurden andere Felder als die dieses Formulars gespeichert. Ihre Fassung ändert keines davon.",
    stored: "Jetzt gespeichert", typed: "Ihre Fassung",
    theirs: "Gespeicherte Fassung behalten", mine: "Meine Fassung speichern" },
  today: {
    lead: (/** @type {string} */ name) => `Was Aufmerksamkeit braucht, mit den Augen des Schlüssels „${name}“.`,
    leadOfPerson: "Was auf Sie wartet.",
    attention: "Braucht Aufmerksamkeit", calm: "Nichts wartet",
    calmOf: { webhooks: "Kein Webhook ist angehalten oder gestört.", connectors: "Kein Konnektor ist angehalten oder gestört.",
      keys: "Kein Schlüssel endet innerhalb von 14 Tagen.", objectives: "Kein Ziel wartet auf eine Prüfung.",
      summaries: "Keine Zusammenfassung wartet auf eine Prüfung.", assignments: "Keine Feedback-Anfrage ist überfällig." },
    unseen: "Dieser Schlüssel sieht nichts, was warten könnte",
    success: "Zugestellt, 24 Stunden", slowest: "langsamstes Abonnement", queue: "Warteschlange",
    failing: "Gestörte Abonnements", quota: "Kontingent dieses Schlüssels",
    quotaText: "Anfragen dieses Schlüssels in einer Minute, nach der letzten Antwort an diesen Tab.",
    requests: "Anfragen je Stunde, letzte 24 Stunden", answered: "beantwortet", refusedOrFailed: "nicht ausgeführt",
    requestsLabel: (/** @type {number} */ good, /** @type {number} */ bad) =>
      `Anfragen der letzten 24 Stunden: ${good} beantwortet, ${bad} abgelehnt oder fehlgeschlagen`,
    ofSubscriptions: (/** @type {number} */ count) => `von ${number(count, "Abonnement", "Abonnements")}`,
    others: (/** @type {number} */ count) => `und ${count} weitere`,
    planEndsEarly: "Der Dienst hat nur die Änderungen einiger Zeilen gezeigt. Eine kleinere Datei zeigt alle.",
    othersAtLeast: (/** @type {number} */ count) => `und mindestens ${count} weitere`,
    used: (/** @type {string} */ part, /** @type {string} */ whole) => `${part} von ${whole}`,
    most: (/** @type {string} */ whole) => `höchstens ${whole} in einer Minute`,
  },
  /** @type {Record<string, string>} */
  matters: { webhook_inactive: "Webhook angehalten", webhook_failing: "Webhook gestört", connector_paused: "Konnektor ist angehalten",
    connector_failing: "Konnektor hat Probleme", api_key_expiring: "Schlüssel läuft ab", objective_returned: "Zurückgegeben", summary_returned: "Zurückgegeben",
    feedback_requested: "Um Feedback gebeten", summary_shared: "Zusammenfassung zu lesen", objective_in_review: "Ziel in Prüfung",
    summary_in_review: "Zusammenfassung in Prüfung", assignment_overdue: "Feedback-Anfrage überfällig", objective_quiet: "Seit 14 Tagen kein Check-in" },
  webhooks: {
    lead: "Abonnements, die Ereignisse empfangen, und jeder Versuch, eines zuzustellen.", create: "Neues Abonnement",
    subscriptions: "Abonnements", deliveries: "Zustellungen", subscription: "Abonnement",
    delivery: "Zustellung", receiver: "Empfänger", rate: "Zugestellt, 24 h", rate24: "Zugestellt, 24 Stunden",
    p95: "95. Perzentil", nextAttempt: "Nächster Versuch", lastAttempt: "Letzter Versuch",
    none: "Noch keine Abonnements", noneText: "Legen Sie ein Abonnement an, um Ereignisse an einer Ihrer URLs zu empfangen.",
    event: "Ereignis", eventId: "Id des Ereignisses", result: "Ergebnis", answer: "HTTP", took: "Dauer", attempt: "Versuch",
    attempts: (/** @type {number} */ count) => number(count, "Versuch", "Versuche"),
    median: (/** @type {string} */ value) => `Median ${value}`,
    uncounted: "Es sind zu viele Versuche, um alle zu zählen.",
    queued: (/** @type {number} */ count) => `${count.toLocaleString("de")} in der Warteschlange`,
    failed: "Fehlgeschlagene Versuche", chart: "Versuche je Stunde, letzte 24 Stunden", successes: "zugestellt",
    failures: "fehlgeschlagen",
    chartLabel: (/** @type {number} */ good, /** @type {number} */ bad) =>
      `Versuche der letzten 24 Stunden: ${good} zugestellt, ${bad} fehlgeschlagen`,
    noDeliveries: "Keine Zustellungen",
    noDeliveriesText:
      "Versuche erscheinen hier, wenn ein Ereignis eines abonnierten Typs geschieht. " +
        "Senden Sie einen Test, um einen zu sehen, oder setzen Sie die Filter zurück.",
    log: "Protokoll der Zustellungen",
    test: "Test senden", testText: "Sendet das Ereignis test.ping einmal, auch an ein angehaltenes Abonnement.",
    tested: (/** @type {number} */ status, /** @type {string} */ took) =>
      `Der Empfänger hat den Test nach ${took} mit ${status} beantwortet`,
    testFailed: (/** @type {string} */ reason) => `Der Test ist fehlgeschlagen: ${reason}`,
    testOpen: "Der Empfänger hat den Test noch nicht beantwortet: siehe Protokoll",
    pause: "Anhalten", pauseText: "Ereignisse aus dieser Zeit werden nicht eingereiht. Eine Wiederholung kann sie später zustellen.",
    enable: "Einschalten", enableText: "Setzt die Zustellungen fort und die Zahl der Fehler zurück.",
    deleteTitle: "Abonnement löschen",
    deleteText: "Zustellungen enden sofort. Das Abonnement und sein Protokoll lassen sich nicht wiederherstellen.", types: "Typen von Ereignissen",
    every: "Alle Ereignisse", url: "URL des Empfängers",
    urlHint: "Mit https. Der Empfänger muss eine öffentliche Adresse haben.", secret: "Geheimnis der Signatur",
    secretText: "Speichern Sie das Geheimnis beim Empfänger. Es wird nur einmal gezeigt.", rotate: "Geheimnis erneuern",
    rotateText: "Legt ein neues Geheimnis an. Bis zum Ende der Übergangszeit ist jede Zustellung mit beiden Geheimnissen signiert.",
    overlap: "Das bisherige Geheimnis gilt noch",
    overlaps: { 0: "Keine Zeit", 3600: "1 Stunde", 86400: "24 Stunden", 604800: "7 Tage" },
    rotated: (/** @type {string} */ end) =>
      `Das neue Geheimnis. Das bisherige signiert auch und endet ${end}. Speichern Sie es: Es wird nur einmal gezeigt.`,
    rotatedNow: "Das neue Geheimnis. Das bisherige gilt nicht mehr. Speichern Sie es: Es wird nur einmal gezeigt.", replay: "Wiederholen",
    replayText: "Stellt Ereignisse eines Zeitraums erneut zu, mit denselben Ids.", since: "Ereignisse seit",
    only: "Ereignisse", onlyFailed: "Nicht bestätigte", onlyAll: "Alle der abonnierten Typen",
    notCounted: "Die Zahl der Ereignisse ist vor der Wiederholung nicht bekannt.",
    wouldSend: (/** @type {string} */ count) => `${count} Ereignisse würden zugestellt.`,
    wouldSendMore: (/** @type {string} */ count) => `Mindestens ${count} Ereignisse würden zugestellt.`,
    replayed: (/** @type {number} */ count) => `Zustellungen eingereiht: ${count.toLocaleString("de")}`,
    rateLimit: "Höchstens Anfragen je Sekunde", rateLimitHint: "1 bis 1.000. Leer: keine Grenze.",
    filter: "Filter", filterPeople: "Nur über diese Personen", filterAddPerson: "Person hinzufügen", filterDropPerson: "Entfernen",
    filterDepartments: "Nur über Personen dieser Abteilungen",
    filterHint: "Ids mit Leerzeichen dazwischen. Leer: alle.",
    filterType: "Nur Beobachtungen vom Typ", filterAny: "Alle Ereignisse",
    filterScope: "Nur Ziele der Ebene",
    filterOfPeople: (/** @type {number} */ count) => number(count, "Person", "Personen"),
    filterOfDepartments: (/** @type {number} */ count) => number(count, "Abteilung", "Abteilungen"),
  },
  delivery: {
    resend: "Jetzt erneut senden", resent: "Die Zustellung ist eingereiht und beginnt sofort", latestFailed: "Der letzte Versuch ist fehlgeschlagen.",
    attempts: "Versuche für dieses Ereignis", request: "Anfrage", presentState: "Ereignis jetzt", nextAt: "Der nächste Versuch ist fällig",
    /** @type {Record<string, string>} */
    present: { success: "Der Empfänger hat das Ereignis bestätigt.", failed: "Der Empfänger hat das Ereignis nicht bestätigt.",
      dropped: "Der Empfänger hat das Ereignis nicht bestätigt, und der Dienst hat aufgegeben." },
    noAnswer: "Keine Antwort", failure: "Grund", id: "Id der Zustellung",
    thisAttempt: (/** @type {number} */ number) => `Versuch ${number} (dieser)`,
    attempt: (/** @type {number} */ number) => `Versuch ${number}`,
    answered: (/** @type {number} */ status, /** @type {string} */ took) => `Status ${status} nach ${took}`,
    next: "Nächster Versuch",
    loggedText: "Aus dem Protokoll, das weder die übrigen Header noch die Inhalte von Anfrage und Antwort enthält.",
    wouldBe: "Was jetzt gesendet würde", wouldBeText: "Aus dem Ereignis und dem Abonnement, wie sie jetzt sind. Zur Zeit des " +
      "Versuchs kann das Abonnement andere Header oder einen anderen Inhalt gehabt haben.",
    headers: "Eigene Header", body: "Inhalt", thinBody: "Inhalt, ohne die Ressource (dünn)",
  },
  events: {
    lead: "Jede Änderung, sobald sie geschieht, die neueste zuerst.", event: "Ereignis", resource: "Ressource", resourceId: "Id der Ressource",
    deliveries: "Zeigen", live: "Laufend", stopped: "Nicht aktualisiert", paused: "Angehalten", pause: "Anhalten", resume: "Fortsetzen",
    none: "Noch keine Ereignisse", cut: "Es kamen mehr Ereignisse, als hier Platz haben. Dies sind die neuesten.",
    noneText: "Neue Ereignisse erscheinen hier innerhalb von zwei Sekunden. Setzen Sie den Filter zurück, um alle Typen zu sehen.",
    noDeliveries: "Kein Abonnement hat dieses Ereignis empfangen.",
  },
  people: {
    lead: "Personen der Organisation und ihre Berichtslinien.", list: "Liste", tree: "Berichtslinien",
    person: "Person", role: "Rolle", department: "Abteilung", title: "Stelle", manager: "Führungskraft",
    searchHint: "Name oder E-Mail", none: "Keine Personen gefunden", onlyHere: "Personen, die jetzt hier sind.", left: "Ausgeschiedene Personen", nobodyLeft: "Niemand ist ausgeschieden", alsoLeft: "Gefunden unter allen Personen, auch unter den ausgeschiedenen.",
    notInSearch: "Die Filter nach Rolle, Abteilung und Führungskraft gelten nicht für eine Suche.",
    noneText: "Ändern Sie die Filter, oder importieren Sie Personen aus einer CSV-Datei.", noTree: "Noch keine Berichtslinien",
    noTreeText: "Geben Sie Personen eine Führungskraft, oder importieren Sie sie mit der Spalte manager_email.",
    treeText: "Pfeiltasten bewegen und öffnen, Enter zeigt die Person.", details: "Angaben", email: "E-Mail",
    source: "Quelle",
    manual: "Von Hand eingetragen", externalId: "Externe Id", deactivatedAt: "Deaktiviert", history: "Verlauf",
    reports: "Direkt unterstellte Personen", changeManager: "Führungskraft ändern", firstName: "Vorname", lastName: "Nachname",
    changeManagerText: (/** @type {string} */ name) =>
      `Wählen Sie die neue Führungskraft von ${name}. Das Team von ${name} zieht mit um.`,
    saved: (/** @type {string} */ name) => `Gespeichert: ${name}`,
    reportsStay: (/** @type {string} */ name, /** @type {number} */ count, /** @type {boolean} */ isMore) =>
      count === 1 ? `1 Person berichtet an ${name} und behält diese Führungskraft, bis Sie das ändern.`
        : `${isMore ? "Mindestens " : ""}${count} Personen berichten an ${name} und behalten diese Führungskraft, bis Sie das ändern.`,
    managerProblems:
      { reporting_cycle:
        "Diese Person berichtet an die, die Sie ändern: Die Linie würde zum Kreis. " +
          "Ändern Sie zuerst die Führungskraft dazwischen.",
      not_found_in_organization: "Diese Person ist in der Organisation nicht aktiv.",
      field_managed_externally:
        "Das HR-System verwaltet dieses Feld. Ändern Sie es dort, oder lösen Sie die Person vom Konnektor." },
    managed: (/** @type {string} */ source) =>
      `${source} verwaltet Name, E-Mail, Führungskraft und Abteilung. Ändern Sie sie dort.`,
    deactivate: "Deaktivieren", deactivateText: "Die Person kann sich nicht mehr anmelden. Verlauf und Berichtslinie bleiben.",
    reactivate: "Reaktivieren", reactivateText: "Die Person ist wieder aktiv, mit der früheren Berichtslinie.",
    rehire: "Wieder einstellen", rehireText: "Die Person ist wieder aktiv und gilt als wieder eingestellt.", invite: "Einladung senden",
    inviteText: "Sendet die Einladung erneut und beendet den früheren Link.", invited: "Die Einladung ist gesendet",
    inviteLink: "Es ist kein Mailserver eingerichtet. Geben Sie der Person diesen Link.",
  },
  data: {
    title: "Daten über diese Person", take: "Daten herunterladen", taken: "Die Daten sind heruntergeladen",
    hold: "Daten sperren", release: "Sperre beenden", heldNow: "Die Daten sind gesperrt", released: "Die Sperre ist beendet", holdState: "Löschsperre", heldAt: "Gesperrt seit",
    holdText: "Solange die Sperre besteht, können die Daten über diese Person nicht gelöscht werden.",
    heldText: "Die Daten können nicht gelöscht werden, bevor die Sperre endet.",
    releaseText: "Die Daten über diese Person können wieder gelöscht werden.", reason: "Grund",
    reasonHint: "Steht im Änderungsprotokoll. Nennen Sie darin keine Personen.",
    activeText: "Nur die Daten von deaktivierten Personen können gelöscht werden.",
    eraseText: "Eine Löschung entfernt den Namen und alles über diese Person.", erase: "Daten löschen",
    eraseTitle: (/** @type {string} */ name) => `Daten über ${name} löschen`,
    cannotUndo: "Das lässt sich nicht rückgängig machen.",
    stays: "Die Id bleibt, und was die Person über andere geschrieben hat, bleibt unter dem Namen Former employee.",
    nothing: "Nur der Eintrag der Person selbst wird entfernt.",
    keptByHold: (/** @type {string} */ count) => `Von einer Löschsperre gehalten: ${count}. Die Löschung geht weiter, wenn die Sperre endet.`,
    outOfReach: "Sicherungen, Empfänger von Webhooks, Exporte und Kopien von Clients sind außer Reichweite: Löschen Sie die Daten dort.",
    confirm: "E-Mail-Adresse, zur Bestätigung", begun: "Die Löschung hat begonnen",
    erased: "Der Name ist gelöscht. Die Quittung zeigt, wann alles über diese Person entfernt ist.", receipts: "Löschungen", rows: "Entfernt",
    requestedAt: "Verlangt", completedAt: "Beendet", none: "Keine Löschungen",
    noneText: "Die Seite einer Person bietet die Löschung ihrer Daten an, sobald sie deaktiviert ist.",
    /** @type {Record<string, string>} */
    kinds: { observations: "Beobachtungen", objectives: "Ziele", check_ins: "Check-ins", summaries: "Zusammenfassungen",
      assignments: "Feedback-Anfragen", messages: "Nachrichten", notifications: "Mitteilungen",
      invitations: "Einladungen", sync_issues: "Probleme von Konnektoren", scim_accounts: "Konten von Anbietern",
      identity_links: "Konten zur Anmeldung",
      api_keys: "API-Schlüssel", conversations: "Gespräche", audit_entries: "Einträge im Protokoll", events: "Ereignisse",
      stored_responses: "Wiederholungen von Anfragen" },
  },
  retention: {
    title: "Aufbewahrung", rule: "Regel", removes: "Entfernt", appliesAt: "Im Lauf vom", preview: "Vorschau",
    lead: "Archivierte Daten und die Daten ausgeschiedener Personen werden nach diesen Fristen entfernt. Daten unter einer Löschsperre bleiben.",
    keep: "Behalten", save: "Fristen speichern", saved: "Die Fristen sind gespeichert",
    saveText: "Eine Regel, die kürzer wird, entfernt 7 Tage lang nichts. Was danach entfernt wird, lässt sich nicht wiederherstellen.",
    runs: "Läufe", startedAt: "Begonnen", none: "Keine Läufe", noneText: "Der erste Lauf folgt 7 Tage nach der ersten Regel.",
    period: (/** @type {string} */ period) => {
      const years = /^P(\d+)Y$/.exec(period)?.[1];
      return !years ? period : years === "1" ? "Nach 1 Jahr" : `Nach ${years} Jahren`;
    },
    /** @type {Record<string, string>} */
    rules: { archived_observations: "Archivierte Beobachtungen", archived_objectives: "Archivierte Ziele",
      archived_summaries: "Archivierte Zusammenfassungen", archived_conversations: "Archivierte Gespräche",
      deactivated_people: "Deaktivierte Personen" },
  },
  csv,
  feedback: {
    lead: "Was Personen über die Arbeit der anderen geschrieben haben.", observations: "Beobachtungen", objectives: "Ziele",
    summaries: "Zusammenfassungen", conversations: "Gespräche", assignments: "Feedback-Anfragen", all: "Alle zeigen",
    searchHint: "Wörter des Texts", type: "Typ", archived: "Archiviert", onlyArchived: "Nur archivierte", notArchived: "Nicht archivierte",
    notInSearch: "Eine Suche findet Beobachtungen, die nicht archiviert sind.",
    notFound: "Nichts gefunden", notFoundText: "Alle Wörter müssen im Text stehen. Nehmen Sie weniger oder andere Wörter.",
    none: "Keine Beobachtungen", noneText: "Ändern Sie die Filter, oder schreiben Sie die erste.",
    impact: "Wirkung", action: "Empfehlung", context: "Im Zusammenhang zeigen", observation: "Beobachtung",
    about: (/** @type {string} */ name) => `Beobachtung über ${name}`, author: "Geschrieben von", visibility: "Sichtbar für",
    attributes: "Merkmale", details: "Angaben", others: "Andere Beobachtungen über diese Person",
    citedIn: "Zusammenfassungen, die sie anführen",
    archive: "Archivieren", restore: "Wiederherstellen", restored: "Die Beobachtung ist wiederhergestellt",
    archivedNow: "Die Beobachtung ist archiviert", kind: "Art", managerObjectives: "Von Teams und der Organisation",
    owner: "Inhaber",
    noObjectives: "Keine Ziele",
    noObjectivesText: "Ändern Sie die Filter, oder schreiben Sie das erste.", history: "Verlauf",
    noSummaries: "Keine Zusammenfassungen", noSummariesText: "Zusammenfassungen erscheinen hier zuerst als Entwurf.",
    noConversations: "Keine Gespräche",
    noConversationsText: "Gespräche erscheinen hier, wenn Personen einander schreiben.",
    noAssignments: "Keine Feedback-Anfragen",
    noAssignmentsText: "Feedback-Anfragen bitten andere um Beobachtungen über eine Person.",
    changed: "Seit der Freigabe geändert", editedBy: "bearbeitet von",
    read: "Lesen", by: "von", answer: "Antwort der Person", aboutPerson: "Über",
    cancelAssignment: "Anfrage abbrechen",
    cancelText: "Die Gefragten können nichts mehr einreichen. Eingereichte Beobachtungen bleiben.",
    cites: (/** @type {number} */ observations, /** @type {number} */ objectives) =>
      `führt ${number(observations, "Beobachtung", "Beobachtungen")} an, ${number(objectives, "Ziel", "Ziele")}`,
    late: "Überfällig", due: (/** @type {string} */ date) => `fällig ${date}`,
    submitted: (/** @type {number} */ part, /** @type {number} */ whole) => `${part} von ${whole} eingereicht`,
    acted: (/** @type {string} */ verb, /** @type {string} */ title) => `${verb}: ${title}`,
  },
  progress,
  work,
  signIn,
  verbs: { submit: "Einreichen", approve: "Freigeben", reject: "Ablehnen", complete: "Als erreicht abschließen", miss: "Als verfehlt abschließen",
    archive: "Archivieren", return: "Zurückgeben", share: "Teilen" },
  verbsDone: { create: "Angelegt", update: "Geändert", start: "Begonnen", check_in: "Check-in", feedback: "Beantwortet", submit: "Eingereicht", approve: "Freigegeben", reject: "Abgelehnt", complete: "Als erreicht abgeschlossen", miss: "Als verfehlt abgeschlossen",
    archive: "Archiviert", return: "Zurückgegeben", share: "Geteilt" },
  verbTexts: { submit: "Geht in die Prüfung.", approve: "Die Inhaberin oder der Inhaber wird benachrichtigt.",
    reject: "Geht mit dem Grund zurück.", complete: "Lässt sich danach nicht mehr ändern.",
    miss: "Lässt sich danach nicht mehr ändern.",
    archive: "Verschwindet aus den Listen und bleibt im Änderungsprotokoll.",
    return: "Geht mit dem Grund zurück an die Verfasserin oder den Verfasser.", share: "Die Person kann sie lesen." },
  reasons: { comment: "Kommentar", reason: "Grund", outcome: "Ergebnis" },
  keys: {
    lead: "Schlüssel für die API, mit ihren Scopes und der letzten Benutzung.", create: "Neuer Schlüssel", rotate: "Erneuern",
    revoke: "Widerrufen", own: "dieser", session: "Sitzung", sessions: "Sitzungen von Personen", keys: "Schlüssel", kind: "Art", scopes: "Scopes", all: "Alle Scopes", many: (/** @type {number} */ count) => `${count} Scopes`, reads: (/** @type {number} */ count) => `${count} Scopes, nur lesen`, person: "Handelt für", used: "Zuletzt benutzt",
    end: "Endet", onlyRead: "Alle, die nur lesen", scopesHint: "Wählen Sie mindestens einen.",
    noEnd: "Ohne Ende", networks: "Netze", networksHint: "Eines je Zeile, wie 192.0.2.0/24. Leer: überall",
    none: "Keine Schlüssel", level: "Stufe", environment: "Datenbestand",
    days: (/** @type {number} */ count) => (count === 1 ? "In 1 Tag" : `In ${count} Tagen`),
    created: "Der Schlüssel ist angelegt",
    createdText: "Speichern Sie den Schlüssel jetzt. Er wird nur einmal gezeigt.", rotated: "Das neue Geheimnis des Schlüssels",
    rotateText: (/** @type {string} */ name) =>
      `Legt ein neues Geheimnis für „${name}“ an. Das bisherige gilt noch eine Weile.`,
    revokeText: (/** @type {string} */ name) => `„${name}“ gilt innerhalb einer Sekunde nicht mehr und lässt sich nicht wiederherstellen.`,
    revokeOwn: "Das ist der Schlüssel, mit dem Sie angemeldet sind. Er gilt innerhalb einer Sekunde nicht mehr: Die Konsole schließt sich, und der Schlüssel lässt sich nicht wiederherstellen.",
    personHint: "Der Schlüssel sieht und tut, was diese Person darf. Leer: die ganze Organisation",
    quota: (/** @type {string | null} */ reads, /** @type {string | null} */ writes) =>
      `Kontingent je Minute: ${[reads && `${reads} lesend`, writes && `${writes} schreibend`].filter(Boolean).join(", ")}`,
    revoked: "Der Schlüssel ist widerrufen", enable: "Einschalten", enabled: "Der Schlüssel ist eingeschaltet",
    enableText: (/** @type {string} */ name) =>
      `„${name}“ ist aus der Zeit, bevor die Person deaktiviert wurde. Die Person ist wieder aktiv, und der Schlüssel wird es auch.`,
  },
  links: {
    create: "Neuer Portal-Link",
    text: "Der Link öffnet diese Konsole einmal, für eine Person ohne Schlüssel. Sein Schlüssel steht in der Liste der Schlüssel.",
    nameHint: "Steht in der Liste der Schlüssel, etwa der Name der Person", access: "Zugang", lifetime: "Endet",
    created: "Der Link ist angelegt",
    kinds: { webhooks: "Webhooks und Ereignisse, nur lesen", people: "Personen, nur lesen",
      reads: "Alles, was dieser Schlüssel sieht, nur lesen", everything: "Alles, was dieser Schlüssel darf" },
    lifetimes: { 900: "In 15 Minuten", 3600: "In 1 Stunde", 28800: "In 8 Stunden", 86400: "In 24 Stunden" },
    createdText: (/** @type {string} */ open, /** @type {string} */ end) =>
      `Senden Sie ihn der Person. Er öffnet einmal, bis ${open}. Der Zugang endet um ${end}; widerrufen Sie den Schlüssel, um ihn jetzt zu beenden.`,
  },
  audit: { lead: "Wer was geändert hat, mit den Werten vorher und nachher.", action: "Aktion",
    target: "Geänderte Ressource", person: "Geänderte Person", actor: "Geändert von", by: "von", onlyTarget: "nur diese", none: "Keine Einträge",
    noneText: "Ändern Sie die Filter, um andere Änderungen zu sehen." },
  provider: {
    issues: "Offene Probleme", noIssues: "Keine offenen Probleme.", requests: "Neueste Anfragen",
    noRequests: "Der Anbieter hat noch keine Anfrage gesendet.",
    at: "Zeit", request: "Anfrage", duration: "Dauer", lastRequest: "Letzte Anfrage",
    lastChange: "Letzte Änderung einer Person",
    agent: "Client", people: "Verwaltete Personen", mappings: "Zugeordnete eigene Felder", brake: "Bremse",
    brakeText: (/** @type {number} */ percent, /** @type {number} */ least) =>
      percent === 100 ? "Aus" : `Hält bei ${percent} % der Personen in einer Stunde an, aber nicht unter ${least} Personen`,
    paused: "Änderungen sind angehalten",
    pausedText: "Viele Personen wurden in einer Stunde deaktiviert. Prüfen Sie die Zuweisungen beim Anbieter.",
    resume: "Fortsetzen", resumed: "Der Konnektor nimmt wieder Änderungen an", resolve: "Erledigen",
    resolvedIssue: "Das Problem ist erledigt",
    times: (/** @type {number} */ count) => number(count, "Anfrage", "Anfragen"),
  },
  connectors: {
    type: "Art", typeHint: "Ein Anbieter sendet Personen über SCIM. Dafür braucht es einen API-Schlüssel mit dem Scope scim.",
    csv: "CSV-Dateien", scim: "Anbieter (SCIM)",
    lead: "HR-Systeme, die Personen verwalten, und ihr letzter Abgleich.", create: "Neuer Konnektor", none: "Keine Konnektoren",
    noneText: "Ein Konnektor kennzeichnet Personen als verwaltet von einem HR-System, das sie als CSV hochlädt.",
    release: "Personen lösen",
    releaseText: (/** @type {string} */ source) =>
      `Alle Personen von ${source} behalten ihre Werte und lassen sich hier wieder ändern.`,
    released: (/** @type {number} */ count) => `${number(count, "Person", "Personen")} gelöst`, last: "Letzte Datei", result: "Ergebnis",
    mapped: "Verwaltete eigene Felder", mappedHint: "Schlüssel, durch Kommas getrennt", issue: "Offenes Problem",
    source: "Name des HR-Systems", sourceHint: "Kleinbuchstaben, Ziffern, - und _",
  },
};
