import { describe, expect, it } from 'vitest';
import { createScriptedProvider } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';

const BODY = {
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
};

/** An application whose ledger cannot settle the completion that it has answered. */
async function openOutage() {
  const outage = { isOn: true };
  const provider = createScriptedProvider((call) => {
    call.say({ type: 'text', text: 'abcdefghij' }, { type: 'usage', usage: { input: 4, output: 4 } });
    call.end();
  });
  const app = await createTestApp({
    models: [provider],
    credits: 10,
    ledger: (ledger) => ({
      ...ledger,
      settle: (...args) => (outage.isOn ? Promise.reject(new Error('away')) : ledger.settle(...args)),
    }),
  });
  const response = await app.ask('POST', '/api/ai/v1/completions', { body: BODY });
  await response.text();
  await app.settle();
  const account = `user:${app.user.id}`;
  const charges = () => app.services.ledger.charges({ account }, 10);
  return { app, outage, account, charges };
}

describe('a completion whose settlement failed', () => {
  it('is charged once when the API closes just after the outage', async () => {
    const { app, outage, account, charges } = await openOutage();
    const before = await app.services.ledger.balance(account);
    expect(before.held).toBeGreaterThan(0);
    outage.isOn = false;
    await app.api.close();
    const after = await app.services.ledger.balance(account);
    expect([before.posted - after.posted, after.held]).toEqual([80_000, 0]);
    expect(await charges()).toHaveLength(1);
  });

  it('is reported with its account and amount when the API closes during the outage', async () => {
    const { app, account } = await openOutage();
    await app.api.close();
    expect(String(app.incidents.at(-1)?.error)).toContain(`the charge of 80000 micro-credits of ${account}`);
  });
});
