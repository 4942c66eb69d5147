import type { ResponseWriter } from '@questline/core/internal';
import { toErrorEvent } from './failure.ts';
import { createEventFrames } from './frames.ts';
import { ItemWriter } from './items.ts';
import { toEnded } from './stored-view.ts';
import { readItemOptions, type StoredWire } from './stored-wire.ts';
import { BEGUN } from './wire.ts';

export interface StoredWriter extends ResponseWriter {
  /** The number of events so far. */
  count(): number;
}

export interface StoredWriterOptions {
  /** The id of the quest. */
  readonly id: string;
  /** The last event that the reader has. Absent: a new reader. */
  readonly after?: number | undefined;
  readonly creditsPerUsd: number;
}

/** Writes a stored response as events. Every reader of a response gets the same events with the same numbers. */
export function createStoredWriter(
  wire: StoredWire,
  { id, after, creditsPerUsd }: StoredWriterOptions,
): StoredWriter {
  const frames = createEventFrames(after);
  const items = new ItemWriter({
    ...readItemOptions(wire),
    id,
    sink: frames.event,
  });
  const begin = (type: string, status: 'queued' | 'in_progress'): void =>
    frames.event(type, { response: { ...wire.request, ...BEGUN, status } });
  const { background } = wire.request;
  begin('response.created', background ? 'queued' : 'in_progress');
  if (background) begin('response.queued', 'queued');
  begin('response.in_progress', 'in_progress');

  return {
    head: frames.take(),
    count: () => frames.count(),
    add(part) {
      items.add(part);
      items.flush();
      return frames.take();
    },
    end(stored) {
      const response = toEnded(stored, items, creditsPerUsd);
      // The vendor has no event for a response that was cancelled.
      const type = response.status === 'cancelled' ? 'incomplete' : response.status;
      frames.event(`response.${type}`, { response });
      if (stored.failure !== undefined) frames.event('error', toErrorEvent(stored.failure));
      return frames.take();
    },
  };
}
