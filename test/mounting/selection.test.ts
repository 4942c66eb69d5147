import {
  createApi,
  createDemoProvider,
  createServices,
  defineOperation,
  defineRoute,
  type OperationSelection,
  toFetchHandler,
} from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const services = createServices(
  { ...createMemoryPorts(), models: [createDemoProvider()] },
  { jwtSecret: 'a'.repeat(64) },
);

const hello = defineRoute(
  defineOperation({
    id: 'sayHello',
    method: 'GET',
    path: '/api/hello',
    tag: 'AI',
    summary: 'Say hello',
    auth: 'none',
    scopes: [],
    rate: { key: 'unlimited', user: 'standard' },
    owner: 'none',
    family: 'public',
    input: {},
    output: { 200: { description: 'Hello.', schema: z.object({ hello: z.string() }) } },
  }),
  services,
  async () => ({ hello: 'you' }),
);

function select(operations?: OperationSelection) {
  const api = createApi(services, { ...(operations && { operations }), routes: [hello] });
  const handle = toFetchHandler(api);
  return {
    api,
    ids: api.routes.map(({ operation }) => operation.id),
    ask: async (method: string, path: string) =>
      (await handle(new Request(`http://questline.test${path}`, { method })))?.status,
    async describe() {
      const response = await handle(new Request('http://questline.test/api/v1/openapi.json'));
      return (await response?.json()) as { paths: Record<string, Record<string, unknown>> };
    },
  };
}

describe('selection of operations', () => {
  it('excludes a capability, an operation and a path with everything below it', async () => {
    const all = select();
    const some = select({ without: ['projects', 'createEmbeddings', '/api/v1/artifacts'] });
    const gone = all.ids.filter((id) => !some.ids.includes(id));
    expect(gone).toEqual(expect.arrayContaining(['createEmbeddings', 'listProjects', 'listArtifacts']));
    const paths = all.api.routes.filter(({ operation }) => gone.includes(operation.id));
    for (const { capability, operation } of paths) {
      const isNamed =
        capability === 'projects' ||
        operation.id === 'createEmbeddings' ||
        /^\/api\/v1\/artifacts(?:\/|$)/.test(operation.path);
      expect([operation.id, isNamed]).toEqual([operation.id, true]);
    }
  });

  it('keeps only the named operations and the routes of the host', async () => {
    const some = select({ only: ['chat', 'getQuest', '/api/v1/models'] });
    expect([...some.ids].sort()).toEqual([
      'getQuest',
      'listModels',
      'listUiMessages',
      'resumeUiChat',
      'sayHello',
      'sendChatMessage',
      'stopUiChat',
    ]);
    expect(await some.ask('GET', '/api/hello')).toBe(200);
    expect(await some.ask('GET', '/api/v1/openapi.json')).toBeUndefined();
  });

  it('leaves excluded paths to the host: no 401, no 405 and no preflight', async () => {
    const all = select();
    const some = select({ without: ['organizations', 'health', 'description'] });
    for (const [method, path, before] of [
      ['GET', '/api/users', 401],
      ['POST', '/api/users', 405],
      ['GET', '/api/health', 200],
      ['OPTIONS', '/api/v1/openapi.json', 204],
    ] as const) {
      expect([path, await all.ask(method, path)]).toEqual([path, before]);
      expect([path, await some.ask(method, path)]).toEqual([path, undefined]);
    }
  });

  it('applies to the API description', async () => {
    const { paths } = await select({ without: ['files'] }).describe();
    expect(Object.keys(paths)).toContain('/api/chat');
    expect(Object.keys(paths).filter((path) => path.startsWith('/api/v1/files'))).toEqual([]);
  });

  it('excludes only an alias when only the alias is named', async () => {
    const some = select({ without: ['/agents'] });
    expect(await some.ask('GET', '/agents')).toBeUndefined();
    expect(await some.ask('GET', '/api/agents')).toBe(401);
  });

  it('rejects unknown names and lists the possible ones', () => {
    expect(() => select({ without: ['userz', '/api/nothing'] })).toThrow(
      /^createApi: operations: unknown "userz", "\/api\/nothing"\. Possible capabilities.*organizations \(.*listUsers.*\).*Possible paths: .*\/api\/users/,
    );
    expect(() => select({} as OperationSelection)).toThrow('expected one of `only` and `without`');
  });
});

it('lists every method and path in `api.routes`, aliases included', () => {
  const lines = select().api.routes.join('\n').split('\n');
  expect(lines).toEqual(
    expect.arrayContaining(['POST /api/chat', 'GET /agents', 'GET /api/v1/openapi.json', 'GET /api/hello']),
  );
  expect(new Set(lines).size).toBe(lines.length);
});
