// Everything is from this origin. The key that a reader enters goes to this origin only and is forgotten on reload.
Scalar.createApiReference("#reference", {
  url: "/docs/reference.json",
  proxyUrl: "",
  telemetry: false,
  withDefaultFonts: false,
  persistAuth: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  documentDownloadType: "none",
  // Each model is part of the operations and webhooks that have it. In the search, its name would come before the guides.
  hideModels: true,
  // The renderer scrolls the statuses of an operation under its own buttons, where they cannot be chosen.
  customCss: `.response-card .tab-list { flex-wrap: wrap; overflow: visible; height: auto; }
    .response-card .scalar-card-header-title { overflow: visible; white-space: normal; }`,
  agent: { disabled: true },
  mcp: { disabled: true },
  // Hides the samples that the renderer generates: the document has its own.
  hiddenClients: true,
});
