import type { ErrorFamily } from '@questline/core';
import { expect } from 'vitest';
import { type Refusal, refusalBody } from '../../support/expected.ts';
import type { Asked } from '../../support/wire.ts';
import type { World, WorldOptions } from '../../support/world.ts';

/** The correlation id that every case is asked under. */
export const ID = 'wire-1';

/** A JSON value, with matchers where a part is not for a test to fix. */
export type Json = string | object | null;

/** One request and the one answer it gets. */
export interface WireCase {
  readonly title: string;
  /** Made anew for each run: providers and settings keep state. */
  readonly world?: () => WorldOptions;
  /** Default: a key that passes the gate, for operations that want a credential. */
  readonly caller?: 'key' | 'token' | 'nobody';
  /** Default: the operation's own method and path, without a body. */
  readonly ask?: Partial<Asked> | ((world: World) => Partial<Asked> | Promise<Partial<Asked>>);
  readonly status: number;
  /** Beyond those that every answer of the operation to this caller has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The whole body: parsed when it is JSON, else as text. */
  readonly body: Json | ((world: World) => unknown);
  /** Shown on every adapter too. */
  readonly everywhere?: boolean;
}

/** A refusal, as status and body of a case. */
export function refused(family: ErrorFamily, refusal: Refusal): Pick<WireCase, 'status' | 'body'> {
  return { status: refusal.status, body: refusalBody({ family }, refusal, { requestId: ID }) };
}

/** The pagination of a first page that holds everything there is. */
export function onePage(total: number, limit = 20): object {
  const pages = total > 0 ? 1 : 0;
  return { page: 1, limit, total, pages, totalPages: pages, hasNext: false, hasPrev: false };
}

/** A fault of one field of a query or body of the application API. */
export function faulted(path: string, message: string): Pick<WireCase, 'status' | 'body'> {
  return refused('application', {
    status: 422,
    message: path === '' ? message : `${path}: ${message}`,
    details: [{ path, message }],
  });
}

/** Pages and limits beyond their bounds, the same for every numbered list. */
export function badPages(path: string, asked: Partial<Asked> = {}): readonly WireCase[] {
  const rows: readonly (readonly [query: string, path: string, message: string])[] = [
    ['limit=101', 'limit', 'expected at most 100, got 3 characters of text'],
    ['limit=0', 'limit', 'expected a whole number from 1, got 1 characters of text'],
    ['page=0', 'page', 'expected a whole number from 1, got 1 characters of text'],
    [
      'sort=__proto__',
      'sort',
      expect.stringMatching(/^Invalid (option|input): expected .*, got 9 characters of text$/),
    ],
    [`search=${'x'.repeat(201)}`, 'search', 'expected at most 200 characters, got 201 characters of text'],
  ];
  return rows.map(([query, at, message]) => ({
    title: `answers 422 to ${query.slice(0, 20)}`,
    ask: { ...asked, path: `${path}?${query}` },
    status: 422,
    body: expect.objectContaining({
      error: {
        code: 'VALIDATION_ERROR',
        message: expect.stringMatching(new RegExp(`^${at}: `)),
        details: [{ path: at, message }],
      },
    }),
  }));
}
