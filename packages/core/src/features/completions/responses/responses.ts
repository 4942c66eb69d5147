import { type Call, getPayer } from '../../../contract/call.ts';
import type { IdempotentRequest } from '../../../operations/idempotency.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Ids } from '../../../ports/ids.ts';
import type { GenerateRequest } from '../../../ports/models.ts';
import type { Store } from '../../../ports/store.ts';
import { type BeginServices, createBeginQuest } from '../../../runs/begin.ts';
import type { LiveReaderServices } from '../../../runs/live-reader.ts';
import { questJob } from '../../../runs/quest-job.ts';
import { newQuest, QUESTS } from '../../../runs/records.ts';
import { stopQuest } from '../../../runs/transitions.ts';
import { measureRecord, type StorageQuotas, takeStorage } from '../../storage/usage.ts';
import { type ContinuedConversation, lockConversation } from '../conversations/turns.ts';
import type { ServerTools } from '../server-tools/tools.ts';
import { followResponse, type ResponseWriter, untilStarted } from './follow.ts';
import { RESPONSE, RESPONSES, type ResponseRecord, type ResponseRequest } from './records.ts';
import { type RemovalServices, removeResponse } from './removal.ts';
import { findResponse, findResponses, type StoredResponse } from './stored.ts';

export interface ResponsesServices extends BeginServices, LiveReaderServices, RemovalServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly storageQuotas: StorageQuotas;
}

/** A response to make and to store. */
export interface NewResponse extends Pick<ResponseRecord, 'wire' | 'input' | 'earlier'> {
  /** Called with the id of the response. */
  readonly request: GenerateRequest;
  /** The id of the requested model. */
  readonly model: string;
  readonly isCapNamed: boolean;
  /** The conversation that it continues, and what the wire needs to write the items of its answer. */
  readonly conversation?: { readonly read: ContinuedConversation; readonly context: string };
  /** The tools that the server runs within the answer. */
  readonly serverTools?: ServerTools | undefined;
}

/** The stored responses, for a wire that offers them. Ids of other users are unknown ids. */
export interface Responses {
  /**
   * Accepts a response, once per `Idempotency-Key`. @param prepare is called with its id, unless the request is a
   * repetition. @throws ApiError 409 `conversation_locked`, 422 `limit_exceeded`, 503 during a shutdown.
   */
  start(
    request: IdempotentRequest,
    prepare: (id: string) => NewResponse | Promise<NewResponse>,
  ): Promise<string>;
  find(userId: string, id: string): Promise<StoredResponse | undefined>;
  /** In the order of the ids; unknown ones are left out. */
  findAll(userId: string, ids: readonly string[]): Promise<readonly StoredResponse[]>;
  /** Stops a response that has not ended. */
  cancel(id: string): Promise<void>;
  /** @returns false if it was deleted concurrently. */
  remove(userId: string, id: string): Promise<boolean>;
  /** Waits for the end. @returns undefined if it was deleted; a running one after a disconnect or at shutdown. */
  untilEnded(userId: string, id: string, signal: AbortSignal): Promise<StoredResponse | undefined>;
  /** Waits until there is output, or an end, or 10 seconds have passed. */
  untilStarted(id: string, signal: AbortSignal): Promise<void>;
  /** Streams a response from its beginning, in the format of the writer. */
  follow(
    userId: string,
    id: string,
    signal: AbortSignal,
    writer: ResponseWriter,
  ): AsyncIterableIterator<string>;
}

const CANCELLED = 'The response was cancelled.';
/** Longest wait for the end of a response. */
const MAX_WAIT_MS = 30 * 60_000;

export function createResponses(services: ResponsesServices): Responses {
  const { store, clock, ids, questEvents } = services;
  const quests = store.collection(QUESTS);
  const begin = createBeginQuest(services);
  const find = (userId: string, id: string) => findResponse(store, userId, id);

  return {
    async start(request, prepare) {
      const { call } = request;
      const { userId: ownerId } = call.caller;
      const id = ids.next();
      const accepted = await begin<{ readonly id: string }>(
        {
          ...request,
          // It failed before any output, or was deleted.
          isGone: async (first) => (await find(ownerId, first.id)) === undefined,
        },
        async () => {
          const records = toRecords(id, call, await prepare(id), clock.now());
          const write = (where: Store): Promise<void> => insert(where, records, services.storageQuotas);
          return {
            answer: { id },
            write: (where) => (where === store ? store.transaction(write) : write(where)),
          };
        },
        (questId) => questJob({ id: questId, kind: RESPONSE, ownerId }),
      );
      return accepted.id;
    },
    find,
    findAll: (userId, some) => findResponses(store, userId, some),
    async cancel(id) {
      if ((await stopQuest(quests, id, CANCELLED, clock.now())) !== undefined) questEvents.stopped(id);
    },
    remove: (ownerId, id) => removeResponse(services, { id, ownerId }),
    async untilEnded(userId, id, signal) {
      await questEvents.untilEnded(quests, id, { timeoutMs: MAX_WAIT_MS, signal });
      return find(userId, id);
    },
    untilStarted: (id, signal) => untilStarted(services, id, signal),
    follow: (userId, id, signal, writer) =>
      followResponse(services, { id, signal, load: () => find(userId, id) }, writer),
  };
}

function toRecords(
  id: string,
  call: Call,
  { wire, input, earlier, request: asked, model, isCapNamed, serverTools, conversation }: NewResponse,
  now: number,
) {
  const ownerId = call.caller.userId;
  const request: ResponseRequest = {
    payer: getPayer(call.caller),
    requestId: call.requestId,
    model,
    ...(!isCapNamed && { isCapOurs: true as const }),
    ...(serverTools !== undefined && { serverTools }),
  };
  const response: ResponseRecord = {
    id,
    ownerId,
    wire,
    input,
    earlier,
    ...(conversation !== undefined && {
      conversation: { id: conversation.read.id, context: conversation.context },
    }),
    call: JSON.stringify(asked),
    bytes: measureRecord(wire + input),
    createdAt: now,
  };
  const quest = newQuest({ id, kind: RESPONSE, sessionId: id, ownerId, request }, now);
  return { response, quest, continued: conversation?.read };
}

async function insert(
  store: Store,
  { response, quest, continued }: ReturnType<typeof toRecords>,
  quotas: StorageQuotas,
): Promise<void> {
  const { ownerId, bytes } = response;
  if (continued !== undefined) await lockConversation(store, continued, response.id);
  await takeStorage(store, { ownerId, kind: 'sessions', bytes }, quotas);
  const isNew = await store.collection(RESPONSES).insert(response);
  if (!isNew || !(await store.collection(QUESTS).insert(quest))) throw new Error('duplicate response id');
}
