import { createApi, createServices, toFetchHandler } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqlPorts } from '@questline/sql';
import { connect } from '../../../packages/sql/test/connect.ts';
import type { EngineAddress } from '../../../packages/sql/test/engines.ts';

/** Messages from the parent: a database to open, or users whose first requests are sent in parallel. */
export type Order = { readonly address: EngineAddress } | { readonly users: readonly string[] } | 'end';

export interface Answer {
  readonly status: number;
  readonly id: unknown;
}

/** One of several processes on one database, in a host that identifies its user by a header. */
function serve(order: Order): void {
  if (order === 'end' || 'users' in order) throw new Error('no database is open');
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const { database, close } = connect(order.address);
  const ports = createSqlPorts(database, { clock, ids });
  const identity = {
    identify: async ({ headers }: { headers: Readonly<Record<string, unknown>> }) => ({
      externalId: `${headers['x-user']}`,
      email: `${headers['x-user']}@example.com`,
    }),
  };
  const settings = {
    jwtSecret: 'a'.repeat(64),
    admin: { defaultFreeCredits: 5 },
    identity: { cacheTtlMs: 0 },
  };
  const api = createApi(createServices({ ...ports, clock, ids, identity, models: [] }, settings), {
    worker: false,
  });
  const handle = toFetchHandler(api);

  const first = async (user: string): Promise<Answer> => {
    const response = await handle(
      new Request('http://questline.test/api/v1/me', { headers: { 'X-User': user } }),
    );
    if (response === undefined) throw new Error('the path is not part of the API');
    const { id } = (await response.json()) as { id?: unknown };
    return { status: response.status, id };
  };

  process.on('message', async (next: Order) => {
    if (next === 'end') {
      await close();
      process.disconnect();
    } else if ('users' in next) {
      process.send?.(await Promise.all(next.users.map(first)));
    }
  });
  process.send?.('ready');
}

process.once('message', serve);
