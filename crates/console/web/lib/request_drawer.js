// The drawer with the requests behind a screen, to copy as curl, TypeScript or Python.

import { t } from "../texts.js";
import { log, queryString } from "./api.js";
import { Dialog } from "./dialog.js";
import { LANGUAGES, setup } from "./snippet.js";
import { Badge, Copy, Empty, Id } from "./ui.js";
import { html, useState, useStore } from "./view.js";


/** @param {{ onClose: () => void }} p */
export default function RequestDrawer({ onClose }) {
  const entries = useStore(log);
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const [language, setLanguage] = useState("curl");
  const entry = entries.find((one) => one.id === chosen) ?? entries[0];
  const code = entry && LANGUAGES[language]?.(entry);
  return html`<${Dialog} title=${t.requests} onClose=${onClose} drawer=${true}>
    ${!entry && html`<${Empty} title=${t.noRequests} />`}
    ${entry && html`<p class="muted">${t.requestsText}</p>
      <ul class="requests">${entries.map((one) => html`<li key=${one.id}>
        <button type="button" aria-pressed=${one.id === entry.id ? "true" : "false"}
          onClick=${() => setChosen(one.id)}>
          <code class="method">${one.method}</code>
          <code class="path">${one.path}${decodeURIComponent(queryString(one.query))}</code>
          <${Badge} tone=${one.status === null ? undefined : one.status < 400 ? "good" : "bad"}>
            ${one.status ?? "…"}</${Badge}>
          <span class="muted number">${one.milliseconds} ms</span></button></li>`)}</ul>
      <div class="languages" role="group" aria-label=${t.language}>${Object.keys(LANGUAGES).map((one) => html`
        <button key=${one} type="button" aria-pressed=${one === language ? "true" : "false"}
          onClick=${() => setLanguage(one)}>${one}</button>`)}
        <${Copy} value=${code ?? ""} label=${t.code} /></div>
      <p class="muted">${t.setup}</p>
      <pre class="code" tabindex="0"><code>${setup(language)}</code></pre>
      <pre class="code" tabindex="0"><code>${code}</code></pre>
      ${entry.requestId && html`<p class="muted">${t.requestId} <${Id} value=${entry.requestId} /></p>`}`}
  </${Dialog}>`;
}
