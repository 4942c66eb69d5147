import type { Clock } from '../ports/clock.ts';
import type { Collection } from '../ports/store.ts';
import type { PaidStepRecord } from './holds.ts';
import type { LiveWriter } from './live-writer.ts';
import type { QuestNotes, QuestProgress, QuestRecord, ToolPayload } from './records.ts';
import { type Holder, saveProgress } from './transitions.ts';

/** Minimum interval between writes of partial text, in milliseconds. */
const SAVE_EVERY_MS = 500;

/** `wait: undefined`: the work has gone on after a wait. */
type SavedFields = QuestProgress & { readonly notes?: QuestNotes; readonly wait?: undefined };

/** Saves the partial result of a quest in its record. */
export interface ProgressWriter {
  readonly text: string;
  readonly toolPayloads: readonly ToolPayload[];
  append(text: string): void;
  /** Adds a tool result to the payload. @returns a function that replaces it. */
  show(payload: ToolPayload): (payload: ToolPayload) => void;
  /**
   * Writes everything now. @returns false if this worker may no longer write: the quest was stopped, deleted or taken
   * over.
   */
  save(more?: SavedFields): Promise<boolean>;
  /** Stops periodic writes and waits for the current one. */
  close(): Promise<void>;
}

export function createProgressWriter(
  services: {
    readonly quests: Collection<QuestRecord>;
    readonly clock: Clock;
    /** The running paid steps. */
    readonly steps: () => readonly PaidStepRecord[];
    readonly live: Pick<LiveWriter, 'emit'>;
    readonly onError: (error: unknown) => void;
  },
  quest: QuestRecord,
  holder: Holder,
  onLost: () => void,
): ProgressWriter {
  const { quests, clock, live } = services;
  const payloads: ToolPayload[] = [...(quest.toolPayloads ?? [])];
  let text = quest.text ?? '';
  // The notes of the previous worker are processed.
  let notes: QuestNotes = {};
  let cancelTimer: (() => void) | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const arm = (): void => {
    if (isClosed || cancelTimer !== undefined) return;
    cancelTimer = clock.timer(SAVE_EVERY_MS, () => {
      cancelTimer = undefined;
      // An unavailable store must not fail the turn; only the partial text is lost.
      save().catch(services.onError);
    });
  };

  const disarm = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
  };

  /** Serialized, so that an older text never overwrites a newer one. */
  const save = (more: SavedFields = {}): Promise<boolean> => {
    disarm();
    if (more.notes !== undefined) notes = more.notes;
    const steps = services.steps();
    const progress = {
      ...more,
      ...(text !== '' && { text }),
      ...(payloads.length > 0 && { toolPayloads: [...payloads] }),
      notes: steps.length === 0 ? notes : { ...notes, steps },
    };
    const saved = writing.then(async () => {
      const now = clock.now();
      const record = await saveProgress(quests, quest.id, holder, progress, now);
      if (record === undefined) onLost();
      return record !== undefined;
    });
    writing = saved.catch(() => undefined);
    return saved;
  };

  return {
    get text() {
      return text;
    },
    get toolPayloads() {
      return payloads;
    },
    append(more) {
      text += more;
      if (more !== '') live.emit({ type: 'text', text: more });
      arm();
    },
    show(payload) {
      const index = payloads.push(payload) - 1;
      live.emit({ type: 'payload', index, payload });
      arm();
      return (other) => {
        payloads[index] = other;
        live.emit({ type: 'payload', index, payload: other });
        arm();
      };
    },
    save,
    async close() {
      isClosed = true;
      disarm();
      await writing;
    },
  };
}
