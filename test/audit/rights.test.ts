import type { UserRecord } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { addOrganization } from '../support/people.ts';
import { adminToken } from '../support/sign-in.ts';
import { createTestApp } from '../support/test-app.ts';

async function setUp() {
  const app = await createTestApp();
  const [owner, administrator, member, stranger] = (await Promise.all(
    ['owner', 'administrator', 'member', 'stranger'].map((name) => app.addUser(`${name}@example.com`)),
  )) as [UserRecord, UserRecord, UserRecord, UserRecord];
  const sharing = { ownerId: owner.id, writerIds: [administrator.id], readerIds: [member.id] };
  const { id } = await addOrganization(app, sharing);
  const ask = async (credential: string, path: string) => (await app.ask('GET', path, { credential })).status;
  return { app, owner, administrator, member, stranger, id, ask };
}

describe.each(['audit', 'audit/export'])('%s of an organization', (part) => {
  it('is read by those who administer it; a member gets 403, a stranger 404', async () => {
    const { app, owner, administrator, member, stranger, id, ask } = await setUp();
    const path = `/api/organizations/${id}/${part}`;
    const statuses = [];
    for (const who of [owner, administrator, member, stranger])
      statuses.push(await ask(await app.token(who), path));
    expect(statuses).toEqual([200, 200, 403, 404]);
    expect(await ask(await adminToken(app), path)).toBe(200);
  });
});

describe.each(['/api/audit', '/api/audit/export'])('%s', (path) => {
  it('is for administrators of the workspace', async () => {
    const { app, owner, ask } = await setUp();
    expect(await ask(await app.token(owner), path)).toBe(403);
    expect(await ask(await adminToken(app), path)).toBe(200);
  });
});
