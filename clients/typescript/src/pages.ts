// Lists: a page at a time, or entry by entry across pages.

import type { Core, RequestOptions, Spec } from "./request.js";
import { type ApiResponse, type ResponseInfo, ResponsePromise } from "./response.js";

interface RawPage<T> {
  data: T[];
  next_cursor: string | null;
  has_more: boolean;
}

/** One page of a list. */
export class Page<T> implements AsyncIterable<T> {
  readonly data: T[];
  /** Position after this page: store it, and pass it as `cursor` to continue later. */
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  readonly response: ResponseInfo;
  readonly #next: (cursor: string) => PagePromise<T>;

  constructor(response: ApiResponse<RawPage<T>>, next: (cursor: string) => PagePromise<T>) {
    this.data = response.data.data;
    this.nextCursor = response.data.next_cursor;
    this.hasMore = response.data.has_more;
    this.response = response;
    this.#next = next;
  }

  /** Returns the next page, or `undefined` at the end. */
  async next(): Promise<Page<T> | undefined> {
    return this.hasMore && this.nextCursor !== null ? this.#next(this.nextCursor) : undefined;
  }

  /** Yields this page and all later ones. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let page: Page<T> | undefined = this; page; page = await page.next()) yield page;
  }

  /** Yields the entries of this page and of all later ones. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}

/** A list. `await` returns its first page, and `for await` yields every entry. */
export class PagePromise<T> extends ResponsePromise<Page<T>> implements AsyncIterable<T> {
  constructor(core: Core, spec: Spec, options?: RequestOptions) {
    const next = (cursor: string): PagePromise<T> =>
      new PagePromise<T>(core, { ...spec, query: { ...spec.query, since: undefined, cursor } }, options);
    super(core, spec, options, (raw) => new Page(raw as ApiResponse<RawPage<T>>, next));
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    yield* (await this).pages();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this;
  }
}
