import { expect, it } from 'vitest';
import { callAs } from '../support/sharing.ts';
import { createTestApp } from '../support/test-app.ts';

const skill = (id: string, more: object = {}) => ({
  id,
  name: id.toUpperCase(),
  description: `About ${id}.`,
  instructions: `Do ${id}.`,
  ...more,
});

const list = async (skills: readonly ReturnType<typeof skill>[], query = '') => {
  const app = await createTestApp({ settings: { skills } });
  return (await callAs(app, app.user, 'GET', `/api/skills${query}`)).body;
};

it('contains the listed skills, with what is known of each', async () => {
  const more = { argumentHint: '[file]', tools: ['clock'], disableModelInvocation: true };
  const skills = [
    skill('a', { listed: true, ...more }),
    skill('b'),
    skill('c', { listed: false }),
    skill('d', { listed: true }),
  ];
  expect(await list(skills)).toEqual({
    data: [
      {
        id: 'a',
        name: 'A',
        description: 'About a.',
        body: 'Do a.',
        argumentHint: '[file]',
        allowedTools: ['clock'],
        disableModelInvocation: true,
      },
      { id: 'd', name: 'D', description: 'About d.', body: 'Do d.' },
    ],
    hasMore: false,
    total: 2,
  });
});

it.each([
  [1, 1, true],
  [2, 2, false],
  [3, 2, false],
])('has at most %i skills, and says whether there are more', async (limit, length, hasMore) => {
  const skills = ['a', 'b'].map((id) => skill(id, { listed: true }));
  const body = await list(skills, `?limit=${limit}`);
  expect([body.data.length, body.hasMore, body.total]).toEqual([length, hasMore, 2]);
});
