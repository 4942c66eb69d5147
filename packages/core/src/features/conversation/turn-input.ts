import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { AnsweringServices } from '../../models/answering.ts';
import { type Candidates, candidatesFor } from '../../models/candidates.ts';
import type { ModelCatalogue } from '../../models/catalogue.ts';
import { getInputLimit } from '../../models/output-cap.ts';
import type { PromptCacheSetting } from '../../models/prompt-cache.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import type { Ids } from '../../ports/ids.ts';
import type { ModelContent } from '../../ports/models.ts';
import type { LeasedJob } from '../../ports/queue.ts';
import { writesTo } from '../../ports/write-all.ts';
import type { PromptSource } from '../../prompts/prompt.ts';
import type { QuestHandlerServices } from '../../runs/handler.ts';
import type { FirstReads, FollowUp } from '../../runs/quest-task.ts';
import type { QuestRequest } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import type { AgentEvents } from '../agents/events.ts';
import type { AgentReach } from '../agents/reach.ts';
import type { FilesReader } from '../files/reader.ts';
import { canEditSession } from '../sessions/access.ts';
import { MESSAGES, type MessageRecord, SESSIONS, type SessionRecord } from '../sessions/records.ts';
import type { MessageRange } from '../sessions/replaced.ts';
import { getSession, NEWEST_MESSAGES, recentMessages } from '../sessions/session.ts';
import { loadAttachments } from './attachments.ts';

/*
 * Common input of chat turns and agent runs: a user sends a message in a session, and a model with tools answers.
 */

export interface DialogueServices extends QuestHandlerServices, AnsweringServices {
  readonly ids: Ids;
  readonly catalogue: ModelCatalogue;
  readonly getCatalogue: GetCatalogue;
  readonly files: FilesReader;
  readonly toolRegistry: ToolRegistry;
  readonly promptSources: readonly PromptSource[];
  readonly agentEvents: AgentEvents;
  readonly agentReach: AgentReach;
  /** Decrypts the system prompt of requests. */
  readonly textBox: SecretBox;
  readonly followUps: readonly FollowUp[];
  /** By model id: the fallback models, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
  readonly promptCache: PromptCacheSetting;
}

/** The common request fields of these quests. Plain JSON. */
export interface DialogueRequest extends QuestRequest {
  readonly message: string;
  readonly model: string;
  readonly maxTokens: number;
  /** The request set no cap: it may be lowered to what the credit covers. */
  readonly isCapOurs?: true;
  readonly temperature?: number;
  /** Thinking tokens of an answer. */
  readonly thinkingBudget?: number;
  readonly fileIds?: readonly string[];
  /** The messages that the turn replaces: it knows only those before them. */
  readonly replaces?: MessageRange;
  /** Mementos are extracted from the message. */
  readonly remembers?: true;
}

/** Input that was read with the claim of the turn, or written with its acceptance. */
export interface KnownInput {
  readonly session: SessionRecord;
  /** The newest messages, newest first, up to `NEWEST_MESSAGES`. */
  readonly newest?: readonly MessageRecord[];
}

/** The input of a turn before the model is called. */
export interface TurnInput {
  readonly session: SessionRecord;
  readonly candidates: Candidates;
  /** Maximum input tokens of the first candidate. */
  readonly tokenLimit: number;
  /** Oldest first. */
  readonly history: readonly MessageRecord[];
  /** Number of the message before the turn. Undefined: unknown. */
  readonly lastMessage: number | undefined;
  /** The attached files, in the form for the model. */
  readonly contents: readonly ModelContent[];
}

/** @param historyCount number of earlier messages for the model; absent: a number that suits its cache. */
export async function loadTurnInput(
  services: DialogueServices,
  { quest, lease, update, signal }: RunContext,
  { model, maxTokens, fileIds = [], replaces }: DialogueRequest,
  historyCount: number | undefined,
): Promise<TurnInput> {
  const { store } = services;
  const known = services.claimedQuests.get(lease)?.input as KnownInput | undefined;
  const session = known?.session ?? (await getSession(store, quest));
  const messages = store.collection(MESSAGES);
  const recent = await recentMessages(messages, session, historyCount, replaces?.from, known?.newest);
  const ofSession = { session, history: recent.messages, lastMessage: recent.last };
  const catalogue = await services.getCatalogue(quest.request.payer);
  const candidates = candidatesFor({ catalogue, fallbacks: services.fallbacks }, model);
  const [{ info }] = candidates;
  const tokenLimit = getInputLimit(info, maxTokens);
  if (fileIds.length === 0) return { ...ofSession, candidates, tokenLimit, contents: [] };
  const { files } = services;
  const attached = await loadAttachments(files, quest.ownerId, fileIds, info, { signal });
  const { contents, delivery, notices } = attached;
  update({
    attachmentDelivery: delivery,
    ...(notices.length > 0 && { attachmentNotices: notices }),
  });
  return { ...ofSession, candidates, tokenLimit, contents };
}

/** Reads the session and the newest messages of a turn with its claim, if its job names the session. */
export function readKnownInput({ owner, payload }: LeasedJob): FirstReads | undefined {
  const { sessionId } = payload as { readonly sessionId?: unknown };
  if (owner === undefined || typeof sessionId !== 'string') return undefined;
  let session: SessionRecord | undefined;
  let newest: readonly MessageRecord[] = [];
  return {
    reads: [
      writesTo(SESSIONS).read({ id: sessionId, ...canEditSession(owner) }, 1, ([found]) => {
        session = found;
      }),
      writesTo(MESSAGES).readOrdered(
        { sessionId },
        { field: 'createdAt', direction: 'desc', max: NEWEST_MESSAGES },
        (found) => {
          newest = found;
        },
      ),
    ],
    getInput(): KnownInput | undefined {
      return session && { session, newest };
    },
  };
}
