import { addMemento } from '../../support/mementos.ts';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';

const FIRST = '1'.repeat(24);
const SECOND = '2'.repeat(24);
const FOREIGN = '3'.repeat(24);

async function remember(app: TestApp): Promise<void> {
  const other = await app.addUser('bob@example.com');
  await addMemento(app, { id: FIRST, text: 'The user keeps bees.' });
  await addMemento(app, { id: SECOND, text: 'The user wants short answers.', isStanding: true });
  await addMemento(app, { id: FOREIGN, text: 'The user hides treasure.', ownerId: other.id });
}

const at = new Date(NOW).toISOString();
const shown = (id: string, text: string, standing: boolean) => ({
  id,
  text,
  standing,
  sessionId: '5'.repeat(24),
  createdAt: at,
  updatedAt: at,
});
const BEES = shown(FIRST, 'The user keeps bees.', false);
const SHORT = shown(SECOND, 'The user wants short answers.', true);

const page = (total: number, more: object = {}) => ({
  page: 1,
  limit: 20,
  total,
  pages: 1,
  totalPages: 1,
  hasNext: false,
  hasPrev: false,
  ...more,
});

const asked =
  (path: string) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    await remember(app);
    return { path };
  };

export const listMementos: readonly WireCase[] = [
  {
    title: 'lists the mementos of the caller, newest first',
    ask: asked('/api/mementos'),
    status: 200,
    body: { mementos: [SHORT, BEES], pagination: page(2) },
    everywhere: true,
  },
  {
    title: 'searches by text in another order',
    ask: asked('/api/mementos?search=USER&sort=updatedAt&order=asc&limit=1&page=2'),
    status: 200,
    body: {
      mementos: [SHORT],
      pagination: page(2, { page: 2, limit: 1, pages: 2, totalPages: 2, hasPrev: true }),
    },
  },
  {
    title: 'finds no mementos of other users',
    ask: asked('/api/mementos?search=treasure'),
    status: 200,
    body: { mementos: [], pagination: page(0, { pages: 0, totalPages: 0 }) },
  },
  {
    title: 'rejects a limit beyond 100',
    ask: { path: '/api/mementos?limit=101' },
    ...refused('application', {
      status: 422,
      message: 'limit: expected at most 100, got 3 characters of text',
      details: [{ path: 'limit', message: 'expected at most 100, got 3 characters of text' }],
    }),
  },
];

export const deleteMemento: readonly WireCase[] = [
  {
    title: 'deletes a memento',
    ask: asked(`/api/mementos/${FIRST}`),
    status: 200,
    body: { success: true, message: 'The memento is deleted' },
    everywhere: true,
  },
  ...[
    ["another user's", FOREIGN],
    ['an unknown memento', '9'.repeat(24)],
    ['a malformed id', 'bees'],
  ].map(
    ([title = '', id = '']): WireCase => ({
      title,
      ask: asked(`/api/mementos/${id}`),
      ...refused('application', { status: 404, message: 'Memento not found' }),
    }),
  ),
];
