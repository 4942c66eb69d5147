import { createFakeClock } from '@questline/testing';
import { createMemoryEventLog } from '../src/memory/event-log.ts';
import type { AppendResult, EventLog, NewEvents } from '../src/ports/event-log.ts';
import { KEEP_RUNNING_MS, type LiveEvent } from '../src/runs/live-event.ts';
import { createLiveWriter, type LiveWriterOptions } from '../src/runs/live-writer.ts';

export const STREAM = 'q1';
export const ATTEMPT = 2;
/** A writer that writes without end fails its test. */
const MAX_APPENDS = 20;

type Append = (batch: NewEvents, next: () => Promise<AppendResult>) => Promise<AppendResult>;

/** A writer on a log in memory. @param onAppend replaces an append. @param toAppend for a log that builds writes. */
export function openWriter(
  more: Partial<LiveWriterOptions> = {},
  onAppend: Append = (_batch, next) => next(),
  toAppend?: EventLog['toAppend'],
) {
  const clock = createFakeClock();
  const memory = createMemoryEventLog({ clock });
  const batches: NewEvents[] = [];
  const compacted: unknown[] = [];
  const published: string[] = [];
  const errors: unknown[] = [];
  const asked = { count: 0 };
  let text = '';
  const eventLog: EventLog = {
    ...memory,
    ...(toAppend !== undefined && { toAppend }),
    async append(stream, batch) {
      if (batches.length === MAX_APPENDS) throw new Error('too many appends');
      batches.push(batch);
      return onAppend(batch, () => memory.append(stream, batch));
    },
    async compact(stream, keepMs) {
      compacted.push([stream, keepMs]);
    },
  };
  const publisher = {
    publish: async (_topic: string, message: string) => void published.push(message),
    subscribe: async () => async () => undefined,
  };
  const writer = createLiveWriter(
    { eventLog, publisher, clock },
    {
      stream: STREAM,
      fence: ATTEMPT,
      getText: () => text,
      async isHeld() {
        asked.count += 1;
        return true;
      },
      onError: (error) => void errors.push(error),
      ...more,
    },
  );
  return {
    ...{ clock, memory, writer, batches, compacted, published, errors, asked },
    say(word: string) {
      text += word;
      writer.emit({ type: 'text', text: word });
    },
    async read() {
      const page = await memory.read(STREAM, 0);
      return page?.map(({ event }) => event as unknown as LiveEvent);
    },
    /** What another writer has added. */
    addOther: (attempt: number, after = 0) =>
      memory.append(STREAM, {
        ...{ attempt, after, keepMs: KEEP_RUNNING_MS },
        events: [{ type: 'text', text: 'other' }],
      }),
  };
}
