import { requireAgents } from '../agents/agents.ts';
import { AGENTS, type AgentRecord, canUseAgent } from '../agents/records.ts';
import type { Call, Payer } from '../call.ts';
import { checkAttachments } from '../chat/attachments.ts';
import { chatModel } from '../chat/request.ts';
import { notFound } from '../errors.ts';
import type { FilesReader } from '../files/reader.ts';
import { isId } from '../http/identifiers.ts';
import type { AcceptedWork } from '../idempotency.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { type MembershipCheck, payerFor } from '../organizations/membership.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import { unpriced } from '../quests/charges.ts';
import { QUESTS, type QuestRecord } from '../quests/records.ts';
import { canEditSession } from '../sessions/access.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import type { Switches } from '../settings/admin.ts';
import type { ExecutionBody, StartedExecution } from './contract.ts';
import { takePlace } from './places.ts';
import { AGENT_EXECUTION, type ExecutionRequest } from './records.ts';

const DEFAULT_MAX_TOKENS = 4096;
/** Thinking tokens, when thinking is asked for without a number. */
const DEFAULT_BUDGET = 4096;

export interface StartServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly catalogueOf: CatalogueOf;
  readonly switches: Switches;
  readonly files: FilesReader;
  readonly isMember: MembershipCheck;
  /** Runs of one user that may be under way at once. */
  readonly maxLiveExecutions: number;
}

/** Finds out whether a run can be started, and what it will be. */
export type PrepareExecution = (body: ExecutionBody, call: Call) => Promise<AcceptedWork<StartedExecution>>;

export function createPrepareExecution(services: StartServices): PrepareExecution {
  const { store, clock, ids, switches } = services;
  const sessions = store.collection(SESSIONS);

  return async (body, call) => {
    const { userId } = call.caller;
    const current = switches.current();
    const settings = current instanceof Promise ? await current : current;
    if (body.agent_id !== undefined) await requireAgents(switches);
    const agent = await agentOf(store, userId, body.agent_id);
    const entry = chatModel(
      await services.catalogueOf(userId),
      body.model ?? agent?.preferredModel,
      settings,
    );
    if (settings.enforceCredits && entry.prices === undefined) throw unpriced(entry);
    const payer = await payerFor(services.isMember, call.caller, body.organization_id);
    const fileIds = [...new Set([...(body.file_ids ?? []), ...(body.session_file_ids ?? [])])];
    if (fileIds.length > 0) await checkAttachments(services.files, userId, fileIds);
    const now = clock.now();
    const used = { lastUsedModel: entry.info.id, lastUpdated: now };
    const session = isId(body.session_id)
      ? await sessions.update(body.session_id, used, canEditSession(userId))
      : undefined;
    if (session === undefined) throw notFound('Session');

    const quest: QuestRecord = {
      id: ids.next(),
      kind: AGENT_EXECUTION,
      sessionId: session.id,
      ownerId: userId,
      status: 'pending',
      type: 'message',
      request: requestOf(body, call, { entry, payer, session, agent, fileIds }),
      liveSince: now,
      createdAt: now,
      updatedAt: now,
    };
    const write = async (where: Store): Promise<void> => {
      await takePlace(where, userId, quest.id, services.maxLiveExecutions);
      if (!(await where.collection(QUESTS).insert(quest))) throw new Error('a new id was taken already');
    };
    return {
      answer: {
        id: quest.id,
        status: 'pending',
        session_id: session.id,
        model: entry.info.id,
        timestamp: new Date(now).toISOString(),
        tracking_info: {
          execution_id: quest.id,
          poll_url: `${call.mountPath}/api/v1/agent-executions/${quest.id}`,
          quest_id: quest.id,
        },
      },
      // The place and the run become visible together.
      write: (where) => (where === store ? store.transaction(write) : write(where)),
    };
  };
}

async function agentOf(
  store: Store,
  userId: string,
  agentId: string | undefined,
): Promise<AgentRecord | undefined> {
  if (agentId === undefined) return undefined;
  const agent = isId(agentId) ? await store.collection(AGENTS).get(agentId, canUseAgent(userId)) : undefined;
  if (agent === undefined) throw notFound('Agent');
  return agent;
}

function requestOf(
  body: ExecutionBody,
  { requestId }: Call,
  about: {
    readonly entry: CatalogueEntry;
    readonly payer: Payer;
    readonly session: SessionRecord;
    readonly agent: AgentRecord | undefined;
    readonly fileIds: readonly string[];
  },
): ExecutionRequest {
  const { entry, payer, session, agent, fileIds } = about;
  const thinks = body.thinking?.enabled === true && entry.info.supportsThinking === true;
  const thinkingBudget = thinks ? (body.thinking?.budget_tokens ?? DEFAULT_BUDGET) : 0;
  const temperature = body.temperature ?? agent?.temperature ?? session.temperature;
  // What it thinks comes on top of what it says, unless the request bounds both.
  const maxTokens = body.max_tokens ?? (agent?.maxTokens ?? DEFAULT_MAX_TOKENS) + thinkingBudget;
  const approvedTools = [...new Set(body.tools ?? [])];
  return {
    message: body.message,
    model: entry.info.id,
    maxTokens: Math.max(1, Math.min(maxTokens, entry.info.maxOutputTokens)),
    maxIterations: body.max_iterations,
    payer,
    requestId,
    ...(temperature !== undefined && { temperature }),
    ...(thinks && { thinkingBudget }),
    ...(agent !== undefined && { agentId: agent.id }),
    ...(fileIds.length > 0 && { fileIds }),
    ...(approvedTools.length > 0 && { approvedTools }),
    ...(body.enable_mementos === true && { remembers: true as const }),
    ...(body.enable_artifacts === true && { makesArtifacts: true as const }),
    ...(body.enable_lattice === true && { makesTables: true as const }),
  };
}
