// Wörter der Anmeldung: ihre Einstellungen, der Eingang und die Frage der Kommandozeile.

export const signIn = {
  lead: "Anbieter, mit denen sich Personen der Organisation anmelden. Candor speichert keine Passwörter.",
  connect: "Anbieter verbinden", none: "Kein Anbieter ist verbunden",
  noneText: "Verbinden Sie den OpenID-Connect-Anbieter Ihrer Organisation, etwa Entra ID, Okta, Google oder Keycloak. " +
    "Bis dahin brauchen Personen einen Schlüssel oder einen Link.",
  provider: "Anbieter", issuer: "Issuer", lastSignIn: "Letzte Anmeldung", linkBy: "Findet Personen durch",
  /** @type {Record<string, string>} */
  rules: { scim_external_id: "Die Id, die der Anbieter über SCIM sendet", verified_email: "Eine bestätigte E-Mail-Adresse" },
  /** @type {Record<string, string>} */
  states: {
    pending: "Noch nicht geprüft. Melden Sie sich einmal an, um es zu prüfen.",
    active: "Personen können sich anmelden.",
    disabled: "Niemand kann sich anmelden, und Token werden abgelehnt.",
  },
  settings: "Einstellungen", clientId: "Client-Id", secret: "Client-Secret", secretSet: "Gespeichert", noSecret: "Keines (öffentlicher Client)",
  subjectClaim: "Claim mit der Id", lifetime: "Eine Sitzung dauert", scopes: "Sitzungen dürfen", adminSessions: "Organisations-Admins",
  isAdmin: "Haben den Zugang von Admins", isNoAdmin: "Haben denselben Zugang wie alle anderen",
  acr: "Verlangte Authentifizierung (acr)", audiences: "Audiences von Token", parties: "Clients von Token",
  fromToken: "Scopes eines Tokens", isFromToken: "Nur die, die das Token nennt", isNotFromToken: "Die von Sitzungen",
  everyClient: "Alle Clients", noTokens: "Keine Token werden angenommen",
  addresses: "Adressen für den Anbieter",
  addressesText: "Tragen Sie diese Adressen dort ein, wo der Anbieter die Einstellungen seines Clients hat, Zeichen für Zeichen.",
  addressesFirst: "Zuerst die Adressen zeigen", noClient: "Der Client fehlt", enterClient: "Client eintragen",
  noClientText: "Legen Sie beim Anbieter einen Client für Candor mit den Adressen unten an, und tragen Sie dann hier seine Id und sein Secret ein. Bis dahin zeigt die API `not-registered-yet` als Client-Id.",
  redirect: "Redirect URI", backchannel: "Back-channel logout URI", afterLogout: "Adresse nach einer Abmeldung",
  afterLogoutHint: "Heißt auch post logout redirect URI.",
  domains: "E-Mail-Domains", noDomains: "Keine Domain ist genannt.",
  domainsText: "Eine Domain zählt, sobald sie bewiesen ist. Legen Sie diesen TXT-Eintrag im DNS der Domain an, neben denen, die es dort " +
    "gibt. Wählen Sie dann Prüfen. Danach darf der Eintrag entfernt werden.",
  proven: "Bewiesen", notProven: "Nicht bewiesen", record: "TXT-Eintrag von", domain: "Domain",
  check: "Prüfen", checkAgain: "Erneut prüfen", checkText: "Liest die Beschreibung und die Schlüssel des Anbieters und die TXT-Einträge der Domains.",
  checkToken: "Mit einem Token prüfen", token: "Token",
  tokenHint: "Ein Access-Token beweist seine Audience, die erste Anmeldung beweist die Client-Id. Das Token wird nicht gespeichert.",
  tokenText: "Fügen Sie ein Token ein, das der Anbieter gerade für diesen Client ausgestellt hat. Lassen Sie den Anbieter bis dahin die Id am " +
    "Ende der Redirect URI (idp_…) in seine Token schreiben, als Claim candor_provider oder als Rolle.",
  allRight: "Kein Problem", problems: (/** @type {number} */ count) => (count === 1 ? "1 Problem" : `${count} Probleme`),
  keys: (/** @type {number} */ count) => (count === 1 ? "1 Schlüssel, der Token bestätigt" : `${count} Schlüssel, die Token bestätigen`),
  confirmedIssuer: "Bestätigter Issuer", notConfirmed: "Die Beschreibung des Anbieters bestätigt ihn nicht",
  provenNow: "Bewiesene Werte", noneProven: "Keine",
  disable: "Abschalten", enable: "Einschalten", disabled: "Der Anbieter ist abgeschaltet", enabled: "Der Anbieter ist eingeschaltet",
  disableText: (/** @type {string} */ name) => `Niemand kann sich mit „${name}“ anmelden, bis Sie ihn wieder einschalten. Alle seine ` +
    "Sitzungen enden sofort und für immer.",
  enableText: (/** @type {string} */ name) => `Personen können sich wieder mit „${name}“ anmelden. Beendete Sitzungen bleiben beendet.`,
  deleteIt: "Anbieter löschen",
  deleteText: (/** @type {string} */ name) => `Löscht „${name}“ mit allen Verknüpfungen von Personen und beendet seine Sitzungen. Das ` +
    "lässt sich nicht rückgängig machen. Um Anmeldungen eine Weile zu verhindern, schalten Sie ihn ab.",
  deleted: "Der Anbieter ist gelöscht", saved: "Der Anbieter ist gespeichert",
  links: "Verknüpfungen von Personen", noLinks: "Noch ist kein Konto verknüpft. Die erste Anmeldung einer Person legt die Verknüpfung an.",
  linksText: "Das Konto beim Anbieter, das sich als eine Person anmeldet. Nach der ersten Anmeldung zählt nur sein Subject, eine " +
    "andere E-Mail-Adresse bewegt also kein Konto.",
  subject: "Subject (sub)", addLink: "Verknüpfung hinzufügen", linked: "Das Konto ist verknüpft", remove: "Entfernen", confirm: "Bestätigen",
  off: "Aus, bis sie bestätigt ist", linkHint: "Der Claim sub des Kontos, Zeichen für Zeichen.",
  removeText: (/** @type {string} */ name) => `${name} kann sich mit diesem Konto nicht mehr anmelden, und die Sitzungen des Kontos enden.`,
  removed: "Die Verknüpfung ist entfernt", confirmed: "Die Verknüpfung zählt wieder",
  confirmText: (/** @type {string} */ name) => `${name} war ausgeschieden und ist zurück. Bestätigen Sie nur, wenn das Konto noch dieser Person gehört.`,
  form: {
    who: "Anbieter", whoText: "Legen Sie beim Anbieter einen Client (auch Anwendung genannt) für Candor an, von der Art Web, mit dem " +
      "Authorization Code Flow. Der Anbieter zeigt diese Werte. Wenn er vorher nach unseren Adressen fragt, wählen Sie „Zuerst die Adressen zeigen“: Der Client wird danach eingetragen.",
    name: "Name", nameHint: "Wird Admins gezeigt, zum Beispiel Okta.",
    issuerHint: "Wie der Anbieter ihn schreibt, mit oder ohne Schrägstrich am Ende. Er lässt sich später nicht ändern.",
    issuerFixed: "Der Issuer lässt sich nicht ändern. Verbinden Sie stattdessen einen anderen Anbieter.",
    secretNew: "Ohne Secret ist der Client öffentlich.",
    secretKeep: "Leer: Das gespeicherte Secret bleibt.", secretNone: "Der Client ist öffentlich: gespeichertes Secret entfernen",
    secretOther: "Eine andere Client-Id braucht ihr eigenes Secret.",
    people: "Personen", peopleText: "Wie ein Konto bei der ersten Anmeldung seine Person findet. Später zählt nur das Konto.",
    linkHint: "Mit SCIM wählen Sie die Id. Eine Adresse kann an eine andere Person gehen, eine Id nicht.",
    claimHint: "Claim des ID-Tokens mit demselben Wert wie externalId über SCIM: oid bei Entra ID, sonst meist sub.",
    domainsHint: "Eine je Zeile, wie acme.example. Sie zeigen, wer von Ihnen kommt und zu welchem Anbieter eine Adresse führt.",
    access: "Zugang", accessText: "Was eine angemeldete Person darf, innerhalb dessen, was die Person sehen darf.",
    adminHint: "Sitzungen von Organisations-Admins verwalten auch Schlüssel, Konnektoren und Webhooks und lesen das Änderungsprotokoll.",
    lifetimeHint: "Danach meldet sich die Person erneut an. Oft fragt der Anbieter dabei nichts.",
    acrHint: "Lehnt Anmeldungen ohne diesen Wert von acr ab, etwa einen für zwei Faktoren. Leer: jeder.",
    programs: "Programme mit Token", programsText: "Programme können die API mit Access-Token des Anbieters aufrufen. Lassen Sie das " +
      "leer, wenn sich nur Personen anmelden.",
    audiencesHint: "Werte von aud, die angenommen werden, einer je Zeile. Jeder zählt, sobald eine Prüfung mit einem Token ihn bewiesen hat.",
    partiesHint: "Client-Ids, deren Token angenommen werden, eine je Zeile. Leer: die aller Clients.",
    fromToken: "Ein Token hat nur die Scopes von Candor, die es nennt",
    admin: "Organisations-Admins haben den Zugang von Admins",
    /** @type {Record<string, string>} */
    lifetimes: { 900: "15 Minuten", 3600: "1 Stunde", 28800: "8 Stunden", 43200: "12 Stunden", 86400: "24 Stunden" },
    seconds: (/** @type {number} */ count) => `${count} Sekunden`,
  },
};
