import type { UserRecord } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { grant, pay } from '../support/charges.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { adminToken } from '../support/sign-in.ts';
import { createTestApp } from '../support/test-app.ts';

async function setUp() {
  const app = await createTestApp();
  const [owner, administrator, member, stranger] = (await Promise.all(
    ['owner', 'administrator', 'member', 'stranger'].map((name) => app.addUser(`${name}@example.com`)),
  )) as [UserRecord, UserRecord, UserRecord, UserRecord];
  const sharing = { ownerId: owner.id, writerIds: [administrator.id], readerIds: [member.id] };
  const { id } = await addOrganization(app, sharing);
  const other = await addOrganization(app, { ownerId: stranger.id });
  for (const organization of [id, other.id]) await grant(app, `organization:${organization}`, 10);
  await pay(app, { account: `organization:${id}`, userId: member.id });
  await pay(app, { account: `organization:${other.id}`, userId: stranger.id });
  const ask = async (credential: string, path: string) => {
    const answer = await app.ask('GET', path, { credential });
    const { request_id: _, ...body } = JSON.parse((await answer.text()).split('\n')[0] ?? '');
    return { status: answer.status, body };
  };
  return { app, owner, administrator, member, stranger, id, ask };
}

describe.each(['credits', 'credits/export', 'usage-report'])('%s of an organization', (part) => {
  it('is read by those who administer it; a member gets 403, a stranger the answer for an unknown id', async () => {
    const { app, owner, administrator, member, stranger, id, ask } = await setUp();
    const path = `/api/organizations/${id}/${part}` as const;
    const asked = async (who: UserRecord, which = path) => ask(await app.token(who), which);
    const own = await asked(owner);
    expect(own.status).toBe(200);
    expect(await asked(administrator)).toEqual(own);
    expect(await ask(await adminToken(app), path)).toEqual(own);
    expect((await asked(member)).status).toBe(403);
    const refused = await asked(stranger);
    expect(refused.status).toBe(404);
    expect(await asked(stranger, `/api/organizations/${'f'.repeat(24)}/${part}`)).toEqual(refused);
  });
});

describe('an organization', () => {
  it('shows its own money only', async () => {
    const { app, owner, id } = await setUp();
    const path = `/api/organizations/${id}` as const;
    expect((await callAs(app, owner, 'GET', `${path}/credits`)).body).toEqual({ balance: 9, reserved: 0 });
    const to = new Date(app.clock.now() + 1).toISOString();
    const report = await callAs(app, owner, 'GET', `${path}/usage-report?to=${to}`);
    expect(report.body.total).toMatchObject({ requests: 1, credits: 1 });
    const answer = await app.ask('GET', `${path}/credits/export`, { credential: await app.token(owner) });
    const lines = (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ account, credits }) => [account, credits])).toEqual([
      [`organization:${id}`, 10],
      [`organization:${id}`, -1],
    ]);
  });
});

describe.each(['/api/ledger/export', '/api/usage-report'])('%s', (path) => {
  it('is for administrators of the workspace', async () => {
    const { app, owner, ask } = await setUp();
    expect((await ask(await app.token(owner), path)).status).toBe(403);
    expect((await ask(await adminToken(app), path)).status).toBe(200);
  });
});
