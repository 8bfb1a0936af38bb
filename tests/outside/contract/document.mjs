// The OpenAPI document in the form in which the comparers read it: each operation and each schema is a part of its own. A
// reference is compared by its name, because documents with all references replaced take the comparers minutes.

export const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const SCHEMA = '#/components/schemas/';

/** Returns all operations as `[path, method, operation]`. */
export function operations(document) {
  const paths = Object.entries(document.paths);
  return paths.flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => [path, method, item[method]]),
  );
}

/**
 * Returns the document with a path for each schema, which has the schema in its request if clients send it, and in its
 * response if they read it. Each operation has the parameters of its path and its authentication.
 */
export function divided(original) {
  const document = structuredClone(original);
  addDeliveries(document);
  for (const item of Object.values(document.paths)) {
    for (const operation of METHODS.flatMap((method) => item[method] ?? [])) {
      operation.parameters = [...(operation.parameters ?? []), ...(item.parameters ?? [])];
      operation.security ??= document.security;
    }
    delete item.parameters;
  }
  const users = new Map();
  const paths = {};
  for (const [path, method, operation] of operations(document)) {
    const name = `${method.toUpperCase()} ${path}`;
    const { responses, ...request } = operation;
    follow(document, request, (schema) => use(users, `requests with ${schema}`, name));
    follow(document, responses, (schema) => use(users, `responses with ${schema}`, name));
    paths[path] = { ...paths[path], [method]: flat(document, operation) };
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const [isSent, isRead] = ['requests', 'responses'].map((direction) => users.has(`${direction} with ${name}`));
    if (!isSent && !isRead) continue;
    const body = { type: 'object', properties: { [name]: flat(document, schema) }, required: [name] };
    const content = { 'application/json': { schema: body } };
    const post = { responses: {}, parameters: [] };
    if (isSent) post.requestBody = { content };
    if (isRead) post.responses[200] = { description: '', content };
    paths[`/schema ${name}`] = { post };
  }
  const { openapi, info, components } = document;
  return { document: { openapi, info, paths, components: { securitySchemes: components.securitySchemes } }, users };
}

/** Makes a delivery of a webhook the response of an operation, because a client reads its headers and its body. */
function addDeliveries(document) {
  for (const [name, { post }] of Object.entries(document.webhooks ?? {})) {
    const headers = Object.fromEntries(post.parameters.map(({ name: header, ...rest }) => [header, rest]));
    const responses = { 200: { description: '', headers, content: post.requestBody.content } };
    document.paths[`/webhook ${name}`] = { post: { responses } };
  }
}

function use(users, key, name) {
  users.set(key, (users.get(key) ?? new Set()).add(name));
}

function target(document, pointer) {
  return pointer.slice(2).split('/').reduce((value, key) => value[key], document);
}

/** Calls `found` with the name of each schema that a value refers to, directly or through others. */
function follow(document, value, found, seen = new Set()) {
  if (value === null || typeof value !== 'object' || seen.has(value.$ref)) return;
  if (typeof value.$ref === 'string') {
    seen.add(value.$ref);
    if (value.$ref.startsWith(SCHEMA)) found(value.$ref.slice(SCHEMA.length));
    follow(document, target(document, value.$ref), found, seen);
  }
  Object.values(value).forEach((member) => follow(document, member, found, seen));
}

/** Replaces references to schemas by a format with their name, and all others by what they name. */
function flat(document, value) {
  if (Array.isArray(value)) return value.map((entry) => flat(document, entry));
  if (value === null || typeof value !== 'object') return value;
  const { $ref, ...rest } = value;
  const members = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, flat(document, member)]));
  if (typeof $ref !== 'string') return members;
  const named = target(document, $ref);
  if (!$ref.startsWith(SCHEMA)) return { ...flat(document, named), ...members };
  return { ...members, type: named.type ?? 'object', format: $ref.slice(SCHEMA.length) };
}
