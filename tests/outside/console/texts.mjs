// Compares the languages of the console: each has the same members of the same kinds, and a screen uses each of them.
// Argument: folder of the console's files.
import { readFile, readdir } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const read = async (name) => (await import(pathToFileURL(`${folder}/${name}`))).t;
const languages = { en: await read("texts_en.js"), de: await read("languages/de.js") };
const problems = [];

/** Each text of an object as [path, kind]: functions with the number of their values. */
const members = (object, path = []) => Object.entries(object).flatMap(([name, value]) => typeof value === "object" && value !== null
  ? members(value, [...path, name]) : [[[...path, name].join("."), typeof value === "function" ? `function of ${value.length}` : typeof value]]);

const english = new Map(members(languages.en));
for (const [language, texts] of Object.entries(languages)) {
  const own = new Map(members(texts));
  for (const [path, kind] of english) if (own.get(path) !== kind) problems.push(`${language}: ${path} is ${own.get(path) ?? "missing"}, not ${kind}`);
  for (const path of own.keys()) if (!english.has(path)) problems.push(`${language}: ${path} is not in English`);
}

const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".js") && !/^(texts|languages|vendor)/.test(name));
const sources = (await Promise.all(files.map((name) => readFile(`${folder}/${name}`, "utf8")))).join("\n");
/** A group whose members are chosen by a value, such as t.words[one.status], is used as a whole. */
const isUsed = (path) => {
  const names = path.split(".");
  const isNamed = (name) => new RegExp(`\\b${name}\\b`).test(sources);
  const isChosen = names.slice(0, -1).some((name) => new RegExp(`\\b${name}(\\)|\\s)*(\\[|\\?\\.\\[)`).test(sources) || new RegExp(`(entries|keys)\\((\\w+\\.)*${name}\\)`).test(sources));
  return isChosen || isNamed(names.at(-1));
};
for (const path of english.keys()) if (!isUsed(path)) problems.push(`${path}: no screen uses it`);

problems.forEach((problem) => console.error(problem));
if (english.size < 500) problems.push("hardly any texts were found");
process.exitCode = problems.length ? 1 : 0;
