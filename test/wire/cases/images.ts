import { expect } from 'vitest';
import { NO_SESSION } from '../../support/expected.ts';
import { createStudio } from '../../support/media.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID } from './chat.ts';

const UNKNOWN = '0'.repeat(24);
const POLL_URL = expect.stringMatching(/^\/api\/v1\/quests\/[0-9a-f]{24}$/);

const app = (): TestAppOptions => ({
  models: [createStudio()],
  settings: { admin: { DefaultImageModel: 'painter' } },
});

const input = { prompt: 'A red panda', model: 'painter' };

const acknowledged = (intent: 'fresh' | 'continuation') => ({
  id: AN_ID,
  sessionId: AN_ID,
  status: 'queued',
  tracking_info: { quest_id: AN_ID, check_status_url: POLL_URL, poll_url: POLL_URL },
  quest: { id: AN_ID, sessionId: AN_ID, status: 'pending' },
  session: { id: AN_ID },
  originalPrompt: 'A red panda',
  enhancedPrompt: 'A red panda',
  promptWasEnhanced: false,
  intent,
});

const stopping = (body: (app: TestApp) => Promise<object>) => async (one: TestApp) => {
  const asked = { body: await body(one) };
  await one.api.drain(0);
  return asked;
};

const STOPPED = {
  headers: { 'retry-after': '5' },
  ...refused('public', { status: 503, message: 'The service is about to restart. Try again shortly.' }),
};

function invalid(title: string, more: object, message: string): WireCase {
  return {
    title,
    app,
    ask: { body: { ...input, ...more } },
    ...refused('public', { status: 422, message }),
  };
}

const NOT_THERE = refused('public', { status: 404, message: 'Session not found' });

const unavailable = (title: string, model: string, message: string): WireCase => ({
  title,
  app,
  ask: { body: { ...input, model } },
  ...refused('public', { status: 422, message, errorCode: 'model_unavailable' }),
});

export const generateImage: readonly WireCase[] = [
  {
    title: 'accepts an image request',
    app,
    ask: { body: input },
    status: 200,
    body: acknowledged('fresh'),
    everywhere: true,
  },
  {
    title: 'ignores unknown fields and null',
    app,
    ask: { body: { ...input, seed: null, colour: 'red', referenceImageFileIds: [UNKNOWN] } },
    status: 200,
    body: acknowledged('continuation'),
  },
  {
    title: 'answers 404 for an unknown session',
    app,
    ask: { body: { ...input, sessionId: UNKNOWN } },
    ...NOT_THERE,
    everywhere: true,
  },
  {
    title: 'accepts a signed-in user without a session',
    app,
    caller: 'token',
    ask: { body: input },
    ...refused('public', { status: 404, message: NO_SESSION }),
  },
  {
    title: 'rejects an organization of other users',
    app,
    ask: { body: { ...input, organizationId: UNKNOWN } },
    ...refused('public', { status: 404, message: 'Organization not found' }),
  },
  unavailable('an unknown model', 'unknown', "model: unknown image model 'unknown'"),
  invalid('no prompt', { prompt: '' }, 'prompt: expected at least 1 character, got 0 characters of text'),
  invalid('too many', { n: 11 }, 'n: Too big: expected number to be <=10, got 11'),
  invalid(
    'a malformed size',
    { size: '10 x 10' },
    'size: expected auto, or pixels as in 1024x768, got 7 characters of text',
  ),
  invalid(
    'a tolerance out of range',
    { safety_tolerance: 7 },
    'safety_tolerance: Too big: expected number to be <=6, got 7',
  ),
  invalid(
    'more references than the maximum',
    { referenceImageFileIds: Array.from({ length: 16 }, () => UNKNOWN) },
    'referenceImageFileIds: Too big: expected array to have <=15 items, got a list of 16',
  ),
  { title: 'rejects during shutdown', app, ask: stopping(async () => input), ...STOPPED },
];

async function session(one: TestApp): Promise<string> {
  const { key } = await one.issue({ scopes: ['notebooks:write'] });
  const answer = await one.ask('POST', '/api/v1/sessions', { body: { name: 'Work' }, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const editing =
  (more: object = {}) =>
  async (one: TestApp): Promise<Partial<Asked> & { body: object }> => ({
    body: { ...input, sessionId: await session(one), image: UNKNOWN, ...more },
  });

export const editImage: readonly WireCase[] = [
  {
    title: 'accepts an image edit',
    app,
    ask: editing(),
    status: 200,
    body: acknowledged('continuation'),
    everywhere: true,
  },
  {
    title: 'rejects an empty list of files',
    app,
    ask: editing({ fileIds: [] }),
    ...refused('public', { status: 400, message: 'fileIds: expected the mask first, or no field' }),
  },
  { title: 'answers 404 for an unknown session', app, ask: editing({ sessionId: UNKNOWN }), ...NOT_THERE },
  {
    title: 'rejects an edit without an image',
    app,
    ask: editing({ image: '' }),
    ...refused('public', {
      status: 422,
      message: 'image: Too small: expected string to have >=1 characters, got 0 characters of text',
    }),
  },
  {
    title: 'rejects during shutdown',
    app,
    ask: stopping(async (one) => (await editing()(one)).body),
    ...STOPPED,
  },
];

export const generateImageSimply: readonly WireCase[] = [
  {
    title: 'accepts an image request',
    app,
    ask: { body: { prompt: 'A cat', size: '128x128', style: 'natural' } },
    status: 200,
    body: { questId: AN_ID, status: 'queued', estimatedTime: 20 },
    everywhere: true,
  },
  {
    title: 'rejects a request without an image model',
    app: () => ({ models: [] }),
    ask: { body: { prompt: 'A cat' } },
    ...refused('application', {
      status: 422,
      message: 'There is no image model on this server: no model provider that makes images has a key.',
    }),
  },
  {
    title: 'rejects a missing prompt',
    app,
    ask: { body: {} },
    ...refused('application', {
      status: 422,
      message: 'prompt: is required',
      details: expect.anything(),
    }),
  },
  {
    title: 'rejects during shutdown',
    app,
    ask: stopping(async () => ({ prompt: 'A cat' })),
    headers: { 'retry-after': '5' },
    ...refused('application', {
      status: 503,
      message: 'The service is about to restart. Try again shortly.',
    }),
  },
];
