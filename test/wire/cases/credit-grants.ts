import { addOrganization, asAdmin } from '../../support/people.ts';
import type { TestApp } from '../../support/test-app.ts';
import { faulted, refused, type WireCase } from './case.ts';

const GRANT = { credits: 2.5, key: 'payment 1' };

interface Account {
  readonly collection: 'users' | 'organizations';
  readonly subject: string;
  readonly add: (app: TestApp) => Promise<{ readonly id: string }>;
}

function cases({ collection, subject, add }: Account): readonly WireCase[] {
  const path = (id: string): string => `/api/${collection}/${id}/credit-grants`;
  const asked = (body: object) => ({
    ask: async (app: TestApp) => asAdmin({ path: path((await add(app)).id), body })(app),
  });
  return [
    {
      title: 'rejects a user who is not an administrator',
      ask: async (app) => ({ path: path((await add(app)).id), body: GRANT }),
      ...refused('application', {
        status: 403,
        code: 'FORBIDDEN',
        message: 'Only administrators may do this',
      }),
    },
    {
      title: 'adds credits',
      ...asked(GRANT),
      status: 200,
      body: { granted: true, balance: 2.5, reserved: 0 },
      everywhere: true,
    },
    {
      title: 'accepts a negative grant',
      ...asked({ ...GRANT, credits: -0.000001 }),
      status: 200,
      body: { granted: true, balance: -0.000001, reserved: 0 },
    },
    {
      title: 'grants once with the same key',
      ask: async (app) => {
        const { id } = await add(app);
        const account = `${collection.slice(0, -1)}:${id}`;
        await app.services.ledger.grant({
          account,
          amount: 1_000_000,
          key: `administrator:${GRANT.key}`,
          reason: 'earlier',
        });
        return asAdmin({ path: path(id), body: GRANT })(app);
      },
      status: 200,
      body: { granted: false, balance: 1, reserved: 0 },
    },
    {
      title: 'rejects a grant of nothing',
      ...asked({ ...GRANT, credits: 0.0000001 }),
      ...faulted('credits', 'expected at least 0.000001 credits, got 1e-7'),
    },
    {
      title: 'reports an unknown account',
      ask: async (app) => asAdmin({ path: path('0'.repeat(24)), body: GRANT })(app),
      ...refused('application', { status: 404, code: 'NOT_FOUND', message: `${subject} not found` }),
    },
  ];
}

export const grantUserCredits = cases({
  collection: 'users',
  subject: 'User',
  add: (app) => app.addUser('grace@example.com'),
});

export const grantOrganizationCredits = cases({
  collection: 'organizations',
  subject: 'Organization',
  add: (app) => addOrganization(app, {}),
});
