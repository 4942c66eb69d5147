import { MESSAGES } from '@questline/core';
import type { World } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AT_NOON } from './chat.ts';

const QUEST = 'e'.repeat(24);

/** A session in which something was said and answered. */
async function talkedIn({ ask, issue, services, user, clock }: World): Promise<string> {
  const { key } = await issue({ scopes: ['notebooks:write'] });
  const made = await ask('POST', '/api/v1/sessions', { body: { name: 'Talk' }, credential: key });
  const { id: sessionId } = (await made.json()) as { id: string };
  const messages = services.store.collection(MESSAGES);
  const common = { sessionId, ownerId: user.id, questId: QUEST, createdAt: clock.now() };
  await messages.insert({ ...common, id: '1'.repeat(24), role: 'user', content: 'Hi' });
  await messages.insert({ ...common, id: '2'.repeat(24), role: 'assistant', content: 'Hello.' });
  return sessionId;
}

const HI = { id: '1'.repeat(24), role: 'user', content: 'Hi', questId: QUEST, createdAt: AT_NOON };
const HELLO = { ...HI, id: '2'.repeat(24), role: 'assistant', content: 'Hello.' };
const PAGE = { page: 1, limit: 20, total: 2, pages: 1, totalPages: 1, hasNext: false, hasPrev: false };

export const listMessages: readonly WireCase[] = [
  {
    title: 'shows what was said, newest first',
    ask: async (world) => ({ path: `/api/sessions/${await talkedIn(world)}/messages` }),
    status: 200,
    body: { messages: [HELLO, HI], pagination: PAGE },
    everywhere: true,
  },
  {
    title: 'in the order it was said, a page at a time',
    ask: async (world) => ({
      path: `/api/sessions/${await talkedIn(world)}/messages?order=asc&limit=1`,
    }),
    status: 200,
    body: {
      messages: [HI],
      pagination: { ...PAGE, limit: 1, pages: 2, totalPages: 2, hasNext: true },
    },
  },
  {
    title: 'a page of too many',
    ask: async (world) => ({ path: `/api/sessions/${await talkedIn(world)}/messages?limit=101` }),
    ...refused('application', {
      status: 422,
      message: 'limit: expected at most 100, got 3 characters of text',
      details: [{ path: 'limit', message: 'expected at most 100, got 3 characters of text' }],
    }),
  },
  {
    title: "somebody else's session",
    ask: async (world) => {
      const { key } = await world.issue({
        userId: (await world.addUser('eve@example.com')).id,
        scopes: ['notebooks:write'],
      });
      const made = await world.ask('POST', '/api/v1/sessions', { body: { name: 'Hers' }, credential: key });
      return { path: `/api/sessions/${((await made.json()) as { id: string }).id}/messages` };
    },
    ...refused('application', { status: 404, message: 'Session not found' }),
  },
  { title: 'an unknown session', ...refused('application', { status: 404, message: 'Session not found' }) },
];
