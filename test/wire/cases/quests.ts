import type { Asked } from '../../support/wire.ts';
import type { World } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON, chatting } from './chat.ts';

/** A quest that somebody has started, and the path to it. */
const ofQuest =
  (suffix = '', start = false) =>
  async (world: World): Promise<Partial<Asked>> => {
    const { key } = await world.issue({ scopes: ['ai:chat'] });
    const answer = await world.ask('POST', '/api/chat', { body: { message: 'Hi' }, credential: key });
    const { id } = (await answer.json()) as { id: string };
    if (start) {
      await world.api.start();
      await world.settle();
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
  reply: 'Hello.',
  replies: ['Hello.'],
  promptMeta: { model: 'scripted', usage: { inputTokens: 10, outputTokens: 1 }, credits: 0.11 },
};

const NOT_FOUND = refused('public', { status: 404, message: 'Quest not found' });

export const getQuest: readonly WireCase[] = [
  {
    title: 'shows a quest that waits',
    world: chatting(),
    ask: ofQuest(),
    status: 200,
    body: pending,
    everywhere: true,
  },
  {
    title: 'shows a quest that is done, to its user however signed in',
    world: chatting(),
    caller: 'token',
    ask: ofQuest('', true),
    status: 200,
    body: done,
  },
  { title: 'an unknown one', world: chatting(), ...NOT_FOUND, everywhere: true },
  {
    title: 'a malformed one',
    world: chatting(),
    ask: { path: '/api/v1/quests/nothing' },
    ...NOT_FOUND,
  },
];

export const cancelQuest: readonly WireCase[] = [
  {
    title: 'stops a quest that waits',
    world: chatting(),
    ask: ofQuest('/cancel'),
    status: 200,
    body: { ...pending, status: 'stopped', reply: 'This turn was cancelled.' },
    everywhere: true,
  },
  {
    title: 'leaves a quest alone that is done',
    world: chatting(),
    ask: ofQuest('/cancel', true),
    status: 200,
    body: done,
  },
  { title: 'an unknown one', world: chatting(), ...NOT_FOUND },
];
