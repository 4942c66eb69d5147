import * as z from 'zod';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { defineOperation } from '../../contract/operation.ts';
import { chatBody, sendChatMessage } from './contract.ts';

/** 25 MiB: pages send files as data URLs, those of earlier messages again and again. */
export const UI_BODY_LIMIT = 25 * 2 ** 20;

/** Longest id of a chat, in characters. */
const MAX_CHAT_ID = 200;

const chatId = z.string().min(1).max(MAX_CHAT_ID);

const part = z.looseObject({
  type: z.string().describe('The kind of the part.'),
  text: z.unknown().optional().describe('The text of a part of the type `text`.'),
  url: z.unknown().optional().describe('The https URL or data URL of a part of the type `file`.'),
  filename: z.unknown().optional().describe('The name of the file.'),
  providerMetadata: z
    .unknown()
    .optional()
    .describe('`questline.fileId` names a stored file; its `url` has no effect then.'),
});

const pageId = z.string().min(1).max(MAX_CHAT_ID);

const message = z.looseObject({
  id: pageId.optional().describe('The id of the message in the page.'),
  role: z.string().describe('Who wrote the message.'),
  parts: z.array(part).describe('The parts of the message: text, files and decisions about tool calls.'),
});

/** The last message, its position, and the id of the one before it. */
const lastMessage = message.extend({
  index: z.number().describe('The position of the message.'),
  previousId: z.unknown().describe('The id of the message before it.'),
});

export type LastMessage = z.output<typeof lastMessage>;

function getLast(all: readonly unknown[]): unknown {
  const [previous, last] = all.length === 1 ? [undefined, all[0]] : all.slice(-2);
  if (typeof last !== 'object' || last === null) return last;
  const previousId = (previous as { id?: unknown } | null | undefined)?.id;
  return { ...last, index: all.length - 1, previousId };
}

/** The body of `useChat`: its own fields, and those of a message. */
export const uiChatBody = chatBody
  .omit({ message: true, sessionId: true, newConversation: true, wait: true, stream: true })
  .extend({
    id: chatId.describe('The id of the chat: the id of a session, or any other text.'),
    messages: z
      .array(z.unknown())
      .min(1)
      .transform(getLast)
      .pipe(lastMessage)
      .describe('The messages of the page. Only the last one is read; the earlier ones are stored.'),
    trigger: z
      .enum(['submit-message', 'regenerate-message'])
      .default('submit-message')
      .describe('`regenerate-message` answers a stored message of the user again.'),
    messageId: pageId
      .nullish()
      .describe(
        'The message to replace, with all that follow it: a message of the user, or an answer to regenerate. Default for ' +
          '`regenerate-message`: the last answer.',
      ),
  });

export type UiChatBody = z.output<typeof uiChatBody>;

/** Whether a body of `POST /api/chat` is that of `useChat`. */
export function isUiChatBody(body: unknown): boolean {
  return (
    typeof body === 'object' &&
    body !== null &&
    Object.hasOwn(body, 'messages') &&
    !Object.hasOwn(body, 'message')
  );
}

const streamOutput = {
  description: 'The UI message stream of the AI SDK: its chunks as server-sent events, and at last `[DONE]`.',
  contentType: 'text/event-stream',
  schema: z.union([
    z.looseObject({ type: z.string().describe('The kind of the chunk.') }),
    z.literal('[DONE]').describe('The end of the stream.'),
  ]),
  headers: {
    'X-Accel-Buffering': '`no`: proxies must not buffer the stream.',
    'X-Vercel-AI-UI-Message-Stream': '`v1`',
  },
} as const;

/** `sendChatMessage` for `useChat` alone, at a path of the host. */
export const sendUiMessages = defineOperation({
  id: 'sendUiMessages',
  paid: true,
  method: 'POST',
  path: '/api/ui-chat',
  summary: 'Send a message of a UI and stream the answer',
  auth: 'key-or-token',
  scopes: sendChatMessage.scopes,
  rate: sendChatMessage.rate,
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Session',
  idempotent: true,
  bodyLimit: UI_BODY_LIMIT,
  input: { body: uiChatBody },
  output: { 200: streamOutput },
});

/** Any text: an id of `useChat` is not ours. */
const chatParams = z.object({
  id: chatId.describe('The id of the chat, as `useChat` sends it: the id of a session, or any other text.'),
});

const uiMessage = z.object({
  id: z.string().describe('The id of the message in pages. It does not change.'),
  role: z.enum(['user', 'assistant']).describe('Who wrote the message.'),
  metadata: z
    .record(z.string(), z.unknown())
    .describe('`sessionId` and `createdAt`; of an answer also `questId`, `model`, `usage` and `credits`.'),
  parts: z
    .array(z.looseObject({ type: z.string().describe('The kind of the part.') }))
    .describe('The parts of the message, as the AI SDK defines them.'),
});

export type UiMessage = z.input<typeof uiMessage>;

export const listUiMessages = defineOperation({
  id: 'listUiMessages',
  method: 'GET',
  path: '/api/chat/{id}/messages',
  tag: 'AI',
  summary: 'List the messages of a chat for useChat',
  description:
    'The newest messages, oldest first, as `UIMessage` of the AI SDK: pass `data` to `useChat` as `messages`. Pass `next_cursor` ' +
    'as `cursor` to get earlier ones. The question of a running answer is the last message. A chat without messages is empty, ' +
    'whatever its name. URLs of files are valid for 15 minutes.',
  auth: 'key-or-token',
  scopes: ['notebooks:read', 'notebooks:write'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Session',
  input: { params: chatParams, query: pageQuery },
  output: { 200: { description: 'A page of messages.', schema: cursorPage(uiMessage) } },
});

export const resumeUiChat = defineOperation({
  id: 'resumeUiChat',
  method: 'GET',
  path: '/api/chat/{id}/stream',
  tag: 'AI',
  summary: 'Resume the stream of a chat',
  description:
    'For `useChat` of the AI SDK with `resume: true`. Sends the answer that is being written from its beginning. 204 when ' +
    'none is, also for a chat that is unknown to the caller.',
  auth: 'key-or-token',
  scopes: ['notebooks:read', 'ai:chat', 'ai:generate'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Session',
  input: { params: chatParams },
  output: {
    200: streamOutput,
    204: { description: 'No answer is being written in this chat.' },
  },
});

export const stopUiChat = defineOperation({
  id: 'stopUiChat',
  method: 'POST',
  path: '/api/chat/{id}/stop',
  tag: 'AI',
  summary: 'Stop the answer of a chat',
  description:
    'Stops the answer that is being written. The work done so far is charged. 204 also when none is, and for a chat that is ' +
    'unknown to the caller. A body is ignored. Closing the stream does not stop the answer.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Session',
  input: { params: chatParams },
  output: { 204: { description: 'No answer is being written in this chat any more.' } },
});
