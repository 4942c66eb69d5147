import { encode } from 'eventsource-encoder';
import type { SequencedEvent } from '../ports/event-log.ts';
import type { LiveEvent } from './live-event.ts';

/** One event as its readers receive it. */
export interface LiveFrame {
  readonly sequence: number;
  readonly text: string;
}

export function toFrames(events: readonly SequencedEvent[]): LiveFrame[] {
  return events.map(({ sequence, event }) => ({ sequence, text: toFrame(sequence, event) }));
}

export function toFrame(id: number | string, data: unknown): string {
  return encode({ id: String(id), data: JSON.stringify(data) });
}

const DATA = 'data: ';

/** The event of a frame. */
export function fromFrame({ text }: LiveFrame): LiveEvent {
  // JSON has no line breaks: the data is one line.
  return JSON.parse(text.slice(text.indexOf(DATA) + DATA.length)) as LiveEvent;
}
