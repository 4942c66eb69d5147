import type { Operation } from '@questline/core';
import { expect } from 'vitest';
import { ID, type WireCase } from '../wire/cases/case.ts';
import { pathOf } from '../wire/samples.ts';
import { JSON_TYPE, keyHeaders, ownHeaders, userHeaders } from './expected.ts';
import type { Answer, Asked } from './wire.ts';
import type { World } from './world.ts';

export async function worldOptionsOf(
  operation: Operation,
  one: WireCase,
): Promise<NonNullable<Parameters<typeof import('./world.ts').createWorld>[0]>> {
  const options = one.world?.() ?? {};
  const scopes = [...operation.scopes.slice(0, 1), ...(operation.alsoScopes ?? [])];
  return { ...options, key: { ...(scopes.length > 0 && { scopes }), ...options.key } };
}

/** The whole request of a case. */
export async function askedIn(operation: Operation, one: WireCase, world: World): Promise<Asked> {
  const { method } = operation;
  const asked = typeof one.ask === 'function' ? await one.ask(world) : one.ask;
  return {
    method,
    path: pathOf(operation),
    ...asked,
    headers: { 'X-Request-ID': ID, ...(await credentialOf(operation, one, world)), ...asked?.headers },
  };
}

async function credentialOf(
  operation: Operation,
  one: WireCase,
  world: World,
): Promise<Record<string, string>> {
  switch (callerOf(operation, one)) {
    case 'key':
      return { Authorization: `Bearer ${world.key}` };
    case 'token':
      return { Authorization: `Bearer ${await world.token()}` };
    case 'nobody':
      return {};
  }
}

function callerOf({ auth }: Operation, one: WireCase): 'key' | 'token' | 'nobody' {
  return one.caller ?? (auth === 'none' ? 'nobody' : auth === 'token' ? 'token' : 'key');
}

/** Status, every header and the whole body. */
export function expectCase(operation: Operation, one: WireCase, world: World, answer: Answer): void {
  const body = typeof one.body === 'function' ? one.body(world) : one.body;
  const caller = callerOf(operation, one);
  expect({ status: answer.status, body: answer.body }).toEqual({ status: one.status, body });
  const { user: rateClass } = operation.rate;
  expect(answer.headers).toEqual({
    ...ownHeaders(operation, ID),
    ...(body !== '' || answer.headers['content-type'] !== undefined ? JSON_TYPE : {}),
    ...(caller === 'key' && operation.rate.key !== 'unlimited' && keyHeaders(operation)),
    ...(caller === 'token' && rateClass !== 'unlimited' && userHeadersOf(world, rateClass)),
    ...one.headers,
  });
}

function userHeadersOf(
  world: World,
  rateClass: Exclude<Operation['rate']['user'], 'unlimited'>,
): Record<string, string> {
  const { limit, per } = world.services.limits[rateClass];
  return userHeaders(limit, limit - 1, per === 'hour' ? 3_600_000 : 60_000);
}
