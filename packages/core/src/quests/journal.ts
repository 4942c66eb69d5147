import type { Clock } from '../ports/clock.ts';
import type { Collection } from '../ports/store.ts';
import type { OpenStepNote } from './holds.ts';
import type { QuestNotes, QuestProgress, QuestRecord, ToolPayload } from './records.ts';
import { type Holder, saveProgress } from './transitions.ts';

/** So often at most the text so far is written down while a model speaks. */
const SAVE_EVERY_MS = 500;

/** What a worker has made of a quest, kept in the quest's record while it grows. */
export interface Journal {
  readonly text: string;
  readonly toolPayloads: readonly ToolPayload[];
  append(text: string): void;
  /** Shows something a tool has made. @returns shows something else in its place. */
  show(payload: ToolPayload): (payload: ToolPayload) => void;
  /**
   * Writes everything down now. @returns false when this worker may write no more: the quest was stopped, is gone or in
   * other hands.
   */
  save(more?: QuestProgress & { readonly notes?: QuestNotes }): Promise<boolean>;
  /** Writes nothing more by itself, and waits for what is being written. */
  close(): Promise<void>;
}

export function createJournal(
  services: {
    readonly quests: Collection<QuestRecord>;
    readonly clock: Clock;
    /** The paid steps under way. */
    readonly steps: () => readonly OpenStepNote[];
    readonly onError: (error: unknown) => void;
  },
  quest: QuestRecord,
  holder: Holder,
  onLost: () => void,
): Journal {
  const { quests, clock } = services;
  const payloads: ToolPayload[] = [...(quest.toolPayloads ?? [])];
  let text = quest.text ?? '';
  // What the worker before this one noted is dealt with.
  let notes: QuestNotes = {};
  let cancelTimer: (() => void) | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const arm = (): void => {
    if (isClosed || cancelTimer !== undefined) return;
    cancelTimer = clock.timer(SAVE_EVERY_MS, () => {
      cancelTimer = undefined;
      // A store that is away costs the partial text, not the turn.
      save().catch(services.onError);
    });
  };

  const disarm = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
  };

  /** One after the other, so that an older text never covers a newer one. */
  const save = (more: QuestProgress & { readonly notes?: QuestNotes } = {}): Promise<boolean> => {
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
      arm();
    },
    show(payload) {
      const place = payloads.push(payload) - 1;
      arm();
      return (other) => {
        payloads[place] = other;
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
