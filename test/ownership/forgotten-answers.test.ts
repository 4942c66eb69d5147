import { IDEMPOTENCY } from '@questline/core/internal';
import { forgetUser } from '@questline/core/personal-data';
import { expect, it } from 'vitest';
import { ASK, createOpenAIApp } from '../openai/support.ts';
import { sayAtOnce } from '../support/chat.ts';

const SECRET = 'The rain in Oslo is private.';

it.each([true, false])(
  'erases the answers that are kept for the keys of a user, and no others (stream: %s)',
  async (stream) => {
    const app = await createOpenAIApp({ onCall: sayAtOnce(SECRET) });
    const kept = async () => JSON.stringify(await app.services.store.collection(IDEMPOTENCY).find({}));
    const headers = { 'Idempotency-Key': 'one' };
    await (await app.send('POST', '/chat/completions', { ...ASK, stream }, headers)).text();
    const ofUser = await kept();
    expect(ofUser).toContain(SECRET);
    const other = await app.addUser('grace@example.com');
    await app.ledger.grant({ account: `user:${other.id}`, amount: 1e9, key: 'grace', reason: 'grant' });
    const { key } = await app.issue({ userId: other.id, scopes: ['ai:chat'] });
    // Its answer names the other user.
    const messages = [{ role: 'user', content: app.user.id }];
    const metadata = { of: app.user.id };
    const asOther = { ...headers, Authorization: `Bearer ${key}` };
    const send = () => app.send('POST', '/chat/completions', { ...ASK, stream, messages, metadata }, asOther);
    const text = await (await send()).text();
    expect(await forgetUser(app.services, { userId: app.user.id })).toBe(true);
    expect((await kept()).split(SECRET)).toHaveLength(2);
    expect(await (await send()).text()).toBe(text);
    expect(app.calls).toHaveLength(2);
    expect(await forgetUser(app.services, { userId: other.id })).toBe(true);
    expect(await kept()).toBe('[]');
  },
);
