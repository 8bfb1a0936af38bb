// Starts the console.

import { App } from "./app.js";
import { asApiError } from "./lib/data.js";
import { listen } from "./lib/router.js";
import { listenToLinks, listenToTabs, resume } from "./lib/session.js";
import { applyTheme } from "./lib/theme.js";
import { html, render } from "./lib/view.js";

applyTheme();
listen();
listenToLinks();
listenToTabs();
const reason = await resume().then(() => null, asApiError);
render(html`<${App} reason=${reason} />`, /** @type {HTMLElement} */ (document.getElementById("console")));
