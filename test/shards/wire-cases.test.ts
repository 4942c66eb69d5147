import { describe, expect, it } from 'vitest';
import { askedIn, expectCase, toTestAppOptions } from '../support/cases.ts';
import { shareShards } from '../support/shards.ts';
import { createTestApp } from '../support/test-app.ts';
import { createWire } from '../support/wire.ts';
import type { WireCase } from '../wire/cases/case.ts';
import { CASES } from '../wire/cases/index.ts';

const { api } = await createTestApp();
const OPERATIONS = api.routes.map(({ operation }) => operation);

const OWNER = 'it arranges another user by a change of the owner in the store';

/** Cases whose arrangement is not possible here, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'updateSession: rejects a system prompt for a session of another user': OWNER,
  'updateArtifact: rejects a change of the visibility by a writer': OWNER,
  'removeProjectSession: rejects the removal of a session of another user': OWNER,
  'removeProjectFile: rejects the removal of a file of another user': OWNER,
  'deleteSession: answers 409 for a session changed in parallel':
    'it changes the session between two steps, which are one step on PostgreSQL and SQLite',
};

/** Other errors are answered before the store is asked for records of users. */
const reachesRecords = ({ status }: WireCase): boolean => status < 400 || [403, 404, 409].includes(status);

/* The cases of one database. Other users and the organizations are on another shard than the first user. */
describe('on two shards', () => {
  const shards = shareShards();
  const rows = OPERATIONS.flatMap((operation) =>
    (CASES[operation.id] ?? []).map((one) => [`${operation.id}: ${one.title}`, operation, one] as const),
  );

  it.each(rows.filter(([title, , one]) => reachesRecords(one) && LEFT_OUT[title] === undefined))(
    '%s',
    async (_, operation, one) => {
      const options = await toTestAppOptions(operation, one);
      const wire = await createWire({ ports: await shards.fresh(), ...options });
      const answer = await wire.send(await askedIn(operation, one, wire.app));
      expectCase(operation, one, wire.app, answer);
      await wire.app.api.close();
    },
  );

  it('leave out only cases that exist', () => {
    const titles: readonly string[] = rows.map(([title]) => title);
    expect(Object.keys(LEFT_OUT).filter((title) => !titles.includes(title))).toEqual([]);
  });
});
