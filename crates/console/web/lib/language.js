// The language: that of the browser, or as chosen. The choice stays in this browser.

const KEPT = "candor-language";

/** Languages of the console, each with its own name and the locale of its dates and numbers. */
export const LANGUAGES = /** @type {const} */ ({ en: { name: "English", locale: "en-GB" }, de: { name: "Deutsch", locale: "de-DE" } });
/** @typedef {keyof typeof LANGUAGES} Language */

/** @param {string | null | undefined} tag @returns {tag is Language} */
const isLanguage = (tag) => tag !== null && tag !== undefined && Object.hasOwn(LANGUAGES, tag);
/** @param {string} tag such as `de-AT` */
const base = (tag) => tag.toLowerCase().split("-")[0];

const kept = localStorage.getItem(KEPT);
/** @type {Language} */
export const language = isLanguage(kept) ? kept : navigator.languages.map(base).find(isLanguage) ?? "en";
export const locale = LANGUAGES[language].locale;

document.documentElement.lang = language;

/** Keeps the choice and loads the page again, since texts are read when a module is loaded. @param {Language} next */
export function setLanguage(next) {
  localStorage.setItem(KEPT, next);
  location.reload();
}
