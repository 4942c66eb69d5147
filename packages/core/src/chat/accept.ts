import { createFindMentions } from '../agents/mentions.ts';
import { type AgentTerms, termsOf } from '../agents/terms.ts';
import type { Call, Payer } from '../call.ts';
import type { FilesReader } from '../files/reader.ts';
import type { AcceptedWork } from '../idempotency.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { type MembershipCheck, payerFor } from '../organizations/membership.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import { unpriced } from '../quests/charges.ts';
import { QUESTS, type QuestRecord } from '../quests/records.ts';
import { chooseSession, peekSession } from '../sessions/choice.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import type { Switches } from '../settings/admin.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { checkAttachments } from './attachments.ts';
import type { Acknowledgement, ChatBody } from './contract.ts';
import { CHAT } from './job.ts';
import { agentModel, type ChatRequest, chatModel, featuresOf, outputCap, remembers } from './request.ts';
import { type ChosenTools, chooseTools, scopeOf, speaksOfTools } from './tools.ts';

export interface AcceptServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly catalogueOf: CatalogueOf;
  readonly switches: Switches;
  readonly files: FilesReader;
  readonly toolRegistry: ToolRegistry;
  readonly isMember: MembershipCheck;
}

const NO_TERMS: AgentTerms = {};

/** Finds out whether a message can be taken, and what its turn will be. Nothing is written down yet but that the session was used. */
export type AcceptMessage = (body: ChatBody, call: Call) => Promise<AcceptedWork<Acknowledgement>>;

export function createAcceptMessage(services: AcceptServices): AcceptMessage {
  const { store, clock, ids, switches } = services;
  const sessions = store.collection(SESSIONS);
  const quests = store.collection(QUESTS);
  const findMentions = createFindMentions(services);

  /** What the agents want that the message brings in. Most messages may bring in none, and pay nothing for it. */
  const agentTerms = async (body: ChatBody, { caller }: Call): Promise<AgentTerms> => {
    if (featuresOf(body)?.agents !== true || !body.message.includes('@')) return NO_TERMS;
    const session = await peekSession(sessions, body, caller);
    return termsOf(await findMentions(caller.userId, body.message, session?.agentIds ?? []));
  };

  return async (body, call) => {
    const current = switches.current();
    const settings = current instanceof Promise ? await current : current;
    const own = services.catalogueOf(call.caller.userId);
    const models = own instanceof Promise ? await own : own;
    const terms = await agentTerms(body, call);
    const entry = chatModel(models, body.model ?? agentModel(models, terms.model), settings);
    if (settings.enforceCredits && entry.prices === undefined) throw unpriced(entry);
    const payer = await payerFor(services.isMember, call.caller, body.organizationId);
    const { userId } = call.caller;
    const fileIds = [...new Set(body.fileIds)];
    if (fileIds.length > 0) await checkAttachments(services.files, userId, fileIds);

    const { session, isNew } = await chooseSession(
      services,
      sessions,
      { ...body, model: entry.info.id },
      call,
    );
    const tools = speaksOfTools(body, session)
      ? await chooseTools(
          services.toolRegistry,
          scopeOf(userId, session.id, payer, featuresOf(body)),
          body,
          session,
          entry.info.supportsTools ?? false,
          terms.tools,
        )
      : undefined;

    const now = clock.now();
    const quest: QuestRecord = {
      id: ids.next(),
      kind: CHAT,
      sessionId: session.id,
      ownerId: userId,
      status: 'pending',
      type: 'message',
      request: requestOf(body, call, { entry, payer, session, tools, terms, fileIds }),
      liveSince: now,
      createdAt: now,
      updatedAt: now,
    };
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
        ...(tools?.echo !== undefined && { tools: tools.echo }),
      },
      async write(where) {
        const own = where === store;
        // Awaited together: a refusal that nobody waits for yet would end the host's process.
        const written = await Promise.all([
          (own ? quests : where.collection(QUESTS)).insert(quest),
          !isNew || (own ? sessions : where.collection(SESSIONS)).insert(session),
        ]);
        if (written.includes(false)) throw new Error('a new id was taken already');
      },
    };
  };
}

function requestOf(
  body: ChatBody,
  call: Call,
  about: {
    readonly entry: CatalogueEntry;
    readonly payer: Payer;
    readonly session: SessionRecord;
    readonly tools: ChosenTools | undefined;
    readonly terms: AgentTerms;
    readonly fileIds: readonly string[];
  },
): ChatRequest {
  const { entry, payer, session, tools, terms, fileIds } = about;
  // Built field by field: this runs for every message, and most have none of what follows.
  const request: Mutable<ChatRequest> = {
    message: body.message,
    model: entry.info.id,
    maxTokens: outputCap(body, entry, terms.maxTokens),
    historyCount: Math.ceil(body.historyCount),
    payer,
    requestId: call.requestId,
  };
  const temperature = body.temperature ?? terms.temperature ?? session.temperature;
  if (temperature !== undefined) request.temperature = temperature;
  if (fileIds.length > 0) request.fileIds = fileIds;
  if (body.promptMode !== undefined) request.promptMode = body.promptMode;
  if (body.systemPrompt !== undefined) request.hasSystemPrompt = true;
  const features = featuresOf(body);
  if (features !== undefined) request.features = features;
  if (remembers(body)) request.remembers = true;
  if (tools !== undefined && tools.effective.length > 0) {
    request.tools = tools.effective;
    if (terms.tools !== undefined) request.toolLimits = terms.tools;
    if (session.maxToolCalls !== undefined) request.maxToolCalls = Math.ceil(session.maxToolCalls);
  }
  return request;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
