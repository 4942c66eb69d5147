import { createMailTools } from '../../support/approvals.ts';
import { callTool } from '../../support/execution.ts';
import { createScriptedProvider } from '../../support/model.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON, chatting } from './chat.ts';
import { eventCases } from './events.ts';

/** A quest that the user started, and the path to it. */
const ofQuest =
  (suffix = '', start = false) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const { key } = await app.issue({ scopes: ['ai:chat'] });
    const answer = await app.ask('POST', '/api/chat', { body: { message: 'Hi' }, credential: key });
    const { id } = (await answer.json()) as { id: string };
    if (start) {
      await app.api.start();
      await app.settle();
    }
    return { path: `/api/v1/quests/${id}${suffix}` };
  };

const pending = {
  id: AN_ID,
  sessionId: AN_ID,
  status: 'pending',
  type: 'message',
  reply: null,
  replies: [],
  images: [],
  videos: [],
  files: [],
  toolPayloads: [],
  createdAt: AT_NOON,
  updatedAt: AT_NOON,
};

const done = {
  ...pending,
  status: 'done',
  stopReason: 'stop',
  reply: 'Hello.',
  replies: ['Hello.'],
  promptMeta: { model: 'scripted', usage: { inputTokens: 10, outputTokens: 1 }, credits: 0.11 },
};

const NOT_FOUND = refused('public', { status: 404, message: 'Quest not found' });

export const getQuest: readonly WireCase[] = [
  {
    title: 'returns a waiting quest',
    app: chatting(),
    ask: ofQuest(),
    status: 200,
    body: pending,
    everywhere: true,
  },
  {
    title: 'returns a finished quest to its user with any credential',
    app: chatting(),
    caller: 'token',
    ask: ofQuest('', true),
    status: 200,
    body: done,
  },
  { title: 'answers 404 for an unknown quest', app: chatting(), ...NOT_FOUND, everywhere: true },
  {
    title: 'answers 404 for a malformed quest id',
    app: chatting(),
    ask: { path: '/api/v1/quests/nothing' },
    ...NOT_FOUND,
  },
];

export const cancelQuest: readonly WireCase[] = [
  {
    title: 'cancels a waiting quest',
    app: chatting(),
    ask: ofQuest('/cancel'),
    status: 200,
    body: { ...pending, status: 'stopped', reply: 'This turn was cancelled.' },
    everywhere: true,
  },
  {
    title: 'does not change a finished quest',
    app: chatting(),
    ask: ofQuest('/cancel', true),
    status: 200,
    body: done,
  },
  { title: 'answers 404 for an unknown quest', app: chatting(), ...NOT_FOUND },
];

export const getQuestEvents: readonly WireCase[] = eventCases(ofQuest, 'Quest');

const MAIL_APP = (): TestAppOptions => ({
  models: [createScriptedProvider((call) => callTool(call, 'send_mail', { to: 'bob@example.com' }))],
  settings: { admin: { DefaultAPIModel: 'scripted' }, tools: [createMailTools().tools] },
});
const APPROVE = { callId: '1.0', decision: 'approve' };

/** Decisions about a quest that waits. */
const deciding =
  (...decisions: object[]) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const { key } = await app.issue({ scopes: ['ai:chat'] });
    const body = { message: 'Hi', enableTools: true, approvals: true };
    const answer = await app.ask('POST', '/api/chat', { body, credential: key });
    const { id } = (await answer.json()) as { id: string };
    await app.api.start();
    await app.settle();
    return { path: `/api/v1/quests/${id}/decisions`, body: { decisions } };
  };

const waiting = {
  ...pending,
  status: 'waiting',
  promptMeta: { model: 'scripted', usage: { inputTokens: 10, outputTokens: 5 }, credits: 0.15 },
};
const UNKNOWN_CALL = 'no call of this quest waits under this id';

export const decideQuestCalls: readonly WireCase[] = [
  {
    title: 'approves a call',
    app: MAIL_APP,
    ask: deciding(APPROVE),
    status: 200,
    body: { ...waiting, status: 'pending' },
    everywhere: true,
  },
  {
    title: 'answers 400 for a call that does not wait',
    app: MAIL_APP,
    ask: deciding({ ...APPROVE, callId: '2.0' }),
    ...refused('public', { status: 400, message: `decisions.0.callId: ${UNKNOWN_CALL}` }),
  },
  {
    title: 'answers 422 for an input that the tool does not accept',
    app: MAIL_APP,
    ask: deciding({ callId: '1.0', decision: 'edit', input: {} }),
    ...refused('public', {
      status: 422,
      message: 'decisions.0.input.to: Invalid input: expected string, received undefined',
    }),
  },
  {
    title: 'answers 409 for a quest that has ended',
    app: chatting(),
    async ask(app) {
      const { path } = await ofQuest('/decisions', true)(app);
      return { path: path ?? '', body: { decisions: [APPROVE] } };
    },
    ...refused('public', {
      status: 409,
      message: 'The quest has ended: its calls can no longer be decided.',
    }),
  },
  {
    title: 'answers 404 for an unknown quest',
    app: chatting(),
    ask: { body: { decisions: [APPROVE] } },
    ...NOT_FOUND,
  },
];
