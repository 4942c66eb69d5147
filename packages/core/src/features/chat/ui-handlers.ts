import type { Call } from '../../contract/call.ts';
import { Reply } from '../../contract/reply.ts';
import { STREAM_HEADERS } from '../../http/sse.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import type { BodyVariant, PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { sealSystemPrompt } from '../../prompts/sealed-texts.ts';
import { type BeginServices, createBeginQuest } from '../../runs/begin.ts';
import { createDecideQuest, type DecisionServices } from '../../runs/decisions.ts';
import { type LiveReaderServices, streamEvents, toLiveView } from '../../runs/live-reader.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { questJob } from '../../runs/quest-job.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { hasEnded } from '../../runs/states.ts';
import { createStopQuest } from '../../runs/stop.ts';
import { withProgress } from '../../runs/text-pieces.ts';
import { notFound } from '../../shared/errors.ts';
import { readableBy } from '../quests/wire.ts';
import { canReadSession } from '../sessions/access.ts';
import { SESSIONS } from '../sessions/records.ts';
import { type AcceptServices, createAcceptMessage } from './accept.ts';
import type { ChatBody } from './contract.ts';
import { CHAT } from './job.ts';
import type { ChatRequest } from './request.ts';
import { createUiChats } from './ui-chats.ts';
import { createUiEncoder } from './ui-chunks.ts';
import {
  isUiChatBody,
  resumeUiChat,
  sendUiMessages,
  stopUiChat,
  UI_BODY_LIMIT,
  type UiChatBody,
  uiChatBody,
} from './ui-contract.ts';
import { findFileParts, getCreatedFiles, type UiPart } from './ui-data.ts';
import { isDecision, readDecisions } from './ui-decisions.ts';
import { createSaveUiFiles, type UiFileServices } from './ui-files.ts';
import { readMessage, type SentMessage } from './ui-message.ts';
import type { ContinuedMessage } from './ui-parts.ts';

/** The services of `createUiChatHandler`; `Services` satisfies it. */
export interface UiChatServices
  extends PipelineServices,
    AcceptServices,
    BeginServices,
    LiveReaderServices,
    DecisionServices,
    UiFileServices {
  readonly questEvents: QuestEvents;
  readonly runningQuests: RunningQuests;
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
    limit: UI_BODY_LIMIT,
    schema: uiChatBody,
    // The pipeline passes the output of the schema.
    handler: ({ body }, call) => send(body as UiChatBody, call as Call),
  };
}

/** `GET /api/chat/{id}/stream` */
export function createResumeUiChatHandler(services: UiChatServices): Route {
  const chats = createUiChats(services);
  const stream = createStream(services);
  return defineRoute(resumeUiChat, services, async ({ params }, call) => {
    const quest = await chats.findRunning(call.caller.userId, params.id, 'read');
    return quest === undefined ? new Reply(204, {}, undefined) : stream(quest, call);
  });
}

/** `POST /api/chat/{id}/stop` */
export function createStopUiChatHandler(services: UiChatServices): Route {
  const chats = createUiChats(services);
  const stop = createStopQuest(services);
  return defineRoute(stopUiChat, services, async ({ params }, { caller }) => {
    const quest = await chats.findRunning(caller.userId, params.id, 'edit');
    if (quest !== undefined) await stop(quest.id, STOPPED);
    return undefined;
  });
}

/** Accepts the last message of the user, and streams the answer. */
function createSend(services: UiChatServices, path: string) {
  const accept = createAcceptMessage(services);
  const begin = createBeginQuest(services);
  const chats = createUiChats(services);
  const stream = createStream(services);
  const decide = createDecideQuest(services);

  const saveFiles = createSaveUiFiles(services);

  const toTurn = async (
    { text, files, fileIds }: SentMessage,
    attached: readonly string[],
    call: Call,
  ): Promise<Pick<ChatBody, 'message' | 'fileIds'>> => {
    const { userId } = call.caller;
    const saved = await saveFiles(files, { userId, signal: call.signal });
    return { message: text, fileIds: [...attached, ...fileIds, ...saved] };
  };

  /** The files of a stored message that can still be used. */
  const findLeft = async (userId: string, ids: readonly string[] = []): Promise<string[]> => {
    const found = await services.files.findAll(userId, ids);
    return ids.filter((id) => found.get(id)?.isClean === true);
  };

  return async (body: UiChatBody, call: Call): Promise<Reply> => {
    const { userId } = call.caller;
    if (isDecision(body)) {
      const quest = await chats.findRunning(userId, body.id, 'edit');
      if (quest?.ownerId === userId && (quest.wait ?? quest.decided) !== undefined) {
        const { decisions, toolCallIds } = readDecisions(quest, body.messages);
        await decide(quest.id, decisions);
        return stream(quest, call, { ...getShown(quest), toolCallIds });
      }
    }
    // A regeneration needs no message.
    const sent = body.trigger === 'submit-message' ? readMessage(body.messages) : undefined;
    const answer = await begin(
      { call, path, body },
      async () => {
        const { session, replaced, ids } = await chats.next(userId, body);
        const { repeated, ...plan } = replaced ?? { pageId: body.messages.id };
        const { id: _id, messages: _messages, trigger: _trigger, messageId: _messageId, ...options } = body;
        const turn: ChatBody = {
          ...options,
          ...(repeated === undefined
            ? await toTurn(sent ?? readMessage(body.messages), body.fileIds, call)
            : { message: repeated.content, fileIds: await findLeft(userId, repeated.fileIds) }),
          wait: false,
          stream: false,
          ...(session === undefined ? { newConversation: true } : { sessionId: session.id }),
        };
        return accept(turn, call, {
          ...plan,
          ...ids,
          isFollowed: true,
          ...(repeated && { isRepeated: true }),
        });
      },
      (id, { sessionId }) =>
        questJob(
          { id, kind: CHAT, ownerId: userId },
          { sessionId, ...sealSystemPrompt(services.textBox, id, body.systemPrompt) },
        ),
    );
    return stream({ ...answer, request: { clientTools: body.clientTools } }, call);
  };
}

/** What a page has of a message that waited. `after`: the last event of it; undefined: unknown. */
type ShownMessage = ContinuedMessage & { readonly after: number | undefined };

/** What the page of a decision has: all until the wait. A repeated decision comes while the work goes on. */
function getShown({ text = '', wait, lastWait }: QuestRecord): Pick<ShownMessage, 'text' | 'after'> {
  if (wait !== undefined) return { text, after: wait.lastEvent };
  return { text: text.slice(0, lastWait?.textLength), after: lastWait?.lastEvent };
}

/** Streams a turn from its beginning. It goes on when the reader leaves. */
function createStream(services: UiChatServices) {
  const quests = services.store.collection(QUESTS);
  const sessions = services.store.collection(SESSIONS);
  return (
    { id, sessionId, request }: Pick<QuestRecord, 'id' | 'sessionId'> & { readonly request: object },
    { caller, signal, mountPath }: Call,
    continued?: ShownMessage,
  ): Reply => {
    const { userId } = caller;
    const findFiles = async (quest: QuestRecord): Promise<readonly UiPart[]> => {
      const fileIds = hasEnded(quest) ? getCreatedFiles(quest) : [];
      return [...(await findFileParts(services.library, { userId, mountPath }, fileIds)).values()];
    };
    const load = async () => {
      const found = await quests.get(id);
      const session = found && (await sessions.get(found.sessionId, canReadSession(userId)));
      if (found === undefined || session === undefined) throw notFound('Quest');
      const quest = await withProgress(services, found);
      const view = { quest: readableBy(quest, userId), files: await findFiles(quest) };
      return { ...toLiveView(quest, view), isOver: hasEnded(quest) || quest.status === 'waiting' };
    };
    const names = ((request as Partial<ChatRequest>).clientTools ?? []).map(({ name }) => name);
    const encoder = createUiEncoder({ id, sessionId, clientTools: new Set(names), continued });
    const after = continued === undefined ? 0 : continued.after;
    return new Reply(
      200,
      UI_HEADERS,
      streamEvents(services, { stream: id, after, endsAtWait: true, signal, load }, encoder),
    );
  };
}
