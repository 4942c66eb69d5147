import { type Call, inProject, type Payer } from '../../contract/call.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { unpriced } from '../../models/unpriced.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { AcceptedWork } from '../../operations/idempotency.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Store } from '../../ports/store.ts';
import { acceptClaimed, type ClaimedQuests } from '../../runs/claimed-quests.ts';
import { newQuest } from '../../runs/records.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import { createFindMentions } from '../agents/mentions.ts';
import { type AgentOptions, getAgentOptions } from '../agents/options.ts';
import type { AgentReach } from '../agents/reach.ts';
import { checkAttachments } from '../conversation/attachments.ts';
import type { KnownInput } from '../conversation/turn-input.ts';
import type { FilesReader } from '../files/reader.ts';
import { type PayerServices, payerFor } from '../organizations/membership.ts';
import { chooseSession, peekSession } from '../sessions/choice.ts';
import { storeTurn, turnWrites } from '../sessions/new-turn.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import type { StorageQuotas } from '../storage/usage.ts';
import { checkClientTools } from './client-tools.ts';
import type { Acknowledgement, ChatBody } from './contract.ts';
import { CHAT, getToolScope } from './job.ts';
import {
  agentModel,
  type ChatRequest,
  chatModel,
  getFeatures,
  namedCap,
  outputCap,
  remembers,
} from './request.ts';
import { type ChosenTools, chooseTools, usesTools } from './tools.ts';

export interface AcceptServices extends PayerServices {
  readonly store: Store;
  readonly claimedQuests: ClaimedQuests;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly files: FilesReader;
  readonly toolRegistry: ToolRegistry;
  readonly agentReach: AgentReach;
  readonly storageQuotas: StorageQuotas;
}

const NO_OPTIONS: AgentOptions = {};
const NO_FILES: readonly string[] = [];

/** What the wire of the caller decides about a turn. */
export interface TurnPlan extends Pick<ChatRequest, 'isRepeated' | 'replaces'> {
  readonly pageId: string | undefined;
  readonly questId: string;
  /** The id of the session, if the turn begins one. */
  readonly newSessionId: string;
  /** The answer is streamed from its beginning. */
  readonly isFollowed: boolean;
}

/** Validates a message and builds its turn. Stores only that the session was used. @param plan absent: new ids. */
export type AcceptMessage = (
  body: ChatBody,
  call: Call,
  plan?: TurnPlan,
) => Promise<AcceptedWork<Acknowledgement>>;

export function createAcceptMessage(services: AcceptServices): AcceptMessage {
  const { store, clock, ids, adminSettings } = services;
  const sessions = store.collection(SESSIONS);
  const findMentions = createFindMentions(services);

  const canMention = (body: ChatBody): boolean =>
    getFeatures(body)?.agents === true && body.message.includes('@');

  /** Reads the options of mentioned agents. */
  const readAgentOptions = async (body: ChatBody, { caller }: Call): Promise<AgentOptions> => {
    const session = await peekSession(sessions, body, caller);
    return getAgentOptions(await findMentions(caller.userId, body.message, session));
  };

  return async (body, call, plan) => {
    const current = adminSettings.current();
    const settings = current instanceof Promise ? await current : current;
    const paying = payerFor(services, call.caller, body.organizationId);
    const callerPays = paying instanceof Promise ? await paying : paying;
    const own = services.getCatalogue(callerPays);
    const models = own instanceof Promise ? await own : own;
    const options = canMention(body) ? await readAgentOptions(body, call) : NO_OPTIONS;
    const entry = chatModel(models, body.model ?? agentModel(models, options.model), settings);
    if (settings.enforceCredits && entry.prices === undefined) throw unpriced(entry);
    const { userId } = call.caller;
    const fileIds = body.fileIds === undefined ? NO_FILES : [...new Set(body.fileIds)];
    if (fileIds.length > 0) await checkAttachments(services.files, userId, fileIds);

    const { session: chosen, isNew } = await chooseSession(
      services,
      sessions,
      { ...body, model: entry.info.id },
      call,
    );
    const session = isNew && plan !== undefined ? { ...chosen, id: plan.newSessionId } : chosen;
    const payer = inProject(callerPays, session);
    if (body.clientTools !== undefined) {
      const scope = getToolScope(userId, session.id, payer, getFeatures(body));
      await checkClientTools(services.toolRegistry, scope, body.clientTools, body.approvals === true);
    }
    const tools = usesTools(body, session)
      ? await chooseTools(
          services.toolRegistry,
          getToolScope(userId, session.id, payer, getFeatures(body)),
          body,
          session,
          entry.info.supportsTools ?? false,
          options.tools,
        )
      : undefined;

    const now = clock.now();
    const request = toRequest(body, call, { entry, payer, session, tools, terms: options, fileIds, plan });
    const isLowered = request.maxTokens < Math.floor(namedCap(body) ?? 0);
    const id = plan?.questId ?? ids.next();
    const isFollowed = plan?.isFollowed ?? false;
    const quest = newQuest(
      { id, kind: CHAT, sessionId: session.id, ownerId: userId, request },
      now,
      isFollowed,
    );
    const pollUrl = `${call.mountPath}/api/v1/quests/${quest.id}`;
    return {
      answer: {
        id: quest.id,
        status: 'queued',
        message_received: true,
        timestamp: new Date(now).toISOString(),
        model: entry.info.id,
        tracking_info: { quest_id: quest.id, check_status_url: pollUrl, poll_url: pollUrl },
        sessionId: session.id,
        ...(isLowered && { maxTokens: request.maxTokens }),
        ...(tools?.echo !== undefined && { tools: tools.echo }),
      },
      toWrites(lease) {
        if (lease === undefined) return turnWrites(quest, session, isNew, services.storageQuotas);
        const claimed = acceptClaimed(quest, lease);
        const input: KnownInput = { session, ...(isNew && { newest: [] }) };
        services.claimedQuests.add(lease, { quest: claimed, input });
        return turnWrites(claimed, session, isNew, services.storageQuotas);
      },
      write: (where) => storeTurn(services, where, quest, session, isNew),
    };
  };
}

function toRequest(
  body: ChatBody,
  call: Call,
  about: {
    readonly entry: CatalogueEntry;
    readonly payer: Payer;
    readonly session: SessionRecord;
    readonly tools: ChosenTools | undefined;
    readonly terms: AgentOptions;
    readonly fileIds: readonly string[];
    readonly plan: TurnPlan | undefined;
  },
): ChatRequest {
  const { entry, payer, session, tools, terms: options, fileIds, plan } = about;
  // Built field by field: this runs for every message, and most messages need few of these fields.
  const request: Mutable<ChatRequest> = {
    message: body.message,
    model: entry.info.id,
    maxTokens: outputCap(body, entry, options.maxTokens),
    payer,
    requestId: call.requestId,
  };
  const temperature = body.temperature ?? options.temperature ?? session.temperature;
  if (temperature !== undefined) request.temperature = temperature;
  if (namedCap(body) === undefined && options.maxTokens === undefined) request.isCapOurs = true;
  if (body.historyCount !== undefined) request.historyCount = Math.ceil(body.historyCount);
  if (fileIds.length > 0) request.fileIds = fileIds;
  if (plan?.pageId !== undefined) request.pageId = plan.pageId;
  if (plan?.isRepeated === true) request.isRepeated = true;
  if (plan?.replaces !== undefined) request.replaces = plan.replaces;
  if (body.promptMode !== undefined) request.promptMode = body.promptMode;
  if (body.systemPrompt !== undefined) request.hasSystemPrompt = true;
  const showsPrompt = {
    ...(body.includePromptDetails === true && { details: true }),
    ...(body.includeSystemPrompt === true && { text: true }),
  };
  if (Object.keys(showsPrompt).length > 0) request.showsPrompt = showsPrompt;
  const features = getFeatures(body);
  if (features !== undefined) request.features = features;
  if (remembers(body)) request.remembers = true;
  if (tools !== undefined && tools.effective.length > 0) {
    request.tools = tools.effective;
    if (options.tools !== undefined) request.toolLimits = options.tools;
  }
  if (body.approvals === true) request.approvals = true;
  const { clientTools = [] } = body;
  const hasClientTools = clientTools.length > 0 && entry.info.supportsTools === true;
  if (hasClientTools) request.clientTools = clientTools;
  if (hasClientTools || request.tools !== undefined) {
    if (session.maxToolCalls !== undefined) request.maxToolCalls = Math.ceil(session.maxToolCalls);
  }
  return request;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
