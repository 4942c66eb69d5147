import { deepEqual, equal } from 'node:assert/strict';
import { createApi, createServices } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import type { AdapterCase, OwnRoute, StartedHost } from '../host.ts';

/** Routes of a host at paths that the complete api also takes. */
const OWN: readonly OwnRoute[] = [
  { method: 'GET', path: '/api/users' },
  { method: 'POST', path: '/api/users' },
  { method: 'GET', path: '/api/health' },
  { method: 'GET', path: '/api/settings' },
  { method: 'POST', path: '/api/logout' },
  { method: 'GET', path: '/agents' },
  { method: 'GET', path: '/api/file/5' },
  { method: 'GET', path: '/api/project/7' },
  { method: 'GET', path: '/api/invites' },
  { method: 'POST', path: '/api/organizations' },
  { method: 'GET', path: '/api/models' },
  { method: 'GET', path: '/api/ping' },
];

/** The operations that a host must exclude to keep these routes behind the api. */
const WITHOUT = [...new Set(OWN.map(({ path }) => path.replace(/\/\d$/, '')))];

function createCompleteApi(without?: readonly string[]) {
  const services = createServices({ ...createMemoryPorts(), models: [] }, { jwtSecret: 'a'.repeat(64) });
  return createApi(services, { worker: false, ...(without && { operations: { without } }) });
}

/** Requests each of them, and one operation of the api. */
export const ownRouteCases: readonly AdapterCase[] = [
  ...OWN.flatMap(({ method, path }) => [
    {
      name: `keeps ${method} ${path} of the host when mounted after it`,
      async run(stage) {
        const host = await stage.start({ api: createCompleteApi(), ownRoutes: OWN, mountedAfter: true });
        await expectOwn(host.ask, { method, path });
      },
    } satisfies AdapterCase,
    {
      name: `keeps ${method} ${path} of the host when mounted before it without the operation`,
      async run(stage) {
        const host = await stage.start({ api: createCompleteApi(WITHOUT), ownRoutes: OWN });
        await expectOwn(host.ask, { method, path });
      },
    } satisfies AdapterCase,
  ]),
];

async function expectOwn(ask: StartedHost['ask'], { method, path }: OwnRoute): Promise<void> {
  const body = method === 'POST' ? { headers: { 'Content-Type': 'application/json' }, body: '{}' } : {};
  const answer = await ask({ method, path, ...body });
  deepEqual([answer.status, answer.body.toString()], [200, `the host: ${method} ${path}`]);
  const api = await ask({ path: '/api/v1/me' });
  equal(api.status, 401);
}
