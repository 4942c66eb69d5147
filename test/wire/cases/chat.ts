import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'vitest';
import { sayAtOnce, silent } from '../../support/chat.ts';
import { NO_SESSION } from '../../support/expected.ts';
import { createScriptedProvider } from '../../support/model.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import { refused, type WireCase } from './case.ts';

export const AN_ID = expect.stringMatching(/^[0-9a-f]{24}$/);
export const AT_NOON = '2026-11-21T12:00:00.000Z';

/** An app with a chat model. Its worker is stopped until a case starts it. */
export function chatting(onCall = sayAtOnce('Hello.'), more: TestAppOptions = {}): () => TestAppOptions {
  return () => ({
    ...more,
    models: [createScriptedProvider(onCall)],
    settings: { admin: { DefaultAPIModel: 'scripted' }, ...more.settings },
  });
}

const POLL_URL = expect.stringMatching(/^\/api\/v1\/quests\/[0-9a-f]{24}$/);

const acknowledged = {
  id: AN_ID,
  status: 'queued',
  message_received: true,
  timestamp: AT_NOON,
  model: 'scripted',
  tracking_info: { quest_id: AN_ID, check_status_url: POLL_URL, poll_url: POLL_URL },
  sessionId: AN_ID,
};

const started =
  (body: object) =>
  async (app: TestApp): Promise<{ body: object }> => {
    await app.api.start();
    return { body };
  };

/** Advances the clock by a minute while the client waits. */
async function waitTooLong(app: TestApp): Promise<void> {
  for (let count = 0; count < 50; count += 1) await turn();
  await app.clock.advance(60_000);
}

/** Bodies that violate the schema or name things that the caller cannot use. */
const refusals: readonly [more: object, status: number, message: string][] = [
  [{ message: null }, 422, 'message: expected string, got null'],
  [{ temperature: 2.1 }, 422, 'temperature: Too big: expected number to be <=2, got 2.1'],
  [{ max_tokens: 0 }, 422, 'max_tokens: Too small: expected number to be >0, got 0'],
  [{ maxTokens: -1 }, 422, 'maxTokens: Too small: expected number to be >0, got -1'],
  [{ historyCount: 0 }, 422, 'historyCount: Too small: expected number to be >0, got 0'],
  [{ fileIds: 'x' }, 422, 'fileIds: expected array, got 1 characters of text'],
  [
    { toolMode: 'slow' },
    422,
    'toolMode: Invalid option: expected one of "fast"|"smart", got 4 characters of text',
  ],
  [
    { systemPrompt: '\u{1F600}'.repeat(16_001) },
    422,
    'systemPrompt: expected at most 16000 characters, got 16001 characters of text',
  ],
  [{ model: 'unknown' }, 400, "Model info not found for 'unknown'"],
  [{ sessionId: 'mine' }, 404, 'Session not found'],
  [{ organizationId: 'f'.repeat(24) }, 404, 'Organization not found'],
  [{ fileIds: ['f'.repeat(24)] }, 404, 'File not found'],
];

export const sendChatMessage: readonly WireCase[] = [
  ...refusals.map(
    ([more, status, message]): WireCase => ({
      title: `rejects: ${message}`,
      app: chatting(),
      ask: { body: { message: 'Hi', ...more } },
      ...refused('public', { status, message }),
    }),
  ),
  {
    title: 'accepts a system prompt of 16,000 characters outside the basic plane, and ignores unknown fields',
    app: chatting(),
    ask: { body: { message: 'Hi', systemPrompt: '\u{1F600}'.repeat(16_000), sessionId: null, unknown: 1 } },
    status: 200,
    body: acknowledged,
  },
  {
    title: 'answers a signed-in user without a session',
    app: chatting(),
    caller: 'token',
    ask: { body: { message: 'Hi' } },
    ...refused('public', { status: 404, message: NO_SESSION }),
  },
  {
    title: 'acknowledges a message',
    app: chatting(),
    ask: { body: { message: 'Hi' } },
    status: 200,
    body: acknowledged,
    everywhere: true,
  },
  {
    title: 'acknowledges a signed-in user and echoes the requested tools',
    app: chatting(),
    caller: 'token',
    ask: { body: { message: 'Hi', newConversation: true, toolMode: 'smart', tools: ['odd', 'odd'] } },
    status: 200,
    body: {
      ...acknowledged,
      tools: {
        toolMode: 'smart',
        autoSelectedTools: [],
        effectiveTools: [],
        unrecognizedTools: ['odd'],
      },
    },
  },
  {
    title: 'returns the complete answer to a waiting client',
    app: chatting(),
    ask: started({
      message: 'Hi',
      wait: true,
      includePromptDetails: true,
      includeSystemPrompt: true,
      promptMode: 'raw',
    }),
    status: 200,
    body: {
      ...acknowledged,
      status: 'done',
      stopReason: 'stop',
      type: 'message',
      response: 'Hello.',
      responses: ['Hello.'],
      toolPayloads: [],
      createdAt: AT_NOON,
      performance: { total_ms: 0, phases: { load: 0, prompt: 0, model: 0, tools: 0, store: 0 } },
      promptDetails: [
        {
          source: 'hardcoded',
          name: 'base',
          tokenCount: expect.any(Number),
          wasIncluded: false,
          exclusionReason: 'disabled',
        },
      ],
      promptText: '',
    },
    everywhere: true,
  },
  {
    title: 'reports a failed turn with 200',
    app: chatting(undefined, { credits: 0.5 }),
    ask: started({ message: 'Hi', wait: true }),
    status: 200,
    body: {
      ...acknowledged,
      status: 'done',
      type: 'error',
      errorCode: 'insufficient_credits',
      response: expect.stringMatching(/^Insufficient credits\. You have 0\.5 credits/),
      responses: [expect.any(String)],
      toolPayloads: [],
      createdAt: AT_NOON,
      performance: { total_ms: 0, phases: { load: 0, prompt: 0, model: 0, tools: 0, store: 0 } },
    },
  },
  {
    title: 'rejects a request without a usable model',
    app: () => ({ ...chatting()(), models: [], settings: {} }),
    ask: { body: { message: 'Hi' } },
    ...refused('public', {
      status: 400,
      message:
        'There is no chat model on this server: no model provider has a key. Its operator has to add one.',
    }),
    everywhere: true,
  },
  {
    title: 'answers 404 for an unknown session',
    app: chatting(),
    ask: { body: { message: 'Hi', sessionId: '0'.repeat(24) } },
    ...refused('public', { status: 404, message: 'Session not found' }),
  },
  {
    title: 'rejects a session together with a new conversation',
    app: chatting(),
    ask: { body: { message: 'Hi', sessionId: '0'.repeat(24), newConversation: true } },
    ...refused('public', { status: 422, message: 'newConversation: cannot be combined with sessionId' }),
  },
  {
    title: 'rejects a request without a message',
    app: chatting(),
    ask: { body: {} },
    ...refused('public', {
      status: 422,
      message: 'message: is required',
    }),
    everywhere: true,
  },
  {
    title: 'rejects a system prompt that is too long',
    app: chatting(),
    ask: { body: { message: 'Hi', systemPrompt: 'x'.repeat(16_001) } },
    ...refused('public', {
      status: 422,
      message: 'systemPrompt: expected at most 16000 characters, got 16001 characters of text',
    }),
  },
  {
    title: 'rejects an invalid idempotency key',
    app: chatting(),
    ask: { body: { message: 'Hi' }, headers: { 'Idempotency-Key': '' } },
    ...refused('public', {
      status: 422,
      message: 'Idempotency-Key: expected 1 to 255 printable ASCII characters',
      errorCode: 'invalid_idempotency_key',
    }),
  },
  {
    title: 'rejects during shutdown',
    app: chatting(),
    ask: async (app) => {
      await app.api.drain(0);
      return { body: { message: 'Hi' } };
    },
    headers: { 'retry-after': '5' },
    ...refused('public', { status: 503, message: 'The service is about to restart. Try again shortly.' }),
    everywhere: true,
  },
  {
    title: 'reports a reply that takes too long',
    app: chatting(silent),
    ask: async (app) => {
      void waitTooLong(app);
      return started({ message: 'Hi', wait: true })(app);
    },
    ...refused('public', {
      status: 504,
      message: 'The reply was not ready in time. Poll the quest for it.',
      errorCode: 'request_timeout',
      extra: { quest_id: AN_ID, sessionId: AN_ID },
    }),
  },
];
