import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Operation } from '../contract/operation.ts';
import type { Route } from './route.ts';
import { createRouter } from './router.ts';

function toRoute(method: string, path: string, more: Partial<Operation> = {}): Route {
  return { operation: { id: `${method} ${path}`, method, path, input: {}, ...more } } as unknown as Route;
}

function setUp(...routes: Route[]) {
  const router = createRouter(routes);
  const find = (method: string, path: string) => {
    const match = router.find(method, path);
    if (match?.kind === 'route') return [match.route.operation.id, { ...match.params }];
    return match?.kind === 'method' ? match.allow : match?.kind;
  };
  return { router, find };
}

describe('a router', () => {
  it('finds literal paths exactly', () => {
    const { find } = setUp(toRoute('GET', '/api/things'), toRoute('POST', '/api/things'));
    expect(find('GET', '/api/things')).toEqual(['GET /api/things', {}]);
    expect(find('POST', '/api/things')).toEqual(['POST /api/things', {}]);
    expect(find('HEAD', '/api/things')).toEqual(['GET /api/things', {}]);
    expect(find('GET', '/api/%74hings')).toEqual(['GET /api/things', {}]);
    for (const path of ['/api/things/', '/api/Things', '/api', '/api/things/x', 'api/things', 'things', '']) {
      expect(find('GET', path)).toBeUndefined();
    }
  });

  it('decodes parameters once', () => {
    const { find, router } = setUp(
      toRoute('GET', '/api/things/{id}'),
      toRoute('GET', '/api/things/{id}/parts/{part}'),
    );
    expect(find('GET', '/api/things/a')).toEqual(['GET /api/things/{id}', { id: 'a' }]);
    expect(find('GET', '/api/things/a%2Fb%2525')).toEqual(['GET /api/things/{id}', { id: 'a/b%25' }]);
    expect(find('GET', '/api/things/a/parts/b')).toEqual([
      'GET /api/things/{id}/parts/{part}',
      { id: 'a', part: 'b' },
    ]);
    expect(find('GET', '/api/things/{id}')).toEqual(['GET /api/things/{id}', { id: '{id}' }]);
    expect(router.find('GET', '/api/things/%ff')).toMatchObject({
      ...{ kind: 'undecodable', route: { operation: { path: '/api/things/{id}' } } },
    });
    for (const path of [
      '/api/things/',
      '/api/things//parts/b',
      '/api/things/a/parts',
      '/api/things/a/parts/',
    ]) {
      expect(find('GET', path)).toBeUndefined();
    }
  });

  it('prefers literals, and goes back where they lead nowhere', () => {
    const { find } = setUp(
      ...[toRoute('GET', '/things/{id}'), toRoute('GET', '/things/new'), toRoute('GET', '/things/new/parts')],
      ...[toRoute('GET', '/things/{id}/parts/{part}'), toRoute('GET', '/{any}/{other}/parts/all')],
    );
    expect(find('GET', '/things/new')).toEqual(['GET /things/new', {}]);
    expect(find('GET', '/things/old')).toEqual(['GET /things/{id}', { id: 'old' }]);
    expect(find('GET', '/things/new/parts/a')).toEqual([
      'GET /things/{id}/parts/{part}',
      { id: 'new', part: 'a' },
    ]);
    expect(find('GET', '/others/x/parts/all')).toEqual([
      'GET /{any}/{other}/parts/all',
      { any: 'others', other: 'x' },
    ]);
    expect(find('GET', '/others/x/parts/none')).toBeUndefined();
  });

  it('forgets the parameters of a way that leads nowhere', () => {
    const { find } = setUp(toRoute('GET', '/a/{x}/b'), toRoute('GET', '/{p}/{q}/c'));
    expect(find('GET', '/a/1/c')).toEqual(['GET /{p}/{q}/c', { p: 'a', q: '1' }]);
  });

  it('names the methods of a path', () => {
    const { find, router } = setUp(
      ...[toRoute('GET', '/a'), toRoute('DELETE', '/a'), toRoute('POST', '/b', { openOrigin: true })],
    );
    expect(find('PUT', '/a')).toBe('GET, HEAD, DELETE');
    expect(find('HEAD', '/b')).toBe('POST, OPTIONS');
    const match = router.find('PUT', '/a');
    expect(match?.kind === 'method' && match.routes.map(({ operation }) => operation.method)).toEqual([
      ...['GET', 'DELETE'],
    ]);
  });

  it('leaves a word where every operation has an id to the host', () => {
    const input = { params: z.object({ id: z.string().regex(/^\d+$/) }) };
    const routes = [toRoute('GET', '/a/{id}', { input }), toRoute('DELETE', '/a/{id}', { input })];
    const { find } = setUp(...routes);
    expect(find('PUT', '/a/12')).toBe('GET, HEAD, DELETE');
    expect(find('PUT', '/a/word')).toBeUndefined();
    expect(find('GET', '/a/word')).toEqual(['GET /a/{id}', { id: 'word' }]);
    expect(setUp(...routes, toRoute('POST', '/a/{id}')).find('PUT', '/a/word')).toBe(
      'GET, HEAD, DELETE, POST',
    );
  });

  it('has aliases, outside of /api/ only where the host takes them', () => {
    const route = toRoute('GET', '/api/a', { aliases: ['/api/b', '/c', '/d/{id}'] });
    const all = createRouter([route]);
    const own = createRouter([route], { rootAliases: false });
    const found = (router: typeof all) =>
      ['/api/a', '/api/b', '/c', '/d/1'].map((path) => router.find('GET', path)?.kind === 'route');
    expect(found(all)).toEqual([true, true, true, true]);
    expect(found(own)).toEqual([true, true, false, false]);
  });

  it('refuses operations that contradict each other', () => {
    expect(() => setUp(toRoute('GET', '/a'), toRoute('GET', '/a'))).toThrow('the same route GET /a');
    expect(() => setUp(toRoute('GET', '/{a}'), toRoute('POST', '/{b}'))).toThrow(
      'parameters of /{b} differently',
    );
    expect(() => setUp(toRoute('GET', '/{a}/x'), toRoute('POST', '/{b}/y'))).not.toThrow();
  });
});
