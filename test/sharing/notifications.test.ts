import { describe, expect, it } from 'vitest';
import { delayed } from '../../packages/core/test/delayed.ts';
import { makeSession } from '../support/owned-resources.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp } from '../support/test-app.ts';

describe('mail of an invite', () => {
  it('is not sent to a user who has disabled mails; the invite is listed', async () => {
    const app = await createTestApp();
    const grace = await app.addUser('grace@example.com');
    const invite = async () => {
      const id = await makeSession(app, app.user);
      await callAs(app, app.user, 'POST', `/api/session/${id}/invites`, { email: grace.email });
    };
    const off = { notifications: { email: false } };
    expect((await callAs(app, grace, 'PUT', '/api/settings/own', off)).body).toMatchObject(off);
    await invite();
    expect(app.mails).toEqual([]);
    expect((await callAs(app, grace, 'GET', '/api/invites')).body.pagination.total).toBe(1);
    await callAs(app, grace, 'PUT', '/api/settings/own', { notifications: { email: true } });
    await invite();
    expect(app.mails.map(({ to }) => to)).toEqual([grace.email]);
  });

  it('is sent to a recipient with mails before the answer, also if the sender has disabled them', async () => {
    const app = await createTestApp({ mailer: delayed });
    const grace = await app.addUser('grace@example.com');
    const id = await makeSession(app, app.user);
    await callAs(app, app.user, 'PUT', '/api/settings/own', { notifications: { email: false } });
    await callAs(app, app.user, 'POST', `/api/session/${id}/invites`, { email: grace.email });
    expect(app.mails.map(({ to }) => to)).toEqual([grace.email]);
  });
});
