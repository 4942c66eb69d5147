import { defineRoute, type Route } from '@questline/core';
import {
  answerOverWire,
  type ConversationsServices,
  checkApprovals,
  createConversations,
  createResponses,
  prepareAnswer,
  type ResponsesServices as StoredResponsesServices,
  toAskedCompletion,
  type WireAnswerServices,
} from '@questline/core/internal';
import { findConversation } from '../conversations/handlers.ts';
import { createContinuedHistory } from '../conversations/history.ts';
import { getConversationId } from '../conversations/ids.ts';
import { findMessage, toContext } from '../conversations/items.ts';
import { issue, withoutRetry } from '../errors.ts';
import { readApprovals } from './approvals.ts';
import { createResponse } from './contract.ts';
import { ResponseEncoder, toEndState } from './encoder.ts';
import { loadHistory } from './history.ts';
import { toInputItemId, toResponseId } from './ids.ts';
import { toModelMessages } from './input.ts';
import { ItemWriter } from './items.ts';
import { readListedServers } from './listed-servers.ts';
import { isMcpCall } from './mcp-items.ts';
import { findIgnored, refuseUnsupported } from './refusals.ts';
import { toGenerateRequest } from './request.ts';
import { readServerTools, type ServerToolSetServices } from './server-tools.ts';
import { createStoredAnswer } from './stored-answer.ts';
import type { StoredWire } from './stored-wire.ts';
import { readTools } from './tools.ts';
import { describeRequest, type WireResponse } from './wire.ts';

export interface ResponsesServices
  extends WireAnswerServices,
    StoredResponsesServices,
    ConversationsServices,
    ServerToolSetServices {
  // Both have these, with the same types.
  readonly store: StoredResponsesServices['store'];
  readonly clock: StoredResponsesServices['clock'];
  readonly onError: WireAnswerServices['onError'];
  readonly admissionControl: WireAnswerServices['admissionControl'];
  readonly idempotency: WireAnswerServices['idempotency'];
  readonly ids: WireAnswerServices['ids'];
  readonly toolRegistry: ServerToolSetServices['toolRegistry'];
}

/**
 * `POST /v1/responses`. Stored: a quest makes it. Otherwise through the same call of the model as
 * `POST /api/ai/v1/completions`, and nothing is stored.
 */
export function createResponseHandler(services: ResponsesServices): Route {
  const responses = createResponses(services);
  const conversations = createConversations(services);
  const answerStored = createStoredAnswer(services, responses);
  return defineRoute(createResponse, services, async ({ body }, call) => {
    services.admissionControl.admit();
    refuseUnsupported(body);
    const { userId } = call.caller;
    const conversationId = getConversationId(body);
    const conversation =
      conversationId === undefined
        ? undefined
        : await findConversation(conversations, userId, conversationId);
    const { catalogue, entry, media, promptCache } = await prepareAnswer(
      services,
      call,
      () => body.model,
      issue,
    );
    const load = async () => {
      const continued = conversation && createContinuedHistory(services.store, conversations, conversation);
      const history = await loadHistory(responses, userId, body, continued);
      const items = [...history.before, ...history.own.map(({ item }) => item)];
      const earlier = {
        count: history.before.length,
        field: conversation === undefined ? ('previous_response_id' as const) : ('conversation' as const),
      };
      const tools = readTools(body, items, earlier);
      const approvals = readApprovals(items, earlier);
      const known = { pending: approvals.pending, listed: readListedServers(items) };
      const server = await readServerTools(services, call, body, tools, known);
      const provider = entry.provider.id;
      const messages = await toModelMessages(body.instructions, items, {
        media,
        provider,
        earlier,
        approvals,
      });
      const offered = {
        ...tools,
        schemas: [...tools.schemas, ...server.schemas],
        mcpTools: server.mcpTools,
      };
      const request = toGenerateRequest(body, messages, offered, entry, promptCache);
      return {
        history,
        tools,
        serverTools: server.serverTools,
        request,
        ignored: [...findIgnored(body, request, entry), ...server.ignored],
      };
    };
    const now = (): number => Math.floor(services.clock.now() / 1000);
    const include = body.include ?? [];
    const isCapNamed = body.max_output_tokens != null;
    const toNew = async (
      { history, tools, serverTools, request }: Awaited<ReturnType<typeof load>>,
      id: string,
    ) => {
      await checkApprovals(services.idempotency, serverTools, { userId, sessionId: id });
      const facts = { id: toResponseId(id), createdAt: now(), model: entry.info.id };
      const wire: StoredWire = {
        request: describeRequest(body, facts),
        tools: tools.entries,
        include,
        size: history.size,
      };
      const input = history.own.map(({ id: known, item }, index) => ({
        id: known ?? toInputItemId(item, id, index),
        item,
      }));
      return {
        request,
        model: entry.info.id,
        isCapNamed,
        serverTools,
        wire: JSON.stringify(wire),
        input: JSON.stringify(input),
        earlier: history.earlier,
        ...(conversation !== undefined && {
          conversation: { read: conversation, context: toContext(wire) },
        }),
      };
    };
    if (conversation !== undefined) {
      // A repeated request gets the first response, whatever its conversation has become.
      let ignored: readonly string[] = [];
      const prepare = async (id: string) => {
        const loaded = await load();
        ignored = loaded.ignored;
        // The name of a session outlives the items that it was made from.
        const message = body.store === false ? '' : findMessage(loaded.history.own.map(({ item }) => item));
        await conversations.use(conversation, { model: entry.info.id, message });
        return toNew(loaded, id);
      };
      return answerStored(call, body, () => ignored, prepare);
    }
    const loaded = await load();
    const { tools, serverTools, request, ignored } = loaded;
    if (body.store !== false) {
      return answerStored(
        call,
        body,
        () => ignored,
        (id) => toNew(loaded, id),
      );
    }
    const facts = { id: toResponseId(call.id), createdAt: now() };
    const written = {
      id: call.id,
      tools,
      include,
      includesReasoning: include.includes('reasoning.encrypted_content'),
    };
    const ending = { creditsPerUsd: services.catalogue.creditsPerUsd, now };
    return answerOverWire(services, call, {
      asked: toAskedCompletion(services, catalogue, {
        operation: createResponse.id,
        entry,
        request,
        isCapNamed,
        serverTools,
      }),
      ignored,
      path: createResponse.path,
      body,
      createEncoder: ({ info }) =>
        new ResponseEncoder({
          ...written,
          ...ending,
          request: describeRequest(body, { ...facts, model: info.id }),
        }),
      createCollector() {
        const writer = new ItemWriter({ ...written, sink: () => undefined });
        return {
          add: (part) => writer.add(part),
          toFailure: (error) => (writer.output.some(isMcpCall) ? withoutRetry(error) : error),
          finish: (end): WireResponse => ({
            ...describeRequest(body, { ...facts, model: end.entry.info.id }),
            ...toEndState(end, writer, ending),
          }),
        };
      },
    });
  });
}
