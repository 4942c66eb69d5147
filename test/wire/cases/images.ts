import { expect } from 'vitest';
import { createStudio } from '../../support/media.ts';
import type { Asked } from '../../support/wire.ts';
import type { World, WorldOptions } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID } from './chat.ts';

const UNKNOWN = '0'.repeat(24);
const POLL_URL = expect.stringMatching(/^\/api\/v1\/quests\/[0-9a-f]{24}$/);

const world = (): WorldOptions => ({
  models: [createStudio()],
  settings: { admin: { DefaultImageModel: 'painter' } },
});

const wish = { prompt: 'A red panda', model: 'painter' };

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

const stopping = (body: (world: World) => Promise<object>) => async (one: World) => {
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
    world,
    ask: { body: { ...wish, ...more } },
    ...refused('public', { status: 422, message }),
  };
}

const NOT_THERE = refused('public', { status: 404, message: 'Session not found' });

const unavailable = (title: string, model: string, message: string): WireCase => ({
  title,
  world,
  ask: { body: { ...wish, model } },
  ...refused('public', { status: 422, message, errorCode: 'model_unavailable' }),
});

export const generateImage: readonly WireCase[] = [
  {
    title: 'accepts',
    world,
    ask: { body: wish },
    status: 200,
    body: acknowledged('fresh'),
    everywhere: true,
  },
  {
    title: 'accepts fields it does not know, and null',
    world,
    ask: { body: { ...wish, seed: null, colour: 'red', referenceImageFileIds: [UNKNOWN] } },
    status: 200,
    body: acknowledged('continuation'),
  },
  {
    title: 'a session that is not there',
    world,
    ask: { body: { ...wish, sessionId: UNKNOWN } },
    ...NOT_THERE,
    everywhere: true,
  },
  { title: 'a signed-in user without a session', world, caller: 'token', ask: { body: wish }, ...NOT_THERE },
  {
    title: 'an organization of others',
    world,
    ask: { body: { ...wish, organizationId: UNKNOWN } },
    ...refused('public', { status: 404, message: 'Organization not found' }),
  },
  unavailable('no such model', 'nobody', "model: there is no image model 'nobody'"),
  invalid('no prompt', { prompt: '' }, 'prompt: expected at least 1 character, got 0 characters of text'),
  invalid('too many', { n: 11 }, 'n: Too big: expected number to be <=10, got 11'),
  invalid(
    'a size that is none',
    { size: '10 x 10' },
    'size: expected auto, or pixels as in 1024x768, got 7 characters of text',
  ),
  invalid(
    'a tolerance out of bounds',
    { safety_tolerance: 7 },
    'safety_tolerance: Too big: expected number to be <=6, got 7',
  ),
  invalid(
    'more references than anybody takes',
    { referenceImageFileIds: Array.from({ length: 16 }, () => UNKNOWN) },
    'referenceImageFileIds: Too big: expected array to have <=15 items, got a list of 16',
  ),
  { title: 'a server that is about to stop', world, ask: stopping(async () => wish), ...STOPPED },
];

async function session(one: World): Promise<string> {
  const { key } = await one.issue({ scopes: ['notebooks:write'] });
  const answer = await one.ask('POST', '/api/v1/sessions', { body: { name: 'Work' }, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const editing =
  (more: object = {}) =>
  async (one: World): Promise<Partial<Asked> & { body: object }> => ({
    body: { ...wish, sessionId: await session(one), image: UNKNOWN, ...more },
  });

export const editImage: readonly WireCase[] = [
  {
    title: 'accepts',
    world,
    ask: editing(),
    status: 200,
    body: acknowledged('continuation'),
    everywhere: true,
  },
  {
    title: 'an empty list of files',
    world,
    ask: editing({ fileIds: [] }),
    ...refused('public', { status: 400, message: 'fileIds: name the mask first, or leave the field out' }),
  },
  { title: 'a session that is not there', world, ask: editing({ sessionId: UNKNOWN }), ...NOT_THERE },
  {
    title: 'no image',
    world,
    ask: editing({ image: '' }),
    ...refused('public', {
      status: 422,
      message: 'image: Too small: expected string to have >=1 characters, got 0 characters of text',
    }),
  },
  {
    title: 'a server that is about to stop',
    world,
    ask: stopping(async (one) => (await editing()(one)).body),
    ...STOPPED,
  },
];

export const generateImageSimply: readonly WireCase[] = [
  {
    title: 'accepts',
    world,
    ask: { body: { prompt: 'A cat', size: '128x128', style: 'natural' } },
    status: 200,
    body: { questId: AN_ID, status: 'queued', estimatedTime: 20 },
    everywhere: true,
  },
  {
    title: 'no default model',
    world: () => ({ models: [createStudio()] }),
    ask: { body: { prompt: 'A cat' } },
    ...refused('application', { status: 422, message: 'There is no default image model on this server.' }),
  },
  {
    title: 'no prompt',
    world,
    ask: { body: {} },
    ...refused('application', {
      status: 422,
      message: 'prompt: Invalid input: expected string, received undefined',
      details: expect.anything(),
    }),
  },
  {
    title: 'a server that is about to stop',
    world,
    ask: stopping(async () => ({ prompt: 'A cat' })),
    headers: { 'retry-after': '5' },
    ...refused('application', {
      status: 503,
      message: 'The service is about to restart. Try again shortly.',
    }),
  },
];
