// Light and dark: as the system is set, or as chosen. The choice stays in this browser.

import { store } from "./view.js";

const KEPT = "candor-theme";
export const THEMES = /** @type {const} */ (["system", "light", "dark"]);

/** @typedef {typeof THEMES[number]} Theme */

const kept = /** @type {Theme | null} */ (localStorage.getItem(KEPT));
export const theme = store(/** @type {Theme} */ (kept && THEMES.includes(kept) ? kept : "system"));

export function applyTheme() {
  document.documentElement.dataset.theme = theme.value;
}

/** @param {Theme} next */
export function setTheme(next) {
  theme.set(next);
  localStorage.setItem(KEPT, next);
  applyTheme();
}
