// Words of the sign-in of people: its settings, the entrance, and the question of the command line.

export const signIn = {
  lead: "Providers with which people of the organization sign in. Candor stores no passwords.",
  connect: "Connect a provider", none: "No provider is connected",
  noneText: "Connect the OpenID Connect provider of your organization, such as Entra ID, Okta, Google or Keycloak. " +
    "Until then, people need a key or a link.",
  provider: "Provider", issuer: "Issuer", lastSignIn: "Last sign-in", linkBy: "Finds people by",
  /** @type {Record<string, string>} */
  rules: { scim_external_id: "The id that the provider sends over SCIM", verified_email: "A confirmed e-mail address" },
  /** @type {Record<string, string>} */
  states: {
    pending: "Not tested yet. Sign in once to test it.",
    active: "People can sign in.",
    disabled: "Nobody can sign in, and tokens are refused.",
  },
  settings: "Settings", clientId: "Client id", secret: "Client secret", secretSet: "Stored", noSecret: "None (public client)",
  subjectClaim: "Claim with the id", lifetime: "A session lasts", scopes: "Sessions may", adminSessions: "Org admins",
  isAdmin: "Have the access of admins", isNoAdmin: "Have the same access as everybody else",
  acr: "Required authentication (acr)", audiences: "Audiences of tokens", parties: "Clients of tokens",
  fromToken: "Scopes of a token", isFromToken: "Only those that the token names", isNotFromToken: "Those of sessions",
  everyClient: "All clients", noTokens: "No tokens are accepted",
  addresses: "Addresses for the provider",
  addressesText: "Enter these addresses where the provider keeps the settings of its client, letter by letter.",
  addressesFirst: "Show the addresses first", noClient: "The client is missing", enterClient: "Enter the client",
  noClientText: "Create a client for Candor at the provider with the addresses below, then enter its id and its secret here. Until then, the API shows `not-registered-yet` as the client id.",
  redirect: "Redirect URI", backchannel: "Back-channel logout URI", afterLogout: "Address after a sign-out",
  afterLogoutHint: "Also called post logout redirect URI.",
  domains: "E-mail domains", noDomains: "No domain is named.",
  domainsText: "A domain counts once it is proven. Create this TXT record in the DNS of the domain, beside those that are " +
    "there. Then choose Check. The record may be removed afterwards.",
  proven: "Proven", notProven: "Not proven", record: "TXT record of", domain: "Domain",
  check: "Check", checkAgain: "Check again", checkText: "Reads the provider's description and keys, and the TXT records of domains.",
  checkToken: "Check with a token", token: "Token",
  tokenHint: "An access token proves its audience, the first sign-in proves the client id. The token is not stored.",
  tokenText: "Paste a token that the provider has issued for this client a moment ago. Until then, let the provider add " +
    "the id at the end of the redirect URI (idp_…) to its tokens, as the claim candor_provider or as a role.",
  allRight: "No problem", problems: (/** @type {number} */ count) => (count === 1 ? "1 problem" : `${count} problems`),
  keys: (/** @type {number} */ count) => (count === 1 ? "1 key that verifies tokens" : `${count} keys that verify tokens`),
  confirmedIssuer: "Confirmed issuer", notConfirmed: "The provider's description does not confirm it",
  provenNow: "Proven values", noneProven: "None",
  disable: "Disable", enable: "Enable", disabled: "The provider is disabled", enabled: "The provider is enabled",
  disableText: (/** @type {string} */ name) => `Nobody can sign in with “${name}” until you enable it again. All its ` +
    "sessions end at once, for good.",
  enableText: (/** @type {string} */ name) => `People can sign in with “${name}” again. Ended sessions stay ended.`,
  deleteIt: "Delete the provider",
  deleteText: (/** @type {string} */ name) => `Deletes “${name}” with all links of people, and ends its sessions. This ` +
    "cannot be undone. To stop sign-ins for a while, disable it.",
  deleted: "The provider is deleted", saved: "The provider is saved",
  links: "Links of people", noLinks: "No account is linked yet. The first sign-in of a person creates the link.",
  linksText: "The account at the provider that signs in as a person. After the first sign-in only its subject counts, so " +
    "another e-mail address moves no account.",
  subject: "Subject (sub)", addLink: "Add a link", linked: "The account is linked", remove: "Remove", confirm: "Confirm",
  off: "Off until confirmed", linkHint: "The claim sub of the account, letter by letter.",
  removeText: (/** @type {string} */ name) => `${name} can no longer sign in with this account, and the sessions of the account end.`,
  removed: "The link is removed", confirmed: "The link counts again",
  confirmText: (/** @type {string} */ name) => `${name} left and came back. Confirm only if the account still belongs to this person.`,
  form: {
    who: "Provider", whoText: "Create a client (also called application) for Candor at the provider, of the kind web, with the " +
      "authorization code flow. The provider shows these values. If it asks for our addresses before, choose “Show the addresses first”: the client is entered after that.",
    name: "Name", nameHint: "Shown to admins, such as Okta.",
    issuerHint: "As the provider writes it, with or without a slash at the end. It cannot be changed later.",
    issuerFixed: "The issuer cannot be changed. Connect another provider instead.",
    secretNew: "Without one, the client is public.",
    secretKeep: "Empty: the stored secret stays.", secretNone: "The client is public: remove the stored secret",
    secretOther: "Another client id needs its own secret.",
    people: "People", peopleText: "How an account finds its person at the first sign-in. Later only the account counts.",
    linkHint: "With SCIM, choose the id. An address can pass to another person, an id cannot.",
    claimHint: "Claim of the ID token with the same value as externalId over SCIM: oid with Entra ID, mostly sub otherwise.",
    domainsHint: "One per line, such as acme.example. They show who comes from you, and which provider an address leads to.",
    access: "Access", accessText: "What a person who signed in may do, within what the person may see.",
    adminHint: "Sessions of org admins also manage keys, connectors and webhooks, and read the audit log.",
    lifetimeHint: "Then the person signs in again. Often the provider asks for nothing.",
    acrHint: "Refuses sign-ins without this value of acr, such as one for two factors. Empty: any.",
    programs: "Programs with tokens", programsText: "Programs can call the API with access tokens of the provider. Leave this " +
      "empty if only people sign in.",
    audiencesHint: "Values of aud that are accepted, one per line. Each counts once a check with a token has proven it.",
    partiesHint: "Client ids whose tokens are accepted, one per line. Empty: those of all clients.",
    fromToken: "A token has only the scopes of Candor that it names",
    admin: "Org admins have the access of admins",
    /** @type {Record<string, string>} */
    lifetimes: { 900: "15 minutes", 3600: "1 hour", 28800: "8 hours", 43200: "12 hours", 86400: "24 hours" },
    seconds: (/** @type {number} */ count) => `${count} seconds`,
  },
};
