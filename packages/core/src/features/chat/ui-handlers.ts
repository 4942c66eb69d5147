import type { Call } from '../../contract/call.ts';
import { Reply } from '../../contract/reply.ts';
import { STREAM_HEADERS } from '../../http/sse.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import type { BodyVariant, PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { sealSystemPrompt } from '../../prompts/sealed-texts.ts';
import { type BeginServices, createBeginQuest } from '../../runs/begin.ts';
import { questJob } from '../../runs/handler.ts';
import { type LiveReaderServices, streamEvents } from '../../runs/live-reader.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { QUESTS } from '../../runs/records.ts';
import { hasEnded, stopQuest } from '../../runs/transitions.ts';
import { invalid, notFound } from '../../shared/errors.ts';
import { canReadSession } from '../sessions/access.ts';
import { SESSIONS } from '../sessions/records.ts';
import { type AcceptServices, createAcceptMessage } from './accept.ts';
import type { ChatBody } from './contract.ts';
import { CHAT } from './job.ts';
import { createUiChats } from './ui-chats.ts';
import { createUiEncoder } from './ui-chunks.ts';
import {
  isUiChatBody,
  resumeUiChat,
  sendUiMessages,
  stopUiChat,
  type UiChatBody,
  uiChatBody,
} from './ui-contract.ts';

/** The services of `createUiChatHandler`; `Services` satisfies it. */
export interface UiChatServices extends PipelineServices, AcceptServices, BeginServices, LiveReaderServices {
  readonly questEvents: QuestEvents;
  /** Encrypts the system prompt of requests. */
  readonly textBox: SecretBox;
  readonly clock: AcceptServices['clock'];
  readonly onError: PipelineServices['onError'];
}

const UI_HEADERS = { ...STREAM_HEADERS, 'X-Vercel-AI-UI-Message-Stream': 'v1' };
const STOPPED = 'This turn was cancelled.';

/** Answers `useChat` of the AI SDK. Mount it at the path of its `api`. */
export function createUiChatHandler(services: UiChatServices): Route {
  const send = createSend(services, sendUiMessages.path);
  return defineRoute(sendUiMessages, services, ({ body }, call) => send(body, call));
}

/** The body of `useChat` at the path of another operation. */
export function createUiVariant(services: UiChatServices, path: string): BodyVariant {
  const send = createSend(services, path);
  return {
    matches: isUiChatBody,
    schema: uiChatBody,
    // The pipeline passes the output of the schema.
    handler: ({ body }, call) => send(body as UiChatBody, call as Call),
  };
}

/** `GET /api/chat/{id}/stream` */
export function createResumeUiChatHandler(services: UiChatServices): Route {
  const chats = createUiChats(services.store);
  const stream = createStream(services);
  return defineRoute(resumeUiChat, services, async ({ params }, call) => {
    const quest = await chats.findRunning(call.caller.userId, params.id, 'read');
    return quest === undefined ? new Reply(204, {}, undefined) : stream(quest, call);
  });
}

/** `POST /api/chat/{id}/stop` */
export function createStopUiChatHandler(services: UiChatServices): Route {
  const chats = createUiChats(services.store);
  const quests = services.store.collection(QUESTS);
  return defineRoute(stopUiChat, services, async ({ params }, { caller }) => {
    const quest = await chats.findRunning(caller.userId, params.id, 'edit');
    const stopped = quest && (await stopQuest(quests, quest.id, STOPPED, services.clock.now()));
    if (stopped !== undefined) services.questEvents.stopped(stopped.id);
    return undefined;
  });
}

/** Accepts the last message of the user, and streams the answer. */
function createSend(services: UiChatServices, path: string) {
  const accept = createAcceptMessage(services);
  const begin = createBeginQuest(services);
  const chats = createUiChats(services.store);
  const stream = createStream(services);

  return async (body: UiChatBody, call: Call): Promise<Reply> => {
    const { userId } = call.caller;
    const message = getMessage(body);
    const answer = await begin(
      { call, path, body },
      async () => {
        const { session, turnIds } = await chats.next(userId, body.id);
        const { id: _id, messages: _messages, trigger: _trigger, messageId: _messageId, ...options } = body;
        const turn: ChatBody = {
          ...options,
          message,
          wait: false,
          stream: false,
          ...(session === undefined ? { newConversation: true } : { sessionId: session.id }),
        };
        return accept(turn, call, turnIds);
      },
      (id) =>
        questJob(
          { id, kind: CHAT, ownerId: userId },
          sealSystemPrompt(services.textBox, id, body.systemPrompt),
        ),
    );
    return stream(answer, call);
  };
}

/** Streams a turn from its beginning. It goes on when the reader leaves. */
function createStream(services: UiChatServices) {
  const quests = services.store.collection(QUESTS);
  const sessions = services.store.collection(SESSIONS);
  return (
    { id, sessionId }: { readonly id: string; readonly sessionId: string },
    { caller, signal }: Call,
  ): Reply => {
    const load = async () => {
      const quest = await quests.get(id);
      const session = quest && (await sessions.get(quest.sessionId, canReadSession(caller.userId)));
      if (quest === undefined || session === undefined) throw notFound('Quest');
      return { view: quest, text: quest.text ?? '', isOver: hasEnded(quest) };
    };
    const encoder = createUiEncoder({ id, sessionId });
    return new Reply(
      200,
      UI_HEADERS,
      streamEvents(services, { questId: id, after: 0, signal, load }, encoder),
    );
  };
}

const PAGE_ONLY = 'must be absent: an earlier message cannot be replaced yet';

/** The text of the user's last message. @throws ApiError 422 for anything else. */
function getMessage({ messages: last, trigger, messageId }: UiChatBody): string {
  if (trigger !== 'submit-message') throw invalid('trigger', 'must be `submit-message`');
  if (typeof messageId === 'string') throw invalid('messageId', PAGE_ONLY);
  if (last.role !== 'user') throw invalid('messages', 'the last message must be of the role `user`');
  const texts = last.parts.map(({ type, text }) => {
    if (type === 'text' && typeof text === 'string') return text;
    throw invalid('messages', 'the parts of the last message must be text; attach files with `fileIds`');
  });
  const message = texts.join('\n');
  if (message.trim() === '') throw invalid('messages', 'the last message must have a text');
  return message;
}
