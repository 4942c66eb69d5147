import type { UserRecord } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ApprovalApp, createApprovalApp } from '../support/approvals.ts';
import { addOrganization } from '../support/people.ts';
import { callAs, shareWith } from '../support/sharing.ts';

const ASK = { message: 'Write to Bob', enableTools: true, approvals: true, newConversation: true };
const APPROVE = { decisions: [{ callId: '1.0', decision: 'approve' }] };

interface Waiting {
  readonly app: ApprovalApp;
  readonly member: UserRecord;
  readonly account: string;
  readonly organizationId: string;
  readonly id: string;
  decide(): Promise<{ readonly status: number; readonly body: unknown }>;
}

/** A turn of a member that an organization pays for, and that waits for a decision. */
async function setUp(): Promise<Waiting> {
  const app = await createApprovalApp();
  const { id: organizationId } = await addOrganization(app);
  const account = `organization:${organizationId}`;
  await app.ledger.grant({ account, amount: 1_000_000_000, key: 'paid', reason: 'paid' });
  const member = await app.addUser('bob@example.com');
  await shareWith(app, app.user, `organization/${organizationId}`, member);
  const asked = await app.chat({ ...ASK, organizationId }, { credential: await app.token(member) });
  const { id } = asked.body;
  await app.settle();
  const decide = () => callAs(app, member, 'POST', `/api/v1/quests/${id}/decisions`, APPROVE);
  return { app, member, account, organizationId, id, decide };
}

describe('a turn that waits while an organization pays', () => {
  it('goes on for a member', async () => {
    const { app, account, decide } = await setUp();
    expect((await decide()).status).toBe(200);
    await app.settle();
    expect(app.sent).toHaveLength(1);
    expect(await app.ledger.charges({ account }, 10)).toHaveLength(2);
  });

  it.each([
    [
      'is removed',
      async ({ app, member, organizationId }: Waiting) =>
        callAs(app, app.user, 'POST', `/api/organization/${organizationId}/revokeSharing`, {
          userId: member.id,
        }),
    ],
    [
      'leaves',
      async ({ app, member, organizationId }: Waiting) =>
        callAs(app, member, 'POST', `/api/organization/${organizationId}/leave`),
    ],
  ])('does not go on for a member who %s', async (_title, end) => {
    const waiting = await setUp();
    const { app, member, account, id, decide } = waiting;
    expect((await end(waiting)).status).toBe(200);
    const before = await app.ledger.balance(account);
    expect(await decide()).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('organization') },
    });
    await app.settle();
    expect(app.sent).toEqual([]);
    expect(await app.ledger.balance(account)).toEqual(before);
    const stopped = await callAs(app, member, 'POST', `/api/v1/quests/${id}/cancel`);
    expect(stopped).toMatchObject({ status: 200, body: { status: 'stopped' } });
  });
});
