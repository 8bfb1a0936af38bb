// Rendering: Preact, its hooks, the template tag `html`, and a store for values that several components show.
//
//   html`<p class="lead">${text}</p>`     texts become text nodes: nothing here makes HTML of a string
//   const count = store(0);               count.value, count.set(1), and useStore(count) in a component

import { h, render, Fragment } from "../vendor/preact.mjs";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.mjs";
import htm from "../vendor/htm.mjs";

export const html = htm.bind(h);
export { h, render, Fragment, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState };

/**
 * @template T
 * @typedef {{ readonly value: T, set: (next: T) => void, subscribe: (listener: () => void) => () => void }} Store
 */

/**
 * Creates a value whose readers render again when it changes.
 * @template T
 * @param {T} first
 * @returns {Store<T>}
 */
export function store(first) {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  let value = first;
  return {
    get value() {
      return value;
    },
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * Returns the value of a store, and renders the component again when it changes.
 * @template T
 * @param {Store<T>} source
 * @returns {T}
 */
export function useStore(source) {
  const [, setValue] = useState(() => /** @type {{value: T}} */ ({ value: source.value }));
  useLayoutEffect(() => source.subscribe(() => setValue({ value: source.value })), [source]);
  return source.value;
}
