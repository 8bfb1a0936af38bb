// Names of people: each id is read once, and screens show the id until then.

import { t } from "../texts.js";
import { request } from "./api.js";
import { fullName } from "./format.js";
import { href, setQuery, useRoute } from "./router.js";
import { can } from "./session.js";
import { html, store, useEffect, useRef, useState, useStore } from "./view.js";

/** @typedef {import("../types").Employee} Employee */

/** Time in which names are collected: the lists of a screen arrive one after the other. */
const COLLECT_MS = 80;
/** People whose names are read with one request. */
const MOST_AT_ONCE = 100;
const known = store(/** @type {ReadonlyMap<string, Employee | null>} */ (new Map()));
/** Ids that are to be read, or are being read. @type {Set<string>} */
const wanted = new Set();
/** Ids for the next request. @type {string[]} */
let next = [];

/** @param {Employee | null | undefined} person */
export function remember(person) {
  if (person) known.set(new Map(known.value).set(person.id, person));
}

/** Forgets all names, for a session with another key. */
export const forgetPeople = () => known.set(new Map());

/** Reads a person with those who are asked for at the same time: a list asks for all of its people when it is drawn. @param {string} id */
function read(id) {
  wanted.add(id);
  next.push(id);
  if (next.length === 1) setTimeout(readNext, COLLECT_MS);
}

async function readNext() {
  const ids = next.splice(0, MOST_AT_ONCE);
  if (next.length > 0) setTimeout(readNext, 0);
  const query = { "filter[id]": ids, "filter[status]": "all", limit: MOST_AT_ONCE };
  try {
    const { data } = await request("GET", "/employees", { query, quiet: true });
    const people = new Map(known.value);
    for (const person of data.data) people.set(person.id, person);
    known.set(people);
  } catch {
    // The screens go on to show the ids. The next screen that has one of them asks again.
  } finally {
    ids.forEach((id) => wanted.delete(id));
  }
}

/** @param {string | null | undefined} id */
export function usePerson(id) {
  const people = useStore(known);
  useEffect(() => {
    const isKnown = !id || known.value.has(id) || wanted.has(id);
    if (!isKnown && id.startsWith("emp_") && can("employees:read")) read(id);
  }, [id]);
  return id ? (people.get(id) ?? null) : null;
}

/** @param {{ id: string | null | undefined, none?: string, plain?: boolean }} p */
export function Person({ id, none = "–", plain }) {
  const person = usePerson(id);
  if (!id) return html`<span class="muted">${none}</span>`;
  const name = person ? html`<span dir="auto">${fullName(person)}</span>` : html`<code>${id}</code>`;
  return plain ? name : html`<a class="person" href=${href(`/people/${id}`)}>${name}</a>`;
}

/** Colours of initials. */
const TONES = 6;

/** The initials of a person, on one of a few colours that stays the same. @param {{ of: { id: string, first_name: string, last_name: string }, isLarge?: boolean }} p */
export const Initials = ({ of, isLarge }) => html`<span class=${`initials tone${[...of.id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % TONES} ${isLarge ? "large" : ""}`}
  aria-hidden="true">${[of.first_name, of.last_name].map((name) => [...name.trim()][0]?.toUpperCase() ?? "").join("")}</span>`;

/** A name as text, for options of a field. @param {{ id: string }} p */
export function PersonName({ id }) {
  const person = usePerson(id);
  return person ? fullName(person) : id;
}

/**
 * A chosen person, with the button that takes the choice back. @param {{ id: string, onRemove: () => void, isOff?: boolean }} p
 */
export function Chosen({ id, onRemove, isOff }) {
  const person = usePerson(id);
  const name = person ? fullName(person) : id;
  return html`<div class="chosen"><span dir="auto" title=${name}>${name}</span>
    <button type="button" disabled=${isOff} aria-label=${`${t.remove}: ${name}`} onClick=${onRemove}>✕</button></div>`;
}

/**
 * A field that finds a person by name or e-mail, and has the chosen one in its place. Arrows move through the people, Escape closes
 * them, and their number is announced. Enter takes the only person that was found. `onTyping` tells that a name is typed and nobody is chosen.
 * @param {{ value: string | null, onChange: (id: string | null) => void, label: string, isOff?: boolean, onTyping?: (isTyping: boolean) => void }} p
 */
export function PersonField({ value, onChange, label, isOff, onTyping }) {
  const [text, setText] = useState("");
  const [found, setFound] = useState(/** @type {{ people: Employee[], note: string }} */ ({ people: [], note: "" }));
  const turn = useRef(0);
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const mine = ++turn.current;
    if (text.trim().length < 2) return void setFound({ people: [], note: "" });
    const timer = setTimeout(async () => {
      const query = { q: text.trim().slice(0, 200), types: "employees", "filter[status]": "all", limit: 8 };
      const next = await request("GET", "/search", { query, quiet: true }).then(({ data }) => {
        const people = data.data.map((hit) => /** @type {Employee} */ (hit.resource));
        return { people, note: t.peopleFound(people.length) };
      }, () => ({ people: [], note: t.searchFailed }));
      if (mine === turn.current) setFound(next);
    }, 200);
    return () => clearTimeout(timer);
  }, [text]);
  const isTyping = text.trim() !== "";
  useEffect(() => onTyping?.(isTyping), [isTyping]);
  const field = () => /** @type {HTMLElement | null} */ (frame.current?.querySelector("input, .chosen button") ?? null);
  const choose = (/** @type {Employee | null} */ one) => {
    remember(one);
    onChange(one?.id ?? null);
    setText("");
    setFound({ people: [], note: "" });
    // The chosen person takes the place of the field, and the field that of the person.
    requestAnimationFrame(() => field()?.focus());
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    const fields = /** @type {HTMLElement[]} */ ([...(frame.current?.querySelectorAll("input, .found button") ?? [])]);
    const at = fields.indexOf(/** @type {HTMLElement} */ (event.target));
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const isOpen = found.people.length > 0 && at >= 0;
    const [first] = found.people;
    if (isOpen && event.key === "Enter" && at === 0 && first) found.people.length === 1 ? choose(first) : fields[1]?.focus();
    else if (isOpen && event.key === "Escape") setText(""), field()?.focus();
    else if (isOpen && step) fields[(at + step + fields.length) % fields.length]?.focus();
    else return;
    event.preventDefault();
  };
  return html`<div class="person-field" ref=${frame} onKeyDown=${press}>
    ${value ? html`<${Chosen} id=${value} onRemove=${() => choose(null)} isOff=${isOff} />`
      : html`<input type="search" aria-label=${label} value=${text} placeholder=${t.findPerson} autocomplete="off" disabled=${isOff}
        onInput=${(/** @type {any} */ event) => setText(event.target.value)} />`}
    ${found.people.length > 0 && html`<ul class="found">${found.people.map((one) => html`<li key=${one.id}>
      <button type="button" onClick=${() => choose(one)}><span dir="auto">${fullName(one)}</span>
        <span class="muted">${one.job_title ?? one.email}</span></button></li>`)}</ul>`}
    <span class=${found.people.length > 0 ? "hidden" : "hint"} role="status">${found.note}</span>
    ${isTyping && onTyping && html`<span class="hint">${t.choosePerson}</span>`}
  </div>`;
}

/** A filter by person, kept in the address under `name`. @param {{ name: string, label: string, isOff?: boolean }} p */
export function PersonFilter({ name, label, isOff }) {
  const { query } = useRoute();
  if (!can("employees:read")) return null;
  const choose = (/** @type {string | null} */ id) => setQuery({ [name]: id });
  return html`<div class="field"><span class="field-label">${label}</span>
    <${PersonField} label=${label} value=${query[name] ?? null} onChange=${choose} isOff=${isOff} /></div>`;
}
