// Events: an endless iterator over the feed, which can continue from a stored cursor.

import { ApiError } from "./errors.js";
import { Events } from "./generated/resources.js";
import { EVENT_TYPES, type Event, type EventType, type ListEventsFilter, type OtherEvent } from "./generated/types.js";
import { isTransient, sleep } from "./request.js";

/** Settings of `events.follow`. */
export interface FollowOptions {
  /** Position after which the iteration starts; see `onCursor`. */
  cursor?: string | undefined;
  /** Start without a cursor: a time at most 30 days ago, or `now`. Default: the oldest event. */
  since?: string | undefined;
  filter?: ListEventsFilter | undefined;
  /** Called with the position after each batch once all of its events were consumed. Store that position. */
  onCursor?: ((cursor: string) => void | Promise<void>) | undefined;
  /** Ends the iteration. */
  signal?: AbortSignal | undefined;
}

const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const PAGE = 100;

/** Operations below `/events`, and `follow`. */
export class EventFeed extends Events {
  /**
   * Yields all stored events, then new ones as they happen, in the order in which their changes were saved.
   *
   * Polls with growing pauses of up to 5 seconds, and continues after temporary failures. A restart from a stored
   * cursor yields the events after that cursor again.
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<Event, void, undefined> {
    const { filter, onCursor, signal } = options;
    let { cursor, since } = options;
    let pause = 0;
    while (!signal?.aborted) {
      try {
        const page = await this.list({ filter, cursor, since, limit: PAGE }, { signal, maxRetries: 0 });
        yield* page.data;
        since = undefined;
        if (page.nextCursor !== null && page.nextCursor !== cursor) {
          cursor = page.nextCursor;
          await onCursor?.(cursor);
        }
        pause = page.data.length > 0 ? 0 : grown(pause);
        if (page.hasMore) continue;
      } catch (error) {
        if (signal?.aborted) return;
        if (!isTransient(error)) throw error;
        const least = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
        pause = Math.max(grown(pause), least);
      }
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
