import type { Clock } from '../ports/clock.ts';
import type { EventLog, SequencedEvent } from '../ports/event-log.ts';
import { frozenCopy } from './json.ts';

const MAX_PAGE = 1000;

interface Stream {
  attempt: number;
  until: number;
  readonly events: SequencedEvent[];
}

/** Events in memory. Memory use depends on the events of live streams; `expire` frees those of ended ones. */
export function createMemoryEventLog({ clock }: { readonly clock: Clock }): EventLog {
  const streams = new Map<string, Stream>();

  return {
    async append(name, { attempt, after, events, keepMs }, options) {
      options?.signal?.throwIfAborted();
      const stream = streams.get(name) ?? { attempt: 0, until: 0, events: [] };
      const last = stream.events.length;
      if (attempt < stream.attempt || after !== last) {
        return { isAppended: false, last, attempt: stream.attempt };
      }
      for (const event of events) {
        stream.events.push({ sequence: stream.events.length + 1, event: frozenCopy(event) });
      }
      stream.attempt = attempt;
      stream.until = clock.now() + keepMs;
      streams.set(name, stream);
      return { isAppended: true, last: stream.events.length, attempt };
    },

    async read(name, after, options) {
      options?.signal?.throwIfAborted();
      const events = streams.get(name)?.events ?? [];
      return after > events.length ? undefined : events.slice(after, after + MAX_PAGE);
    },

    async compact(name, keepMs, options) {
      options?.signal?.throwIfAborted();
      const stream = streams.get(name);
      if (stream !== undefined) stream.until = clock.now() + keepMs;
    },

    async expire(options) {
      options?.signal?.throwIfAborted();
      const now = clock.now();
      let expired = 0;
      for (const [name, { until }] of streams) {
        if (until > now) continue;
        streams.delete(name);
        expired += 1;
      }
      return expired;
    },
  };
}
