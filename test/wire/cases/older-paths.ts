import { expect } from 'vitest';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID } from './chat.ts';
import { getFile } from './files.ts';
import { getProject } from './projects.ts';
import { getQuest } from './quests.ts';
import { createSession } from './sessions.ts';

/** The same cases at another path. */
function moved(rows: readonly WireCase[], from: string, to: string): readonly WireCase[] {
  return rows.map((one) => ({
    ...one,
    ask: async (app) => {
      const asked = typeof one.ask === 'function' ? await one.ask(app) : (one.ask ?? {});
      return { ...asked, ...(asked.path !== undefined && { path: asked.path.replace(from, to) }) };
    },
  }));
}

export const getApplicationQuest = moved(getQuest, '/api/v1/quests', '/api/quests');
export const createApplicationSession = moved(createSession, '/api/v1/sessions', '/api/sessions/create');
export const getApplicationFile = moved(getFile, '/api/v1/files', '/api/files');
export const getApplicationProject = moved(getProject, '/api/v1/projects', '/api/projects');

async function make(app: TestApp, path: string, body: object): Promise<string> {
  const { key } = await app.issue({
    scopes: ['notebooks:write', 'projects:write', 'files:write'],
  });
  const answer = await app.ask('POST', path, { body, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

/** Two matching records, one that does not match, and a page size of one. */
const listed = (path: string, create: string, bodies: readonly object[], found: object) =>
  [
    { title: 'lists nothing at first', status: 200, body: { data: [], hasMore: false }, everywhere: true },
    ...['pagination[page]=1&pagination[limit]=1', 'pagination%5Bpage%5D=2&pagination%5Blimit%5D=1'].map(
      (page, index) => ({
        title: `searches names, page ${index + 1}`,
        ask: async (app: TestApp): Promise<Partial<Asked>> => {
          for (const body of bodies) await make(app, create, body);
          return { path: `${path}?search=ENGINE&${page}` };
        },
        status: 200,
        body: { data: [expect.objectContaining({ id: AN_ID, ...found })], hasMore: index === 0 },
      }),
    ),
    {
      title: 'accepts a limit of 100',
      ask: { path: `${path}?pagination%5Blimit%5D=100` },
      status: 200,
      body: { data: [], hasMore: false },
    },
    {
      title: 'rejects a limit that is too high',
      ask: { path: `${path}?pagination[limit]=101` },
      ...refused('public', {
        status: 422,
        message: 'pagination[limit]: expected at most 100, got 3 characters of text',
      }),
    },
  ] satisfies readonly WireCase[];

const NAMES = ['My engine', 'Engine 2', 'Other'];

export const listApplicationSessions = listed(
  '/api/sessions',
  '/api/v1/sessions',
  NAMES.map((name) => ({ name })),
  { name: expect.stringMatching(/engine/i) },
);

export const listApplicationProjects = listed(
  '/api/projects',
  '/api/v1/projects',
  NAMES.map((name) => ({ name, description: 'All about it.' })),
  { name: expect.stringMatching(/engine/i) },
);

export const searchApplicationFiles = listed(
  '/api/files/search',
  '/api/v1/files',
  NAMES.map((name) => ({ file_name: `${name}.txt`, mime_type: 'text/plain', file_size: 5 })),
  { file_name: expect.stringMatching(/engine/i) },
);

const ARTIFACT = { type: 'code', title: 'Loop', content: 'for (;;);' };
const makeArtifact = (app: TestApp) => make(app, '/api/v1/artifacts', ARTIFACT);
const artifact = expect.objectContaining({ id: AN_ID, title: 'Loop', content: null });

const switchedOff: WireCase = {
  title: 'rejects while artifacts are disabled',
  app: () => ({ settings: { admin: { EnableArtifacts: false } } }),
  ...refused('public', { status: 403, message: 'Artifacts are switched off' }),
};

export const listApplicationArtifacts: readonly WireCase[] = [
  {
    title: 'lists nothing at first',
    status: 200,
    body: { artifacts: [], pagination: { total: 0, limit: 20, offset: 0, hasMore: false } },
    everywhere: true,
  },
  ...[0, 1].map((offset) => ({
    title: `lists one of two artifacts from ${offset}`,
    ask: async (app: TestApp): Promise<Partial<Asked>> => {
      await makeArtifact(app);
      await makeArtifact(app);
      return { path: `/api/artifacts?limit=1&offset=${offset}` };
    },
    status: 200,
    body: { artifacts: [artifact], pagination: { total: 2, limit: 1, offset, hasMore: offset === 0 } },
  })),
  {
    title: 'rejects a negative offset',
    ask: { path: '/api/artifacts?offset=-1' },
    ...refused('public', {
      status: 422,
      message: 'offset: expected a whole number from 0 to 10000000, got 2 characters of text',
    }),
  },
  switchedOff,
];

export const getApplicationArtifact: readonly WireCase[] = [
  {
    title: 'returns an artifact with its content',
    ask: async (app) => ({ path: `/api/artifacts/${await makeArtifact(app)}?includeContent=true` }),
    status: 200,
    body: { artifact, content: ARTIFACT.content },
    everywhere: true,
  },
  {
    title: 'returns an artifact without its content',
    ask: async (app) => ({ path: `/api/artifacts/${await makeArtifact(app)}` }),
    status: 200,
    body: { artifact, content: null },
  },
  switchedOff,
  {
    title: 'answers 404 for an unknown artifact',
    ...refused('public', { status: 404, message: 'Artifact not found' }),
  },
];

/** A settled charge and an open one. */
async function charge({ services, account }: TestApp, operation: string): Promise<void> {
  for (const isSettled of [true, false]) {
    const held = await services.ledger.hold({
      account,
      amount: 2_000_000,
      key: `${operation}-${isSettled}`,
      expiresAt: NOW + 60_000,
      details: { operation, model: 'scripted', requestId: 'r1' },
    });
    if (held.outcome !== 'held') throw new Error(held.outcome);
    if (isSettled) await services.ledger.settle(held.hold, 1_500_000, { input: 10, output: 1 });
  }
}

export const listCreditTransactions: readonly WireCase[] = [
  { title: 'lists nothing at first', status: 200, body: [], everywhere: true },
  {
    title: 'lists settled charges',
    ask: async (app) => {
      await charge(app, 'sendChatMessage');
      return { path: '/api/credits/transactions?days=1' };
    },
    status: 200,
    body: [
      {
        type: 'text_generation_usage',
        credits: 1.5,
        model: 'scripted',
        metadata: {
          id: AN_ID,
          operation: 'sendChatMessage',
          created_at: new Date(NOW).toISOString(),
          request_id: 'r1',
        },
      },
    ],
  },
  {
    title: 'rejects more than a year',
    ask: { path: '/api/credits/transactions?days=366' },
    ...refused('public', { status: 422, message: 'days: expected at most 365, got 3 characters of text' }),
  },
];

const SKILL = { id: 'poems', name: 'Poems', description: 'Verses', instructions: 'Rhyme.' };

export const listSkills: readonly WireCase[] = [
  {
    title: 'omits skills that the host does not list',
    app: () => ({ settings: { skills: [SKILL] } }),
    status: 200,
    body: { data: [], hasMore: false, total: 0 },
    everywhere: true,
  },
  {
    title: 'lists skills up to the limit',
    app: () => ({
      settings: {
        skills: [
          { ...SKILL, listed: true, argumentHint: '[topic]', tools: ['dice_roll'] },
          { ...SKILL, id: 'prose', listed: true },
        ],
      },
    }),
    ask: { path: '/api/skills?limit=1' },
    status: 200,
    body: {
      data: [
        {
          id: 'poems',
          name: 'Poems',
          description: 'Verses',
          body: 'Rhyme.',
          argumentHint: '[topic]',
          allowedTools: ['dice_roll'],
        },
      ],
      hasMore: true,
      total: 2,
    },
  },
];

export const readServerConfiguration: readonly WireCase[] = [
  { title: 'returns nothing without a public URL', status: 200, body: {}, everywhere: true },
  {
    title: 'returns the URL of the streaming endpoint',
    app: () => ({ settings: { publicUrl: 'https://ai.example.com/' } }),
    status: 200,
    body: { sseCompletionsUrl: 'https://ai.example.com/api/ai/v1/completions' },
  },
];
