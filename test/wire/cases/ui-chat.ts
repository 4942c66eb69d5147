import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { createAnsweredSession, QUEST } from '../answered-session.ts';
import { refused, type WireCase } from './case.ts';
import { AT_NOON, chatting } from './chat.ts';

const BODY = {
  id: 'rivers',
  messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  trigger: 'submit-message',
};

const STREAM = {
  status: 200,
  headers: {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-vercel-ai-ui-message-stream': 'v1',
  },
  body: expect.stringMatching(
    /^: keep-alive\n\ndata: \{"type":"start",.*"type":"text-delta","id":"text-1","delta":"Hello\."\}\n\n.*data: \{"type":"finish","finishReason":"stop","messageMetadata":\{.*\}\}\n\ndata: \[DONE\]\n\n$/s,
  ),
} as const;

/** Runs the worker while the client reads. */
async function work(app: TestApp): Promise<void> {
  for (let count = 0; count < 50; count += 1) await turn();
  await app.api.start();
  for (let count = 0; count < 20; count += 1) {
    await app.settle();
    await app.clock.advance(100);
  }
}

/** Begins an answer that no worker writes yet. @returns its session. */
async function begin(app: TestApp): Promise<string> {
  const { key } = await app.issue({ scopes: ['ai:chat'] });
  const answer = await app.ask('POST', '/api/chat', { body: { message: 'Hi' }, credential: key });
  return ((await answer.json()) as { sessionId: string }).sessionId;
}

const running =
  (suffix: string, works = false) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const sessionId = await begin(app);
    if (works) void work(app);
    return { path: `/api/chat/${sessionId}${suffix}` };
  };

const LONG = 'x'.repeat(201);

/** Bodies of `useChat`. Its streams are in `test/chat/use-chat.test.ts`. */
export const withMessages: readonly WireCase[] = [
  {
    title: 'answers 409 while another answer is being written',
    app: chatting(),
    ask: async (app) => ({ body: { ...BODY, id: await begin(app) } }),
    ...refused('public', {
      status: 409,
      message: 'An answer is still being written in this session. Wait for its end, or stop it.',
    }),
  },
];

export const resumeUiChat: readonly WireCase[] = [
  {
    title: 'answers 204 for a chat without a running answer',
    app: chatting(),
    ask: { path: '/api/chat/rivers/stream' },
    status: 204,
    body: '',
    everywhere: true,
  },
  {
    title: 'streams the running answer from its beginning',
    app: chatting(),
    ask: running('/stream', true),
    ...STREAM,
  },
  {
    title: 'answers 404 for an id that is too long',
    app: chatting(),
    ask: { path: `/api/chat/${LONG}/stream` },
    ...refused('public', { status: 404, message: 'Session not found' }),
  },
];

export const stopUiChat: readonly WireCase[] = [
  {
    title: 'stops the running answer',
    app: chatting(),
    ask: running('/stop'),
    status: 204,
    body: '',
    everywhere: true,
  },
  {
    title: 'answers 204 for a chat without a running answer',
    app: chatting(),
    ask: { path: '/api/chat/rivers/stop' },
    status: 204,
    body: '',
  },
  {
    title: 'answers 404 for an id that is too long',
    app: chatting(),
    ask: { path: `/api/chat/${LONG}/stop` },
    ...refused('public', { status: 404, message: 'Session not found' }),
  },
];

export const listUiMessages: readonly WireCase[] = [
  {
    title: 'lists the messages of a session as those of a page',
    ask: async (app) => ({ path: `/api/chat/${await createAnsweredSession(app)}/messages` }),
    status: 200,
    body: {
      data: [
        {
          id: `${QUEST}.question`,
          role: 'user',
          metadata: { sessionId: expect.any(String), createdAt: AT_NOON },
          parts: [{ type: 'text', text: 'Hi' }],
        },
        {
          id: QUEST,
          role: 'assistant',
          metadata: { sessionId: expect.any(String), createdAt: AT_NOON },
          parts: [{ type: 'text', text: 'Hello.', state: 'done' }],
        },
      ],
      next_cursor: null,
    },
    everywhere: true,
  },
  {
    title: 'answers an empty list for a chat without messages',
    ask: { path: '/api/chat/rivers/messages' },
    status: 200,
    body: { data: [], next_cursor: null },
  },
  {
    title: 'answers 404 for the id of an unknown session',
    ask: { path: `/api/chat/${'f'.repeat(24)}/messages` },
    ...refused('public', { status: 404, message: 'Session not found' }),
  },
  {
    title: 'rejects a cursor of another list',
    ask: { path: '/api/chat/rivers/messages?cursor=abc' },
    ...refused('public', {
      status: 422,
      message: 'cursor: not a cursor of this list; start again without one',
    }),
  },
];
