import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { chatBody, sendChatMessage } from './contract.ts';

/** Longest id of a chat, in characters. */
const MAX_CHAT_ID = 200;

const chatId = z.string().min(1).max(MAX_CHAT_ID);

const part = z.looseObject({
  type: z.string().describe('The kind of the part.'),
  text: z.unknown().describe('The text of a part of the type `text`.'),
});

const message = z.looseObject({
  role: z.string().describe('Who wrote the message.'),
  parts: z.array(part).describe('The parts of the message. Only text is read.'),
});

/** The body of `useChat`: its own fields, and those of a message. */
export const uiChatBody = chatBody
  .omit({ message: true, sessionId: true, newConversation: true, wait: true, stream: true })
  .extend({
    id: chatId.describe('The id of the chat: the id of a session, or any other text.'),
    messages: z
      .array(z.unknown())
      .min(1)
      .transform((all) => all.at(-1))
      .pipe(message)
      .describe('The messages of the page. Only the last one is read; the earlier ones are stored.'),
    trigger: z
      .enum(['submit-message', 'regenerate-message'])
      .default('submit-message')
      .describe('What the user did.'),
    messageId: z.string().nullish().describe('The message to replace.'),
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
  input: { body: uiChatBody },
  output: { 200: streamOutput },
});

/** Any text: an id of `useChat` is not ours. */
const chatParams = z.object({
  id: chatId.describe('The id of the chat, as `useChat` sends it: the id of a session, or any other text.'),
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
