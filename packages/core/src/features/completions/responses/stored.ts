import type { Usage } from '../../../ports/ledger.ts';
import type { Store } from '../../../ports/store.ts';
import { QUESTS, type QuestRecord } from '../../../runs/records.ts';
import { hasEnded, isHeld } from '../../../runs/states.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type ResponseOutput, unpackOutput } from './output.ts';
import { INTERRUPTED } from './output-writer.ts';
import { RESPONSES, type ResponseRecord, type ResponseRequest } from './records.ts';

/** Ids of one query. */
const BATCH = 200;

/** A stored response. */
export interface StoredResponse
  extends Pick<ResponseRecord, 'id' | 'wire' | 'input' | 'earlier' | 'createdAt'> {
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled';
  /** Whether the output is final: the worker has closed the response. */
  readonly isClosed: boolean;
  /** The id of the requested model. */
  readonly model: string;
  /** The id of the request that created it. */
  readonly requestId: string;
  readonly output: ResponseOutput;
  /** Why it failed. */
  readonly failure?: ApiError;
  /** Billed tokens by class. Absent: nothing was counted. */
  readonly usage?: Usage;
  /** Credits. Absent: nothing was charged, or credits are not enforced. */
  readonly credits?: number;
  /** Epoch milliseconds; of the end, for a response that has ended. */
  readonly updatedAt: number;
}

/** Reads the responses of a user, in the order of the ids; unknown ones are left out. */
export async function findResponses(
  store: Store,
  ownerId: string,
  ids: readonly string[],
): Promise<readonly StoredResponse[]> {
  const found = new Map<string, StoredResponse>();
  for (let from = 0; from < ids.length; from += BATCH) {
    const some = { in: ids.slice(from, from + BATCH) };
    const [records, quests] = await Promise.all([
      store.collection(RESPONSES).find({ id: some, ownerId }),
      store.collection(QUESTS).find({ id: some, ownerId }),
    ]);
    const questById = new Map(quests.map((quest) => [quest.id, quest]));
    for (const record of records) {
      const quest = questById.get(record.id);
      if (quest !== undefined) found.set(record.id, toStored(record, quest));
    }
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** @returns undefined for an unknown response, and for one of another user. */
export async function findResponse(
  store: Store,
  ownerId: string,
  id: string,
): Promise<StoredResponse | undefined> {
  const [record, quest] = await Promise.all([
    store.collection(RESPONSES).get(id, { ownerId }),
    store.collection(QUESTS).get(id),
  ]);
  return record === undefined || quest === undefined ? undefined : toStored(record, quest);
}

function toStored(
  { id, wire, input, earlier, createdAt }: ResponseRecord,
  quest: QuestRecord,
): StoredResponse {
  const { promptMeta, updatedAt, explanation } = quest;
  const { model, requestId } = quest.request as ResponseRequest;
  const status = getStatus(quest);
  const output = unpackOutput(quest.output);
  const usage = output.usage ?? toUsage(promptMeta?.usage);
  return {
    id,
    wire,
    input,
    earlier,
    createdAt,
    updatedAt,
    status,
    isClosed: hasEnded(quest) && !(quest.status === 'stopped' && isHeld(quest)),
    model,
    requestId,
    output,
    ...(status === 'failed' && { failure: output.failure ?? new ApiError(503, explanation ?? INTERRUPTED) }),
    ...(usage !== undefined && { usage }),
    ...(promptMeta?.credits !== undefined && { credits: promptMeta.credits }),
  };
}

function getStatus({ status, type }: QuestRecord): StoredResponse['status'] {
  switch (status) {
    case 'pending':
      return 'queued';
    case 'running':
    case 'waiting':
      return 'in_progress';
    case 'stopped':
      return 'cancelled';
    case 'done':
      return type === 'error' ? 'failed' : 'completed';
  }
}

/** The usage of an answer that broke off, from the quest. */
function toUsage(usage: Readonly<Record<string, number>> | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  const { inputTokens = 0, outputTokens = 0, cacheReadInputTokens, cacheCreationInputTokens } = usage;
  return {
    input: inputTokens,
    output: outputTokens,
    ...(cacheReadInputTokens !== undefined && { cachedInput: cacheReadInputTokens }),
    ...(cacheCreationInputTokens !== undefined && { cacheWrite: cacheCreationInputTokens }),
  };
}
