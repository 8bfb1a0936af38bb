// All words of the console in the language of the person. Screens contain none, so that a language is one set of files:
// `texts_en.js` with its parts, and the same members below `languages/`. A test compares them.

import { language } from "./lib/language.js";
import { t as english } from "./texts_en.js";

/** The words, or the English ones if those of another language do not load. @type {typeof english} */
export const t = language === "de" ? await import("./languages/de.js").then((module) => module.t, () => english) : english;
