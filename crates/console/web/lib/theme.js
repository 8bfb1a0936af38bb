// Light and dark, as the system is set or as chosen, and the density of lists. The choices stay in this browser.

import { store } from "./view.js";

const KEPT = "candor-theme";
export const THEMES = /** @type {const} */ (["system", "light", "dark"]);

/** @typedef {typeof THEMES[number]} Theme */

const kept = /** @type {Theme | null} */ (localStorage.getItem(KEPT));
export const theme = store(/** @type {Theme} */ (kept && THEMES.includes(kept) ? kept : "system"));

const KEPT_DENSITY = "candor-density";
export const DENSITIES = /** @type {const} */ (["comfortable", "compact"]);

/** @typedef {typeof DENSITIES[number]} Density */

export const density = store(/** @type {Density} */ (localStorage.getItem(KEPT_DENSITY) === "compact" ? "compact" : "comfortable"));

export function applyTheme() {
  document.documentElement.dataset.theme = theme.value;
  document.documentElement.dataset.density = density.value;
}

/** @param {Density} next */
export function setDensity(next) {
  density.set(next);
  localStorage.setItem(KEPT_DENSITY, next);
  applyTheme();
}

/** @param {Theme} next */
export function setTheme(next) {
  theme.set(next);
  localStorage.setItem(KEPT, next);
  applyTheme();
}
