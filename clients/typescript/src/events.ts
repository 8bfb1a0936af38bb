// Events: endless iterators over the feed, which can continue from a stored cursor.

import { ChangeBatch, isErasedEvent } from "./changes.js";
import { ApiError } from "./errors.js";
import { Events } from "./generated/resources.js";
import {
  EVENT_TYPES,
  type Event,
  type EventType,
  type FeedEvent,
  type ListEventsFilter,
  type OtherEvent,
} from "./generated/types.js";
import type { Page } from "./pages.js";
import { isTransient, sleep } from "./request.js";

/** Settings of `events.changes`. */
export interface ChangesOptions {
  /** Position after which the iteration starts, such as the `events_cursor` of an export. */
  cursor?: string | undefined;
  /** Start without a cursor: a time at most 30 days ago, or `now`. Default: the oldest event. */
  since?: string | undefined;
  /** Ends the iteration. */
  signal?: AbortSignal | undefined;
}

/** Settings of `events.follow`. */
export interface FollowOptions extends ChangesOptions {
  filter?: ListEventsFilter | undefined;
  /** Called with the position after each batch once all of its events were consumed. Store that position. */
  onCursor?: ((cursor: string) => void | Promise<void>) | undefined;
}

const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const PAGE = 100;

/** Operations below `/events`, `follow`, and `changes`. */
export class EventFeed extends Events {
  /**
   * Yields all stored events, then new ones as they happen, in the order in which their changes were saved.
   *
   * Polls with growing pauses of up to 5 seconds, and continues after temporary failures. A restart from a stored
   * cursor yields the events after that cursor again. Events whose data was erased are skipped: `changes` tells what is
   * to be removed.
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<Event, void, undefined> {
    for await (const { page, moved } of this.#pages(options)) {
      yield* page.data.filter((event): event is Event => !isErasedEvent(event));
      if (moved !== null) await options.onCursor?.(moved);
    }
  }

  /**
   * Yields the changes of all exported resources, page after page: rows to store and rows to remove.
   *
   * The rows of an export and then every batch from its `events_cursor` on result in the current data, without anything
   * that was erased or removed since. Polls as `follow` does.
   */
  async *changes(options: ChangesOptions = {}): AsyncGenerator<ChangeBatch, void, undefined> {
    for await (const { page, moved } of this.#pages(options)) {
      if (page.data.length > 0 || moved !== null) yield ChangeBatch.ofEvents(page.data, page.nextCursor);
    }
  }

  /** Yields pages, each with the position behind it if that has changed. */
  async *#pages(options: FollowOptions): AsyncGenerator<{ page: Page<FeedEvent>; moved: string | null }> {
    const { filter, signal } = options;
    let { cursor, since } = options;
    let pause = 0;
    while (!signal?.aborted) {
      let isDone = true;
      try {
        const page = await this.list({ filter, cursor, since, limit: PAGE, signal, maxRetries: 0 });
        const moved = page.nextCursor === cursor ? null : page.nextCursor;
        since = undefined;
        cursor = page.nextCursor ?? cursor;
        pause = page.data.length > 0 ? 0 : grown(pause);
        isDone = !page.hasMore;
        yield { page, moved };
      } catch (error) {
        if (signal?.aborted) return;
        if (!isTransient(error)) throw error;
        const least = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
        pause = Math.max(grown(pause), least);
      }
      if (!isDone) continue;
      try {
        await sleep(Math.max(pause, SHORTEST_PAUSE_MS), signal);
      } catch {
        return;
      }
    }
  }
}

function grown(pause: number): number {
  return Math.min(Math.max(pause * 2, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

/** Returns `true` if this version of the library has the type of the event. */
export function isKnownEvent(event: Event): event is Exclude<Event, OtherEvent> {
  return EVENT_TYPES.includes(event.event as EventType);
}
