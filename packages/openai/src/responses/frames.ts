/** Writes events with consecutive numbers, from 0. */
export interface EventFrames {
  event(type: string, fields: Readonly<Record<string, unknown>>): void;
  /** The number of events so far. */
  count(): number;
  /** Returns the text of the events since the last call. */
  take(): string;
}

/** @param after events up to this number are counted and not written. */
export function createEventFrames(after = -1): EventFrames {
  let sequence = 0;
  let frames = '';
  return {
    event(type, fields) {
      if (sequence > after) {
        frames += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`;
      }
      sequence += 1;
    },
    count: () => sequence,
    take() {
      const taken = frames;
      frames = '';
      return taken;
    },
  };
}
