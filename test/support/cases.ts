import type { Operation } from '@questline/core';
import { getUserRateClass, type UserRateClass } from '@questline/core/internal';
import { expect } from 'vitest';
import { ID, type WireCase } from '../wire/cases/case.ts';
import { getPath } from '../wire/samples.ts';
import { JSON_TYPE, keyHeaders, ownHeaders, userHeaders } from './expected.ts';
import type { TestApp } from './test-app.ts';
import type { Answer, Asked } from './wire.ts';

export async function toTestAppOptions(
  operation: Operation,
  one: WireCase,
): Promise<NonNullable<Parameters<typeof import('./test-app.ts').createTestApp>[0]>> {
  const options = one.app?.() ?? {};
  const scopes = [...operation.scopes.slice(0, 1), ...(operation.alsoScopes ?? [])];
  return { ...options, key: { ...(scopes.length > 0 && { scopes }), ...options.key } };
}

/** The complete request of a case. */
export async function askedIn(operation: Operation, one: WireCase, app: TestApp): Promise<Asked> {
  const { method } = operation;
  const asked = typeof one.ask === 'function' ? await one.ask(app) : one.ask;
  return {
    method,
    path: getPath(operation),
    ...asked,
    headers: { 'X-Request-ID': ID, ...(await getCredential(operation, one, app)), ...asked?.headers },
  };
}

async function getCredential(
  operation: Operation,
  one: WireCase,
  app: TestApp,
): Promise<Record<string, string>> {
  switch (getCaller(operation, one)) {
    case 'key':
      return { Authorization: `Bearer ${app.key}` };
    case 'token':
      return { Authorization: `Bearer ${await app.token()}` };
    case 'unknown':
      return {};
  }
}

function getCaller({ auth }: Operation, one: WireCase): 'key' | 'token' | 'unknown' {
  return one.caller ?? (auth === 'none' ? 'unknown' : auth === 'token' ? 'token' : 'key');
}

/** Checks status, every header and the complete body. */
export function expectCase(operation: Operation, one: WireCase, app: TestApp, answer: Answer): void {
  const body = typeof one.body === 'function' ? one.body(app) : one.body;
  const caller = getCaller(operation, one);
  expect({ status: answer.status, body: answer.body }).toEqual({ status: one.status, body });
  const rateClass = getUserRateClass(operation);
  expect(answer.headers).toEqual({
    ...ownHeaders(operation, ID),
    ...(body !== '' || answer.headers['content-type'] !== undefined ? JSON_TYPE : {}),
    ...(caller === 'key' && operation.rate.key !== 'unlimited' && keyHeaders(operation)),
    ...(caller === 'token' && rateClass !== undefined && getUserHeaders(app, rateClass)),
    ...one.headers,
  });
}

function getUserHeaders(app: TestApp, rateClass: UserRateClass): Record<string, string> {
  const { limit, per } = app.services.limits[rateClass];
  return userHeaders(limit, limit - 1, per === 'hour' ? 3_600_000 : 60_000);
}
