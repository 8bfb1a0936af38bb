// Reads for screens, with loading and error states.
//
//   const webhook = useGet(`/webhooks/${id}`);                   { data, etag, error, isLoading, reload }
//   const people = useList("/employees", { "filter[role]": "manager" });
//                                                    { rows, error, isLoading, hasMore, isMore, more, reload }
//   const save = useAction(async () => { … });       { run, isBusy, error }: errors go to the component
//
// A path of null reads nothing. A changed path or query reads again and drops the answer of the former request. So does
// each write of this tab, so that a screen shows nothing that a write has changed.

import { ApiError, request, written } from "./api.js";
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

/**
 * Reads a list page by page. The path decides the type of the rows.
 * @template {string} P
 * @param {P | null} path
 * @param {Query} [query]
 */
export function useList(path, query = {}) {
  const read = useGet(path, { limit: 50, ...query });
  const first = /** @type {Read<Page<RowOf<P>>> & { reload: () => void }} */ (/** @type {unknown} */ (read));
  const [added, setAdded] =
    useState({ of: /** @type {unknown} */ (null), rows: /** @type {RowOf<P>[]} */ ([]), page: first.data });
  const [isMore, setIsMore] = useState(false);
  const [moreError, setMoreError] = useState(/** @type {ApiError | null} */ (null));
  const isAdded = added.of === first.data && first.data !== null;
  const page = isAdded ? added.page : first.data;
  const more = useCallback(async () => {
    if (!page?.has_more || path === null) return;
    setIsMore(true);
    setMoreError(null);
    try {
      const { data } = await request("GET", path, { query: { limit: 50, ...query, cursor: page.next_cursor } });
      const next = /** @type {Page<RowOf<P>>} */ (/** @type {unknown} */ (data));
      setAdded((before) => ({
        of: first.data, page: next, rows: [...(before.of === first.data ? before.rows : []), ...next.data],
      }));
    } catch (error) {
      setMoreError(asApiError(error));
    } finally {
      setIsMore(false);
    }
  }, [page, path]);
  /** @type {RowOf<P>[] | null} */
  const rows = first.data ? [...first.data.data, ...(isAdded ? added.rows : [])] : null;
  const { error, isLoading, reload } = first;
  return { rows, error: error ?? moreError, isLoading, hasMore: Boolean(page?.has_more), isMore, more, reload };
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
