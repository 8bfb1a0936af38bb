// Finds what breaks a client between two OpenAPI documents: two comparers, and a check of what neither of them finds.

import { createRequire } from 'node:module';
import { divided, operations } from './document.mjs';
import { KINDS } from './kinds.mjs';

const require = createRequire(`${process.env.NODE}/`);
const { apiCompare } = require('api-smart-diff');
const { BreakingChangesRuleset } = require('@useoptic/standard-rulesets/build/breaking-changes');
const { RuleRunner } = require('@useoptic/rulesets-base');
const { compareSpecs } = require('@useoptic/openapi-utilities');

const [GONE, OPTIONAL, VALUE, REQUIRED, TYPE, RULE, DEFAULT, ACCESS] = Object.keys(KINDS);
const RULES = /^(m(ax|in)|exclusive|multipleOf|pattern|unique|additionalProperties|propertyNames|not$)/;

/**
 * Returns the breaks, each as `{ text, kind, users, by }`. `text` names the operation or schema, the place in it and the
 * kind, so that CHANGELOG.md can list it. `by` has the names of what found it.
 */
export async function breaks(released, current) {
  const before = divided(released);
  const [old, now] = differing(before.document, divided(current).document);
  const found = [];
  const add = (by, path, kind) => {
    const [owner, what] = place(path);
    const text = `${owner}: ${what} ${kind}`;
    const known = found.find((entry) => entry.text === text);
    if (known) known.by.add(by);
    else found.push({ text, kind, path, users: [...(before.users.get(owner) ?? [])], by: new Set([by]) });
  };
  for (const { type, action, path, ...values } of apiCompare(structuredClone(old), structuredClone(now)).diffs) {
    const kind = type === 'breaking' && smartKind(action, path, values, [old, now]);
    if (kind) add('api-smart-diff', smartPath(old, action, path, values), kind);
  }
  const runner = new RuleRunner([new BreakingChangesRuleset()]);
  const { results } = await compareSpecs({ jsonLike: old }, { jsonLike: now }, runner, {});
  for (const { name, location } of results.filter(({ passed }) => !passed)) {
    const path = location.jsonPath.split('/').slice(1).map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const kind = opticKind(name, path);
    const isOfNewField = kind === REQUIRED && path.at(-2) === 'properties' && !at(old, path.slice(0, -2));
    if (kind && !isOfNewField) add('optic', named(location.spec === 'after' ? now : old, path), kind);
  }
  for (const [path, method, operation] of operations(old)) {
    const other = now.paths[path]?.[method];
    if (other) ours(operation, other, ['paths', path, method], (place, kind) => add('ours', named(old, place), kind));
  }
  const addresses = current.servers.map(({ url }) => url);
  if (released.servers.some(({ url }) => !addresses.includes(url))) add('ours', ['servers'], GONE);
  const gone = found.filter(({ kind }) => kind === GONE).map(({ path }) => `${path.join('\n')}\n`);
  return found.filter(({ path }) => !gone.some((outer) => path.join('\n').startsWith(outer)));
}

function at(document, path) {
  return path.reduce((value, key) => value?.[key], document);
}

/** Returns both documents without the parts that are equal, and without schemas that are used nowhere any more. */
function differing(before, after) {
  const [old, now] = [{ ...before, paths: {} }, { ...after, paths: {} }];
  for (const [path, method, operation] of operations(before)) {
    const other = after.paths[path]?.[method];
    const part = { ...operation };
    if (path.startsWith('/schema ')) {
      // Where the schema was used, another one or none is used now, which is a difference of that place.
      if (!other?.requestBody) delete part.requestBody;
      if (!other?.responses[200]) part.responses = {};
    }
    if (JSON.stringify(part) === JSON.stringify(other) || (!other && path.startsWith('/schema '))) continue;
    old.paths[path] = { ...old.paths[path], [method]: part };
    now.paths[path] = { ...now.paths[path], ...(other && { [method]: other }) };
  }
  return [old, now];
}

/** Returns the owner of a path, which is an operation or a schema in one direction, and the place in it. */
function place([area, path, method, ...keys]) {
  if (area !== 'paths') return ['every operation', area === 'servers' ? 'its address' : 'it'];
  const isSchema = path.startsWith('/schema ');
  const direction = keys[0] === 'responses' ? 'responses' : 'requests';
  const owner = isSchema ? `${direction} with ${path.slice('/schema '.length)}` : `${method.toUpperCase()} ${path}`;
  let what = '';
  let hasRoot = !isSchema;
  for (let i = 0; i < keys.length; i += 1) {
    const [key, next] = [keys[i], keys[i + 1]];
    if (key === 'properties' && next !== undefined) {
      what += hasRoot ? `${what && '.'}${next}` : '';
      hasRoot = true;
      i += 1;
    } else if (key === 'parameters' && next !== undefined) what += keys[(i += 1)];
    else if (key === 'headers' && next !== undefined) what += ` header ${keys[(i += 1)]}`;
    else if (key === 'responses' && next !== undefined && ++i && !isSchema) what += `response ${next}`;
    else if (key === 'requestBody' && !isSchema) what += 'body';
    else if (key === 'items') what += '[]';
    else if (key === 'additionalProperties') what += '{}';
  }
  return [owner, what || 'it'];
}

/** Replaces the position of a parameter by its name. */
function named(document, path, own) {
  if (path[3] !== 'parameters' || path.length < 5) return path;
  const parameter = own ?? document.paths[path[1]][path[2]].parameters[path[4]];
  return path.with(4, `${parameter.in} parameter ${parameter.name}`);
}

/** The path of a field that is required or not any more, instead of its position in `required`. */
function smartPath(old, action, path, { before, after }) {
  if (path.at(-2) === 'required') return [...path.slice(0, -2), 'properties', after ?? before];
  return named(old, path, action === 'add' && path.length === 5 ? after : undefined);
}

function smartKind(action, path, { after }, documents) {
  // A name of a field is no keyword.
  const [parent, key] = [-2, -1].map((place) => (path.at(place - 1) === 'properties' ? undefined : path.at(place)));
  const isRead = path[3] === 'responses';
  if (path.includes('security') || path.includes('securitySchemes')) return ACCESS;
  if (parent === 'required') return isRead ? OPTIONAL : REQUIRED;
  if (key === 'required') return REQUIRED;
  // A new field breaks by its entry in `required`, and a new value or kind of a response is one that clients ignore.
  if (parent === 'properties' && action === 'add') return undefined;
  if (parent === 'enum') return action === 'remove' || !isRead ? VALUE : undefined;
  if (action === 'add' && isRead) return undefined;
  if (parent === 'parameters' && action === 'add') return after.required ? REQUIRED : undefined;
  if (key === 'default') return DEFAULT;
  if ([key, parent].includes('type') && !isRead) return areTypesLost(path, documents) ? TYPE : undefined;
  if (path.some((name, place) => place > 3 && RULES.test(name) && path[place - 1] !== 'properties')) {
    return isRead ? undefined : RULE;
  }
  return action === 'remove' && (typeof path.at(-1) === 'string' || parent === 'parameters') ? GONE : TYPE;
}

/** Returns `true` if a schema of a request no longer has one of its types. */
function areTypesLost(path, documents) {
  const place = path.slice(0, path.lastIndexOf('type') + 1);
  const [old, now] = documents.map((document) => [at(document, place)].flat());
  return old.some((type) => !now.includes(type));
}

function opticKind(name, path) {
  if (/removal|removing/.test(name)) return GONE;
  if (/optional/.test(name)) return OPTIONAL;
  if (/required|requiring/.test(name)) return REQUIRED;
  // Its rule for enumerations in responses is about new values, which clients ignore.
  if (/enum/.test(name)) return path[3] === 'responses' ? undefined : VALUE;
  return TYPE;
}

/** Differences that neither comparer finds: new or closed bodies, sentences with scopes and defaults, most of responses. */
function ours(before, after, path, add) {
  const [old, now] = [before, after].map(({ description }) => sentences(description, /Needs .*?(?= Counts as|$)/s));
  if (now.some((sentence) => !old.includes(sentence))) add(path, ACCESS);
  if (!before.requestBody && after.requestBody?.required) add([...path, 'requestBody'], REQUIRED);
  below(before, after, path, add);
}

function below(before, after, path, add) {
  if (!before || !after || typeof before !== 'object' || typeof after !== 'object') return;
  const isRead = path[3] === 'responses';
  const union = [before, after].map((schema) => schema.anyOf ?? schema.oneOf);
  if (union.some(Array.isArray)) alternatives(union[0] ?? [before], union[1] ?? [after], path, add);
  else if (isRead) readBreaks(before, after).forEach((kind) => add(path, kind));
  if (!isRead && isDefaultChanged(before, after)) add(path, DEFAULT);
  if (!isRead && after.additionalProperties === false && before.additionalProperties !== false) add(path, RULE);
  for (const [key, member] of Object.entries(before)) {
    if (key === 'properties') {
      for (const [name, field] of Object.entries(member)) {
        const place = [...path, key, name];
        if (!isRead && after.properties && !(name in after.properties)) add(place, GONE);
        below(field, after.properties?.[name], place, add);
      }
    } else if (!/^(example|anyOf|oneOf)/.test(key)) below(member, pair(member, after, key), [...path, key], add);
  }
}

/** Alternatives have no order. A new one in a response is one that clients ignore, except for null. */
function alternatives(before, after, path, add) {
  const bare = (schema) => JSON.stringify(schema, (key, value) => (key === 'description' ? undefined : value));
  const [old, now] = [before.filter(lacks(after)), after.filter(lacks(before))];
  function lacks(others) {
    const known = others.map(bare);
    return (schema) => !known.includes(bare(schema));
  }
  if (old.length === now.length) old.forEach((schema, i) => below(schema, now[i], path, add));
  else if (path[3] === 'responses' && (old.length > 0 || now.some(({ type }) => type === 'null'))) add(path, TYPE);
}

function readBreaks(before, after) {
  const values = (schema) => schema.enum ?? ('const' in schema ? [schema.const] : undefined);
  const [old, now] = [values(before), values(after)];
  const isLess = old && now && old.some((value) => !now.includes(value));
  const isWider = [after.type].flat().some((type) => ![before.type].flat().includes(type));
  return [...(isLess ? [VALUE] : []), ...(isWider || before.format !== after.format ? [TYPE] : [])];
}

function isDefaultChanged(before, after) {
  const [old, now] = [before, after].map(({ description }) => sentences(description, /Default: .*?\./s));
  return old.length > 0 && old.join() !== now.join();
}

/** Returns the counterpart of a member. Parameters are found by their names, because their order has no meaning. */
function pair(member, after, key) {
  if (!Array.isArray(after) || !member?.in) return after[key];
  return after.find(({ name, in: place }) => name === member.name && place === member.in);
}

function sentences(text, part) {
  return (part.exec(typeof text === 'string' ? text : '')?.[0] ?? '').split(/(?<=\.) /).filter(Boolean);
}
