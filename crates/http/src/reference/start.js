// Everything is from this origin, and the key that somebody enters goes nowhere else and is forgotten on reload.
Scalar.createApiReference("#reference", {
  url: "/docs/reference.json",
  proxyUrl: "",
  telemetry: false,
  withDefaultFonts: false,
  persistAuth: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  documentDownloadType: "none",
  agent: { disabled: true },
  mcp: { disabled: true },
  // The samples of the document, in the languages that it has them in.
  hiddenClients: true,
});
