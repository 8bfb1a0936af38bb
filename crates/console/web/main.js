// Starts the console.

import { App } from "./app.js";
import { asApiError } from "./lib/data.js";
import { href, listen } from "./lib/router.js";
import { listenToLinks, listenToTabs, resume } from "./lib/session.js";
import { applyTheme } from "./lib/theme.js";
import { html, render } from "./lib/view.js";

applyTheme();
listen();
listenToLinks();
listenToTabs();
// The screens besides the first are one file, which loads while the session is read. A failure shows when the screen opens.
if (location.pathname.replace(/\/$/, "") !== href("/").replace(/\/$/, "")) import("./screens/people.js").catch(() => {});
const reason = await resume().then(() => null, asApiError);
render(html`<${App} reason=${reason} />`, /** @type {HTMLElement} */ (document.getElementById("console")));
