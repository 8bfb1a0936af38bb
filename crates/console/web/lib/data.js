// Reads for screens, with loading and error states.
//
//   const webhook = useGet(`/webhooks/${id}`);                   { data, etag, error, isLoading, reload }
//   const people = useList("/employees", { "filter[role]": "manager" });
//                                                    { rows, error, isLoading, hasMore, isMore, more, reload }
//   const save = useAction(async () => { … });       { run, isBusy, error }: errors go to the component
//
// A path of null reads nothing. A changed path or query reads again and drops the answer of the former request. So does
// each write of this tab, so that a screen shows nothing that a write has changed. A list is read again as far as it was
// shown, and Back shows it as it was left until its rows are read again.

import { ApiError, request, written } from "./api.js";
import { keptOf } from "./kept.js";
import { route } from "./router.js";
import { useCallback, useEffect, useRef, useState, useStore } from "./view.js";

/** @typedef {import("./api.js").Query} Query */
/** @template {string} P @typedef {import("../gets").AnswerTo<P>} AnswerTo */
/** @template T @typedef {import("../gets").Page<T>} Page */
/** @template {string} P @typedef {AnswerTo<P> extends Page<infer Row> ? Row : never} RowOf */

/**
 * @template T
 * @typedef {{ data: T | null, etag: string | null, error: ApiError | null, isLoading: boolean }} Read
 */

/** @param {unknown} error */
export const asApiError = (error) =>
  error instanceof ApiError ? error : new ApiError(0, { code: "console_error", message: String(error) });

/**
 * Reads one resource. The path decides the type of the answer.
 * @template {string} P
 * @param {P | null} path
 * @param {Query} [query]
 * @returns {Read<AnswerTo<P>> & { reload: () => void }}
 */
export function useGet(path, query = {}) {
  const [read, setRead] =
    useState(/** @type {Read<AnswerTo<P>>} */ ({ data: null, etag: null, error: null, isLoading: path !== null }));
  const [turn, setTurn] = useState(0);
  const writes = useStore(written);
  const name = `${path} ${JSON.stringify(query)}`;
  const shown = useRef(name);
  useEffect(() => {
    if (path === null) return undefined;
    const stop = new AbortController();
    const isOther = shown.current !== name;
    shown.current = name;
    setRead((before) => ({ ...before, data: isOther ? null : before.data, error: null, isLoading: true }));
    request("GET", path, { query, signal: stop.signal }).then(
      ({ data, etag }) => setRead({ data, etag, error: null, isLoading: false }),
      (error) => stop.signal.aborted ||
        setRead((before) => ({ ...before, error: asApiError(error), isLoading: false })),
    );
    return () => stop.abort();
  }, [name, turn, writes]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { ...read, reload };
}

const PAGE_ROWS = 50;
const LARGEST_PAGE = 100;
/** Rows that are read again at most. */
const MOST_AGAIN = 500;

/**
 * @template T
 * @typedef {{ rows: T[] | null, cursor: string | null }} Rows
 */

/**
 * Reads a list from its start until it has `count` rows.
 * @template {string} P
 * @param {P} path @param {Query} query @param {number} count @param {AbortSignal} signal
 * @returns {Promise<Rows<RowOf<P>>>}
 */
async function readRows(path, query, count, signal) {
  /** @type {RowOf<P>[]} */
  const rows = [];
  for (let cursor = /** @type {string | null} */ (null); ; ) {
    const limit = Math.min(LARGEST_PAGE, count - rows.length);
    const { data } = await request("GET", path, { query: { ...query, limit, cursor }, signal });
    const page = /** @type {Page<RowOf<P>>} */ (/** @type {unknown} */ (data));
    rows.push(...page.data);
    cursor = page.has_more ? page.next_cursor : null;
    if (cursor === null || rows.length >= count) return { rows, cursor };
  }
}

/**
 * Reads a list page by page. The path decides the type of the rows.
 * @template {string} P
 * @param {P | null} path
 * @param {Query} [query]
 */
export function useList(path, query = {}) {
  const name = `${path} ${JSON.stringify(query)}`;
  const size = Number(query["limit"] ?? PAGE_ROWS);
  const first = () => {
    const { entry, isReturn } = route.value;
    const kept = isReturn && path !== null ? keptOf(entry).lists.get(name) : undefined;
    /** @type {Rows<RowOf<P>> & { of: string, error: ApiError | null, isLoading: boolean }} */
    const state = { of: name, rows: kept?.rows ?? null, cursor: kept?.cursor ?? null, error: null, isLoading: path !== null };
    return state;
  };
  const [state, setState] = useState(first);
  const [isMore, setIsMore] = useState(false);
  const [turn, setTurn] = useState(0);
  const writes = useStore(written);
  const shown = state.of === name ? state : first();
  useEffect(() => {
    if (path === null) return undefined;
    const stop = new AbortController();
    const count = Math.max(size, Math.min(MOST_AGAIN, shown.rows?.length ?? 0));
    setState({ ...shown, error: null, isLoading: true });
    readRows(path, query, count, stop.signal).then(
      (read) => setState({ of: name, ...read, error: null, isLoading: false }),
      (error) => stop.signal.aborted ||
        setState((before) => ({ ...before, error: asApiError(error), isLoading: false })),
    );
    return () => stop.abort();
  }, [name, turn, writes]);
  useEffect(() => {
    const { of, rows, cursor } = state;
    if (of === name && rows) keptOf(route.value.entry).lists.set(name, { rows, cursor });
  }, [state, name]);
  const more = useCallback(async () => {
    const { rows, cursor } = shown;
    if (path === null || rows === null || cursor === null) return;
    setIsMore(true);
    try {
      const { data } = await request("GET", path, { query: { limit: PAGE_ROWS, ...query, cursor } });
      const next = /** @type {Page<RowOf<P>>} */ (/** @type {unknown} */ (data));
      // The rows may have been read again meanwhile.
      setState((before) => before.rows !== rows ? before
        : { ...before, rows: [...rows, ...next.data], cursor: next.has_more ? next.next_cursor : null, error: null });
    } catch (error) {
      setState((before) => ({ ...before, error: asApiError(error) }));
    } finally {
      setIsMore(false);
    }
  }, [shown.rows, name]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const { rows, error, isLoading, cursor } = shown;
  // Rows that are being read again would replace the ones that come.
  return { rows, error, isLoading, hasMore: cursor !== null, isMore: isMore || isLoading, more, reload };
}

/**
 * Runs a write once at a time. `run` returns true if it succeeded.
 * @param {(...values: any[]) => Promise<unknown>} work
 */
export function useAction(work) {
  const [state, setState] = useState({ isBusy: false, error: /** @type {ApiError | null} */ (null) });
  const isAlive = useRef(true);
  const isRunning = useRef(false);
  useEffect(() => () => void (isAlive.current = false), []);
  const run = async (/** @type {any[]} */ ...values) => {
    if (isRunning.current) return false;
    isRunning.current = true;
    setState({ isBusy: true, error: null });
    try {
      await work(...values);
      if (isAlive.current) setState({ isBusy: false, error: null });
      return true;
    } catch (error) {
      if (isAlive.current) setState({ isBusy: false, error: asApiError(error) });
      return false;
    } finally {
      isRunning.current = false;
    }
  };
  const clear = () => setState({ isBusy: false, error: null });
  return { ...state, run, clear };
}

/**
 * Runs a read again and again while the component is shown and the tab is visible.
 * @param {() => void} work @param {number} milliseconds @param {boolean} [isOn]
 */
export function usePoll(work, milliseconds, isOn = true) {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => document.visibilityState === "visible" && latest.current(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds, isOn]);
}
