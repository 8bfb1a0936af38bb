// One search over screens, people, texts and ids. Arrows move through the results, Enter opens one, Escape closes.

import { addressOf, objectiveHref } from "../lib/addresses.js";
import { request } from "../lib/api.js";
import { Dialog } from "../lib/dialog.js";
import { fullName, short } from "../lib/format.js";
import { href, openAddress } from "../lib/router.js";
import { can } from "../lib/session.js";
import { html, useEffect, useRef, useState } from "../lib/view.js";
import { t } from "../texts.js";

/** @typedef {{ group: string, key: string, text: string, note?: string, to: string }} Result */

/** Time after the last letter until the service is asked. */
const TYPING_MS = 200;
const MOST = 8;
const LENGTH = 90;
const LONGEST_QUERY = 200;

/** Text and address of a hit, by its type. @type {Record<string, (one: any) => Omit<Result, "key" | "group">>} */
const HITS = {
  employees: (one) => ({ text: fullName(one), note: one.job_title ?? one.email, to: href(`/people/${one.id}`) }),
  observations: (one) => ({ text: short(one.observation, LENGTH), note: t.words[one.type], to: href(`/feedback/${one.id}`) }),
  objectives: (one) => ({ text: short(one.title, LENGTH), note: t.words[one.status], to: objectiveHref(one) }),
  summaries: (one) => ({ text: short(one.title || one.body, LENGTH), note: t.words[one.status], to: href(`/feedback/summaries/${one.id}`) }),
};
/** Types of hits as GET /search names them, with the type of the hit. */
const TYPES = /** @type {const} */ ([["employees", "employee"], ["observations", "observation"], ["objectives", "objective"], ["summaries", "summary"]]);

/** @param {any} hit @returns {Result[]} */
function resultOf(hit) {
  const type = TYPES.find(([, one]) => one === hit.type)?.[0];
  return type && HITS[type] ? [{ group: t.screens[type === "employees" ? "people" : "feedback"], key: hit.id, ...HITS[type](hit.resource) }] : [];
}

/** Asks the service for people and texts. @param {string} text @param {AbortSignal} signal @returns {Promise<Result[]>} */
async function find(text, signal) {
  const types = TYPES.map(([type]) => type).filter((type) => can(`${type}:read`));
  if (types.length === 0) return [];
  const query = { q: text.slice(0, LONGEST_QUERY), types: types.join(","), "filter[status]": can("employees:read") ? "all" : null, limit: MOST };
  const { data } = await request("GET", "/search", { query, signal, quiet: true });
  const results = data.data.flatMap(resultOf);
  // People first: each group is one part of the list, in the order in which arrows move.
  const isPerson = (/** @type {Result} */ one) => one.group === t.screens.people;
  return [...results.filter(isPerson), ...results.filter((one) => !isPerson(one))];
}

/** @param {{ screens: { path: string, name: string }[], onClose: () => void }} p */
export default function Palette({ screens, onClose }) {
  const [text, setText] = useState("");
  const [found, setFound] = useState(/** @type {{ of: string, results: Result[], isFailed: boolean }} */ ({ of: "", results: [], isFailed: false }));
  const [at, setAt] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const words = text.trim();
  const isAsked = words.length >= 2 && !addressOf(words);
  useEffect(() => {
    if (!isAsked) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => find(words, stop.signal).then(
      (results) => setFound({ of: words, results, isFailed: false }),
      () => stop.signal.aborted || setFound({ of: words, results: [], isFailed: true }),
    ), TYPING_MS);
    return () => (clearTimeout(timer), stop.abort());
  }, [words]);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at]);
  const address = addressOf(words);
  const isNamed = (/** @type {string} */ name) => name.toLowerCase().includes(words.toLowerCase());
  /** @type {Result[]} */
  const results = [
    ...(address ? [{ group: t.palette.id, key: words, text: words, to: address }] : []),
    ...screens.map((one) => ({ group: t.navigation, key: one.path, text: t.screens[one.name] ?? one.name, to: href(one.path) })).filter((one) => isNamed(one.text)),
    ...(isAsked ? found.results : []),
  ];
  const chosen = Math.min(at, results.length - 1);
  const open = (/** @type {Result | undefined} */ one) => one && (onClose(), openAddress(one.to));
  const press = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step && results.length) setAt((chosen + step + results.length) % results.length);
    else if (event.key === "Enter") open(results[chosen]);
    else return;
    event.preventDefault();
  };
  const isWaiting = isAsked && found.of !== words;
  const state = isWaiting ? t.loading : isAsked && found.isFailed ? t.searchFailed : t.palette.count(results.length);
  const groups = [...new Set(results.map((one) => one.group))];
  return html`<${Dialog} title=${t.palette.title} onClose=${onClose} isFleeting>
    <div class="palette"><input type="search" role="combobox" aria-label=${t.palette.title} aria-expanded=${String(results.length > 0)} aria-controls="palette-results"
      aria-autocomplete="list" aria-activedescendant=${results.length ? `palette-${chosen}` : null} placeholder=${t.palette.hint} autocomplete="off"
      value=${text} onKeyDown=${press} onInput=${(/** @type {any} */ event) => (setText(event.target.value), setAt(0))} />
    <div id="palette-results" role="listbox" aria-label=${t.palette.results} ref=${list}>${groups.map((group) => html`
      <div key=${group} role="group" aria-label=${group}><div class="palette-group" aria-hidden="true">${group}</div>
      ${results.map((one, place) => one.group === group && html`<div key=${one.key} id=${`palette-${place}`} role="option" aria-selected=${String(place === chosen)}
        onMouseMove=${() => setAt(place)} onClick=${() => open(one)}><span dir="auto">${one.text}</span>
        ${one.note && html`<span class="muted" dir="auto">${one.note}</span>`}</div>`)}</div>`)}</div>
    <p class="hint" role="status">${state}</p></div></${Dialog}>`;
}
