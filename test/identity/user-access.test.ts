import { describe, expect, it } from 'vitest';
import { asAdmin } from '../support/people.ts';
import { createWire } from '../support/wire.ts';

describe('access of users', () => {
  it('rejects the tokens of a disabled user at once, also after the user is enabled again', async () => {
    const wire = await createWire();
    const { app } = wire;
    const grace = await app.addUser('grace@example.com');
    const token = await app.token(grace);
    const ask = () =>
      wire.send({ method: 'GET', path: '/api/v1/me', headers: { Authorization: `Bearer ${token}` } });
    const change = async (disabled: boolean) => {
      const asked = {
        method: 'PUT',
        path: `/api/users/${grace.id}/access`,
        body: JSON.stringify({ disabled }),
      };
      return wire.send({ ...asked, ...(await asAdmin(asked)(app)) });
    };
    expect((await ask()).status).toBe(200);
    expect((await change(true)).status).toBe(200);
    expect((await ask()).status).toBe(401);
    expect((await change(false)).status).toBe(200);
    expect((await ask()).status).toBe(401);
  });
});
