import type { ErrorFamily } from '@questline/core/internal';
import { expect } from 'vitest';
import { type ExpectedError, refusalBody } from '../../support/expected.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';

/** The request ID of every case. */
export const ID = 'wire-1';

/** A JSON value; matchers replace parts that tests do not fix. */
export type Json = string | object | null;

/** A request and its expected answer. */
export interface WireCase {
  readonly title: string;
  /** Created for each run, because providers and settings have state. */
  readonly app?: () => TestAppOptions;
  /** Default: a key with the required scopes, for operations that need credentials. */
  readonly caller?: 'key' | 'token' | 'unknown';
  /** Default: the operation's own method and path, without a body. */
  readonly ask?: Partial<Asked> | ((app: TestApp) => Partial<Asked> | Promise<Partial<Asked>>);
  readonly status: number;
  /** In addition to the headers of every answer of the operation to this caller. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The complete body: parsed if it is JSON, else as text. */
  readonly body: Json | ((app: TestApp) => unknown);
  /** Also tested on every adapter. */
  readonly everywhere?: boolean;
}

/** An error response, as status and body of a case. */
export function refused(family: ErrorFamily, refusal: ExpectedError): Pick<WireCase, 'status' | 'body'> {
  return { status: refusal.status, body: refusalBody({ family }, refusal, { requestId: ID }) };
}

/** The pagination of a first page that contains all entries. */
export function onePage(total: number, limit = 20): object {
  const pages = total > 0 ? 1 : 0;
  return { page: 1, limit, total, pages, totalPages: pages, hasNext: false, hasPrev: false };
}

/** An error for an invalid field of a query or body of the application API. */
export function faulted(path: string, message: string): Pick<WireCase, 'status' | 'body'> {
  return refused('application', {
    status: 422,
    message: path === '' ? message : `${path}: ${message}`,
    details: [{ path, message }],
  });
}

/** Pages and limits beyond their bounds, equal for every numbered list. */
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
