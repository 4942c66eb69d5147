import { COLLECTIONS, type Operation } from '@questline/core';
import { createSqlPorts } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { shareDatabase } from '../../packages/sql/test/shared.ts';
import { FIELDS, inFields, inPaths, withBody, withPath, withQuery } from '../ownership/id-places.ts';
import { defaultCall } from '../ownership/usual.ts';
import { MAKERS } from '../support/owned-resources.ts';
import { shareShards } from '../support/shards.ts';
import type { TestApp, TestAppOptions } from '../support/test-app.ts';
import type { Asked } from '../support/wire.ts';
import { type Effect, readEffect } from './effects.ts';
import { SHARERS } from './shared-records.ts';

/*
 * Records of another user that the caller may change, on another shard. Every operation is sent with their ids, once on
 * one database and once on two shards: the answer, what is stored after all jobs, and all balances are the same.
 */

type Put = (asked: Asked, id: string, app: TestApp) => Promise<Asked> | Asked;

async function send(options: TestAppOptions, operation: Operation, noun: string, put: Put): Promise<Effect> {
  const { wire, asked } = await defaultCall(operation, options);
  const { app } = wire;
  const other = await app.addUser('other@example.com');
  const id = await SHARERS[noun]?.(app, other);
  if (id === undefined || id === '') throw new Error(`there is no id of ${noun}`);
  const { status } = await wire.send(await put(asked, id, app));
  return readEffect(app, [app.user, other], [status]);
}

describe('an id of a shared record of another user', () => {
  const database = shareDatabase(SQLITE_MEMORY, COLLECTIONS);
  const shards = shareShards();

  const compare = async (operation: Operation, noun: string, put: Put): Promise<void> => {
    const one = await database.fresh();
    const expected = await send({ ports: (given) => createSqlPorts(one, given) }, operation, noun, put);
    const effect = await send({ ports: await shards.fresh() }, operation, noun, put);
    expect(effect).toEqual(expected);
    expect(effect.statuses[0]).toBeLessThan(500);
  };

  describe('in a path has the effect of one database', () => {
    it.each(inPaths.filter(([, , { noun }]) => noun in SHARERS))('%s', (_, operation, place) =>
      compare(operation, place.noun, (asked, id, app) =>
        withPath(asked, operation, async (other) =>
          other.name === place.name ? id : ((await MAKERS[other.noun]?.(app, app.user)) ?? ''),
        ),
      ),
    );
  });

  describe('in a field has the effect of one database', () => {
    it.each(inFields.filter(([, , , { path }]) => (FIELDS[path] ?? '') in SHARERS))(
      '%s',
      (_, operation, part, field) =>
        compare(operation, FIELDS[field.path] ?? '', (asked, id) =>
          part === 'body' ? withBody(asked, field, id) : withQuery(asked, field, id),
        ),
    );
  });
});
