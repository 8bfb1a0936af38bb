// Writes the type of the answer to each GET, by its path, for the types of the console. Arguments: the OpenAPI
// document and the file to write.
import { readFileSync, writeFileSync } from "node:fs";

const [source, target] = process.argv.slice(2);
const { paths, components } = JSON.parse(readFileSync(source, "utf8"));

const nameOf = (schema) => schema.$ref.split("/").at(-1);

/** The type of an answer: a type of the client library, or a page of one. */
function typeOf(schema) {
  const members = components.schemas[nameOf(schema)].properties ?? {};
  const rows = members.has_more && members.data.items;
  return rows ? `Page<Types.${nameOf(rows)}>` : `Types.${nameOf(schema)}`;
}

const answerOf = (get) => get.responses["200"].content["application/json"]?.schema;

// Exports answer lines instead of JSON.
const gets = Object.entries(paths).filter(([path, { get }]) => get && path !== "/openapi.json" && answerOf(get));
const segments = ([path]) => path.split("/").length;
const isFixed = ([path]) => !path.endsWith("}");
// Longer paths come first, because `${string}` also stands for several segments.
gets.sort((one, other) => segments(other) - segments(one) || isFixed(other) - isFixed(one));
const lines = gets.map(([path, { get }]) => {
  return `  P extends \`${path.replaceAll(/\{\w+\}/g, "${string}")}\` ? ${typeOf(answerOf(get))} :`;
});
writeFileSync(target, `import type * as Types from "./types";

export interface Page<T> { data: T[]; next_cursor: string | null; has_more: boolean }

/** The answer to a GET of this path; \`never\` for a path that the API does not have. */
export type AnswerTo<P extends string> =
${lines.join("\n")}
  never;
`);
