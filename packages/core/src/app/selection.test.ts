import { describe, expect, it } from 'vitest';
import type { Operation } from '../contract/operation.ts';
import type { Route } from '../operations/route.ts';
import { ConfigurationError } from './configuration-error.ts';
import {
  createOperationCheck,
  HOST,
  type MountedRoute,
  mountRoute,
  type OperationSelection,
  selectRoutes,
} from './selection.ts';

type Path = Operation['path'];

function route(id: string, path: Path, aliases?: readonly Path[]): Route {
  const operation = { id, path, method: 'GET', ...(aliases && { aliases }) } as unknown as Operation;
  return { operation, run: () => expect.unreachable(), handle: () => expect.unreachable() };
}

const mount = (one: Route, capability: string) => mountRoute(one, capability, { rootAliases: true });

const createRoutes = (): readonly MountedRoute[] => [
  mount(route('listBooks', '/api/books', ['/books', '/lib', '/api/v1/books']), 'library'),
  mount(route('getBook', '/api/books/{id}'), 'library'),
  mount(route('listBookings', '/api/bookings'), 'travel'),
  mount(route('library', '/api/own'), HOST),
];

const select = (...selections: (OperationSelection | undefined)[]) =>
  selectRoutes(createRoutes(), ...selections).map(({ operation, paths }) =>
    [operation.id, ...paths].join(' '),
  );

const BOOKS = 'listBooks /api/books /books /lib /api/v1/books';
const BOOK = 'getBook /api/books/{id}';
const BOOKINGS = 'listBookings /api/bookings';
const OWN = 'library /api/own';

describe('selection of routes', () => {
  it.each<[OperationSelection | undefined, readonly string[]]>([
    [undefined, [BOOKS, BOOK, BOOKINGS, OWN]],
    [{ only: [] }, [OWN]],
    [{ only: ['library'] }, [BOOKS, BOOK, OWN]],
    [{ only: ['listBookings'] }, [BOOKINGS, OWN]],
    [{ only: ['/api/books'] }, [BOOKS, BOOK, OWN]],
    [{ only: ['/api/books/'] }, [BOOK, OWN]],
    [{ only: ['/books'] }, [BOOKS, OWN]],
    [{ only: ['/'] }, [BOOKS, BOOK, BOOKINGS, OWN]],
    [{ without: [] }, [BOOKS, BOOK, BOOKINGS, OWN]],
    [{ without: ['library'] }, [BOOKINGS, OWN]],
    [{ without: ['getBook'] }, [BOOKS, BOOKINGS, OWN]],
    [{ without: ['/api/books'] }, [BOOKINGS, OWN]],
    [{ without: ['/books'] }, ['listBooks /api/books /lib /api/v1/books', BOOK, BOOKINGS, OWN]],
    [{ without: ['/books', '/api/v1'] }, ['listBooks /api/books /lib', BOOK, BOOKINGS, OWN]],
  ])('%j keeps %j', (selection, kept) => {
    expect(select(selection)).toEqual(kept);
  });

  it('applies one selection after another, each with all names', () => {
    expect(select({ without: ['getBook'] }, undefined, { only: ['library', 'getBook'] })).toEqual([
      BOOKS,
      OWN,
    ]);
  });

  it('leaves a route without an alias in its place, and drops the alias from its operation', () => {
    const routes = createRoutes();
    const [first, second] = selectRoutes(routes, { without: ['/books'] });
    expect(second).toBe(routes[1]);
    expect(first?.operation.aliases).toEqual(['/lib', '/api/v1/books']);
    expect(String(first)).toBe('GET /api/books\nGET /lib\nGET /api/v1/books');
    expect(first?.capability).toBe('library');
  });

  it.each([
    [{}, ['operations: expected one of `only` and `without`']],
    [{ only: [], without: [] }, ['operations: expected one of `only` and `without`']],
    [
      { only: ['library', 'x', 'api/books', '/api/own'] },
      [
        'operations: unknown "x", "api/books", "/api/own". Possible capabilities (and operations): ' +
          'library (listBooks, getBook); travel (listBookings). ' +
          'Possible paths: /api/books, /books, /lib, /api/v1/books, /api/books/{id}, /api/bookings',
      ],
    ],
    [{ without: ['/api/book'] }, [expect.stringContaining('unknown "/api/book"')]],
    [{ without: [''] }, [expect.stringContaining('unknown ""')]],
  ])('refuses %j', (selection, issues) => {
    const refused = () => select(selection as OperationSelection);
    expect(refused).toThrow(ConfigurationError);
    expect(refused).toThrow(
      expect.objectContaining({ issues, message: expect.stringMatching(/^createApi: /) }),
    );
  });
});

it('mounts a route without its aliases at the root where the host wants none', () => {
  const own = mountRoute(route('a', '/api/a', ['/a', '/api/v1/a']), 'x', { rootAliases: false });
  expect([own.paths, String(own)]).toEqual([['/api/a', '/api/v1/a'], 'GET /api/a\nGET /api/v1/a']);
  expect(mountRoute(route('a', '/api/a'), 'x', { rootAliases: false }).paths).toEqual(['/api/a']);
});

it('finds whether an operation is left, with one look at the routes', () => {
  let looks = 0;
  const look = () => {
    looks += 1;
    return createRoutes();
  };
  const isLeft = createOperationCheck({ without: ['travel', 'unknown'] }, look);
  expect(looks).toBe(0);
  expect(['listBooks', 'listBookings', 'library', 'never'].map(isLeft)).toEqual([true, false, true, false]);
  expect(looks).toBe(1);
  const all = createOperationCheck(undefined, look);
  expect([all('never'), looks]).toEqual([true, 1]);
});
