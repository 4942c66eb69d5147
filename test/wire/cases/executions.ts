import { expect } from 'vitest';
import type { TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON, chatting } from './chat.ts';
import { eventCases } from './events.ts';

const PATH = '/api/v1/agent-executions';

/** A session of the user. */
async function session(app: TestApp): Promise<string> {
  const { key } = await app.issue({ scopes: ['notebooks:write'] });
  const answer = await app.ask('POST', '/api/v1/sessions', { body: { name: 'Work' }, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const wanting =
  (more: object = {}) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    body: { session_id: await session(app), message: 'Do it', ...more },
  });

/** A run that the user started, and the path to it. */
const ofRun =
  (suffix = '', start = false) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const { key } = await app.issue({ scopes: ['ai:generate'] });
    const { body } = await wanting()(app);
    const answer = await app.ask('POST', PATH, { body, credential: key });
    const { id } = (await answer.json()) as { id: string };
    if (start) {
      await app.api.start();
      await app.settle();
    }
    return { path: `${PATH}/${id}${suffix}` };
  };

export const startAgentExecution: readonly WireCase[] = [
  {
    title: 'accepts a run',
    app: chatting(),
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
    title: 'rejects a request without a usable model',
    app: () => ({ ...chatting()(), models: [], settings: {} }),
    ask: wanting(),
    ...refused('public', {
      status: 400,
      message:
        'There is no chat model on this server: no model provider has a key. Its operator has to add one.',
    }),
  },
  {
    title: 'answers 404 for an unknown session',
    app: chatting(),
    ask: { body: { session_id: '0'.repeat(24), message: 'Do it' } },
    ...refused('public', { status: 404, message: 'Session not found' }),
    everywhere: true,
  },
  {
    title: 'rejects an agent while agents are disabled',
    app: chatting(undefined, {
      settings: { admin: { DefaultAPIModel: 'scripted', EnableAgents: false } },
    }),
    ask: wanting({ agent_id: '0'.repeat(24) }),
    ...refused('public', { status: 403, message: 'Agents are switched off' }),
  },
  {
    title: 'rejects more parallel runs than the maximum',
    app: chatting(undefined, { settings: { maxLiveExecutions: 1 } }),
    ask: async (app) => {
      await ofRun()(app);
      return wanting()(app);
    },
    ...refused('public', {
      status: 409,
      message: 'You have the maximum of 1 active runs; wait until one has ended',
    }),
  },
  {
    title: 'rejects an unknown field',
    app: chatting(),
    ask: { body: { session_id: '0'.repeat(24), message: 'Do it', sessionId: null } },
    ...refused('public', { status: 422, message: 'Unrecognized key: "sessionId"' }),
  },
  {
    title: 'rejects during shutdown',
    app: chatting(),
    ask: async (app) => {
      const asked = await wanting()(app);
      await app.api.drain(0);
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
  stop_reason: 'stop',
  total_iterations: 1,
};

const NOT_FOUND = refused('public', { status: 404, message: 'Agent execution not found' });

export const getAgentExecution: readonly WireCase[] = [
  {
    title: 'returns a waiting run',
    app: chatting(),
    ask: ofRun(),
    status: 200,
    body: pending,
    everywhere: true,
  },
  {
    title: 'returns a finished run to its user with any credential',
    app: chatting(),
    caller: 'token',
    ask: ofRun('', true),
    status: 200,
    body: completed,
  },
  { title: 'answers 404 for an unknown run', app: chatting(), ...NOT_FOUND },
];

export const cancelAgentExecution: readonly WireCase[] = [
  {
    title: 'cancels a waiting run',
    app: chatting(),
    ask: ofRun('/cancel'),
    status: 200,
    body: { ...pending, status: 'aborted', error: 'This run was cancelled.' },
    everywhere: true,
  },
  {
    title: 'does not change a finished run',
    app: chatting(),
    ask: ofRun('/cancel', true),
    status: 200,
    body: completed,
  },
  { title: 'answers 404 for an unknown run', app: chatting(), ...NOT_FOUND },
];

export const getAgentExecutionEvents: readonly WireCase[] = eventCases(ofRun, 'Agent execution');
