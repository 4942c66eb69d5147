import { type Call, inProject, type Payer } from '../../contract/call.ts';
import { isId } from '../../contract/identifiers.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { capWithBudget, withinModel } from '../../models/output-cap.ts';
import { unpriced } from '../../models/unpriced.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { AcceptedWork } from '../../operations/idempotency.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Store } from '../../ports/store.ts';
import { writesTo } from '../../ports/write-all.ts';
import { newQuest, QUESTS } from '../../runs/records.ts';
import { notFound } from '../../shared/errors.ts';
import { requireAgents } from '../agents/agents.ts';
import type { AgentReach } from '../agents/reach.ts';
import type { AgentRecord } from '../agents/records.ts';
import { chatModel } from '../chat/request.ts';
import { checkAttachments } from '../conversation/attachments.ts';
import type { FilesReader } from '../files/reader.ts';
import { type PayerServices, payerFor } from '../organizations/membership.ts';
import { canEditSession } from '../sessions/access.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { expectStorage, requireStorage, type StorageQuotas } from '../storage/usage.ts';
import type { ExecutionBody, StartedExecution } from './contract.ts';
import { AGENT_EXECUTION, type ExecutionRequest } from './records.ts';
import { acquireSlot, findSlot, reserveSlot } from './slots.ts';

/** Thinking tokens when the request enables thinking without a number. */
const DEFAULT_BUDGET = 4096;

export interface StartServices extends PayerServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly files: FilesReader;
  readonly agentReach: AgentReach;
  readonly storageQuotas: StorageQuotas;
  /** The maximum number of active runs per user. */
  readonly maxLiveExecutions: number;
}

/** Validates a run request and builds the run. */
export type PrepareExecution = (body: ExecutionBody, call: Call) => Promise<AcceptedWork<StartedExecution>>;

export function createPrepareExecution(services: StartServices): PrepareExecution {
  const { store, clock, ids, adminSettings } = services;
  const sessions = store.collection(SESSIONS);

  /** @throws ApiError 404 for an agent that the caller may not use in this session. */
  const findAgent = async (
    id: string,
    userId: string,
    session: SessionRecord | undefined,
  ): Promise<AgentRecord> => {
    await requireAgents(adminSettings);
    const agent = await services.agentReach.find(userId, id, session);
    if (agent === undefined) throw notFound('Agent');
    return agent;
  };

  return async (body, call) => {
    const { userId } = call.caller;
    const current = adminSettings.current();
    const settings = current instanceof Promise ? await current : current;
    const mayRun = canEditSession(userId);
    const session = isId(body.session_id) ? await sessions.get(body.session_id, mayRun) : undefined;
    const agent = body.agent_id === undefined ? undefined : await findAgent(body.agent_id, userId, session);
    const payer = await payerFor(services, call.caller, body.organization_id);
    const entry = chatModel(
      await services.getCatalogue(payer),
      body.model ?? agent?.preferredModel,
      settings,
    );
    if (settings.enforceCredits && entry.prices === undefined) throw unpriced(entry);
    const fileIds = [...new Set([...(body.file_ids ?? []), ...(body.session_file_ids ?? [])])];
    if (fileIds.length > 0) await checkAttachments(services.files, userId, fileIds);
    if (session === undefined) throw notFound('Session');

    const now = clock.now();
    const used = { lastUsedModel: entry.info.id, lastUpdated: now };
    const request = toRequest(body, call, {
      entry,
      payer: inProject(payer, session),
      session,
      agent,
      fileIds,
    });
    const isLowered = body.max_tokens !== undefined && request.maxTokens < body.max_tokens;
    const quest = newQuest(
      { id: ids.next(), kind: AGENT_EXECUTION, sessionId: session.id, ownerId: userId, request },
      now,
    );
    const owner = { ownerId: session.ownerId, kind: 'sessions' } as const;
    const wanted = { userId, executionId: quest.id, most: services.maxLiveExecutions, now };
    const isReserved = session.ownerId !== userId;
    if (isReserved) {
      // The run is stored with the session, which may be in another database than the slots.
      await requireStorage(store, owner, services.storageQuotas);
      await reserveSlot(store, wanted);
    }
    const slot = isReserved ? [] : store.writeAll && (await findSlot(store, wanted));
    const write = async (where: Store): Promise<void> => {
      await requireStorage(where, owner, services.storageQuotas);
      if (!isReserved) await acquireSlot(where, wanted);
      const isUsed = await where.collection(SESSIONS).update(session.id, used, mayRun);
      if (isUsed === undefined) throw notFound('Session');
      if (!(await where.collection(QUESTS).insert(quest))) throw new Error('duplicate quest id');
    };
    return {
      answer: {
        id: quest.id,
        status: 'pending',
        session_id: session.id,
        model: entry.info.id,
        ...(isLowered && { max_tokens: request.maxTokens }),
        timestamp: new Date(now).toISOString(),
        tracking_info: {
          execution_id: quest.id,
          poll_url: `${call.mountPath}/api/v1/agent-executions/${quest.id}`,
          quest_id: quest.id,
        },
      },
      // The slot and the run become visible together.
      ...(slot !== undefined && {
        toWrites: () => [
          ...expectStorage(owner, services.storageQuotas),
          ...slot,
          writesTo(SESSIONS).update(session.id, used, mayRun),
          writesTo(QUESTS).insert(quest),
        ],
      }),
      write: (where) => (where === store ? store.transaction(write) : write(where)),
    };
  };
}

function toRequest(
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
  // Thinking tokens are added to the output cap, unless the request bounds both.
  const ofAgent =
    agent?.maxTokens === undefined
      ? capWithBudget(entry.info, thinkingBudget)
      : agent.maxTokens + thinkingBudget;
  const approvedTools = [...new Set(body.tools)];
  return {
    message: body.message,
    model: entry.info.id,
    maxTokens: withinModel(entry.info, body.max_tokens ?? ofAgent),
    maxIterations: body.max_iterations,
    payer,
    requestId,
    ...(body.max_tokens === undefined && agent?.maxTokens === undefined && { isCapOurs: true as const }),
    ...(temperature !== undefined && { temperature }),
    ...(thinks && { thinkingBudget }),
    ...(agent !== undefined && { agentId: agent.id }),
    ...(fileIds.length > 0 && { fileIds }),
    ...(approvedTools.length > 0 && { approvedTools }),
    ...(body.approvals === true && { approvals: true as const }),
    ...(body.enable_mementos === true && { remembers: true as const }),
    ...(body.enable_artifacts === true && { makesArtifacts: true as const }),
    ...(body.enable_lattice === true && { makesTables: true as const }),
  };
}
