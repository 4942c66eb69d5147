import type { TestApp } from '../../support/test-app.ts';
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
