import { removeAll } from '../ports/remove-where.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';
import { type StoreWrite, writeAll, writesTo } from '../ports/write-all.ts';
import type { PaidStepRecord } from './holds.ts';
import { QUESTS, type QuestRecord } from './records.ts';
import type { RunningQuests } from './running.ts';
import { type Holder, isHeld } from './states.ts';
import { expectHolder } from './transitions.ts';

/** A part of the text of a running quest, after the text in its record. Its id orders the pieces of a quest. */
export interface TextPieceRecord extends StoredRecord {
  readonly questId: string;
  /** The length of the text before it, in UTF-16 code units. */
  readonly offset: number;
  readonly text: string;
  /** Code points of output by the key of the paid step that ran when this piece was written. */
  readonly spoken: Readonly<Record<string, number>>;
}

export const QUEST_TEXTS = defineCollection<TextPieceRecord>({
  name: 'quest_texts',
  columns: { questId: 'text' },
  unique: [],
  indexes: [['questId']],
});

interface ProgressServices {
  readonly store: Store;
  readonly runningQuests: Pick<RunningQuests, 'read'>;
}

/** Maximum pieces of a quest: the next write moves them into the record. */
export const MAX_PIECES = 100;
/** More than a quest has, also after a worker whose last write was late. */
const MAX_READ = 2 * MAX_PIECES;

const writes = writesTo(QUEST_TEXTS);

/**
 * Adds a piece of text under the fence. @param from the length of the text that is stored.
 * @returns the quest; undefined, with nothing written, if the worker may no longer write or has written this piece before.
 */
export async function addPiece(
  store: Store,
  questId: string,
  holder: Holder,
  text: string,
  from: number,
  steps: readonly PaidStepRecord[],
): Promise<QuestRecord | undefined> {
  let quest: QuestRecord | undefined;
  const spoken = Object.fromEntries(steps.flatMap(({ key, call }) => (call ? [[key, call.spoken]] : [])));
  const id = `${questId}:${String(from).padStart(12, '0')}`;
  await writeAll(store, [
    expectHolder(questId, holder),
    writes.insert({ id, questId, offset: from, text: text.slice(from), spoken }),
    readQuest(questId, (found) => {
      quest = found;
    }),
  ]);
  return quest;
}

/** Reads a quest as it is before the writes of its step. */
export function readQuest(id: string, found: (quest: QuestRecord | undefined) => void): StoreWrite {
  return writesTo(QUESTS).read({ id }, 1, ([quest]) => found(quest));
}

/** Deletes the pieces of a quest, among other writes: without effect for a quest with more than it can have. */
export function removePieces(questId: string): StoreWrite {
  return writes.removeWhere({ questId }, MAX_READ);
}

/** Deletes all pieces of a quest. */
export async function removeAllPieces(store: Store, questId: string): Promise<void> {
  await removeAll(store.collection(QUEST_TEXTS), { questId });
}

/** A quest with its progress: that of its worker, if it is in this process, otherwise what is stored. */
export function withProgress(
  { store, runningQuests }: ProgressServices,
  quest: QuestRecord,
): QuestRecord | Promise<QuestRecord> {
  // Not async, because most polls find a quest that has ended.
  if (!isHeld(quest)) return quest;
  const progress = runningQuests.read(quest);
  return progress === undefined ? loadText(store, quest) : { ...quest, ...progress };
}

/** Returns a quest with all stored text. Reads nothing for a quest that has no pieces, such as one that has ended. */
export async function loadText(store: Store, quest: QuestRecord): Promise<QuestRecord> {
  if (quest.notes === undefined || !isHeld(quest)) return quest;
  let current: QuestRecord | undefined;
  let pieces: readonly TextPieceRecord[] = [];
  // In one step: the worker may move the pieces into the record, or end the quest, at any time.
  await writeAll(store, [
    readQuest(quest.id, (found) => {
      current = found;
    }),
    writes.read({ questId: quest.id }, MAX_READ, (found) => {
      pieces = found;
    }),
  ]);
  return joinPieces(current ?? quest, pieces);
}

/** @param pieces in order. What is in the record already is skipped, and a gap ends the text. */
function joinPieces(quest: QuestRecord, pieces: readonly TextPieceRecord[]): QuestRecord {
  let { text = '' } = quest;
  const spoken: Record<string, number> = {};
  for (const piece of pieces) {
    if (piece.offset > text.length) break;
    if (piece.offset + piece.text.length <= text.length) continue;
    text = text.slice(0, piece.offset) + piece.text;
    Object.assign(spoken, piece.spoken);
  }
  if (text === (quest.text ?? '')) return quest;
  const { notes } = quest;
  const steps = notes?.steps?.map((step) => countSpoken(step, spoken[step.key]));
  return { ...quest, text, ...(steps !== undefined && { notes: { ...notes, steps } }) };
}

function countSpoken(step: PaidStepRecord, spoken = 0): PaidStepRecord {
  const { call } = step;
  return call === undefined || call.spoken >= spoken ? step : { ...step, call: { ...call, spoken } };
}
