import { expect } from 'vitest';
import type { Asked } from '../../support/wire.ts';
import type { World } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON, chatting } from './chat.ts';

const PATH = '/api/v1/agent-executions';

/** A session of the user's own. */
async function session(world: World): Promise<string> {
  const { key } = await world.issue({ scopes: ['notebooks:write'] });
  const answer = await world.ask('POST', '/api/v1/sessions', { body: { name: 'Work' }, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const wanting =
  (more: object = {}) =>
  async (world: World): Promise<Partial<Asked>> => ({
    body: { session_id: await session(world), message: 'Do it', ...more },
  });

/** A run that somebody has started, and the path to it. */
const ofRun =
  (suffix = '', start = false) =>
  async (world: World): Promise<Partial<Asked>> => {
    const { key } = await world.issue({ scopes: ['ai:generate'] });
    const { body } = await wanting()(world);
    const answer = await world.ask('POST', PATH, { body, credential: key });
    const { id } = (await answer.json()) as { id: string };
    if (start) {
      await world.api.start();
      await world.settle();
    }
    return { path: `${PATH}/${id}${suffix}` };
  };

export const startAgentExecution: readonly WireCase[] = [
  {
    title: 'accepts',
    world: chatting(),
    ask: wanting(),
    status: 202,
    body: {
      id: AN_ID,
      status: 'pending',
      session_id: AN_ID,
      model: 'scripted',
      timestamp: AT_NOON,
      tracking_info: {
        execution_id: AN_ID,
        poll_url: expect.stringMatching(/^\/api\/v1\/agent-executions\/[0-9a-f]{24}$/),
        quest_id: AN_ID,
      },
    },
    everywhere: true,
  },
  {
    title: 'no usable model',
    world: () => ({ ...chatting()(), settings: {} }),
    ask: wanting(),
    ...refused('public', { status: 400, message: 'model: name one; there is no default model' }),
  },
  {
    title: 'a session that is not there',
    world: chatting(),
    ask: { body: { session_id: '0'.repeat(24), message: 'Do it' } },
    ...refused('public', { status: 404, message: 'Session not found' }),
    everywhere: true,
  },
  {
    title: 'with an agent, while agents are switched off',
    world: chatting(undefined, {
      settings: { admin: { DefaultAPIModel: 'scripted', EnableAgents: false } },
    }),
    ask: wanting({ agent_id: '0'.repeat(24) }),
    ...refused('public', { status: 403, message: 'Agents are switched off' }),
  },
  {
    title: 'more at once than there may be',
    world: chatting(undefined, { settings: { maxLiveExecutions: 1 } }),
    ask: async (world) => {
      await ofRun()(world);
      return wanting()(world);
    },
    ...refused('public', {
      status: 409,
      message: '1 runs of yours are under way; wait until one has ended',
    }),
  },
  {
    title: 'a field that is not known',
    world: chatting(),
    ask: { body: { session_id: '0'.repeat(24), message: 'Do it', sessionId: null } },
    ...refused('public', { status: 422, message: 'Unrecognized key: "sessionId"' }),
  },
  {
    title: 'a server that is about to stop',
    world: chatting(),
    ask: async (world) => {
      const asked = await wanting()(world);
      await world.api.drain(0);
      return asked;
    },
    headers: { 'retry-after': '5' },
    ...refused('public', { status: 503, message: 'The service is about to restart. Try again shortly.' }),
  },
];

const pending = {
  id: AN_ID,
  status: 'pending',
  session_id: AN_ID,
  answer: null,
  error: null,
  steps: [],
  total_iterations: null,
  created_at: AT_NOON,
  updated_at: AT_NOON,
};

const completed = {
  ...pending,
  status: 'completed',
  answer: 'Hello.',
  steps: [{ type: 'final_answer', content: 'Hello.', iteration: 1 }],
  total_iterations: 1,
};

const NOT_FOUND = refused('public', { status: 404, message: 'Agent execution not found' });

export const getAgentExecution: readonly WireCase[] = [
  {
    title: 'shows a run that waits',
    world: chatting(),
    ask: ofRun(),
    status: 200,
    body: pending,
    everywhere: true,
  },
  {
    title: 'shows a run that has ended, to its user however signed in',
    world: chatting(),
    caller: 'token',
    ask: ofRun('', true),
    status: 200,
    body: completed,
  },
  { title: 'an unknown one', world: chatting(), ...NOT_FOUND },
];

export const cancelAgentExecution: readonly WireCase[] = [
  {
    title: 'aborts a run that waits',
    world: chatting(),
    ask: ofRun('/cancel'),
    status: 200,
    body: { ...pending, status: 'aborted', error: 'This run was cancelled.' },
    everywhere: true,
  },
  {
    title: 'leaves a run alone that has ended',
    world: chatting(),
    ask: ofRun('/cancel', true),
    status: 200,
    body: completed,
  },
  { title: 'an unknown one', world: chatting(), ...NOT_FOUND },
];
