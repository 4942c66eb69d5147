import { createServices, createUser, issueApiKey, type Scope } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';

const app = await createTestApp();

describe('input of the host', () => {
  it.each([
    [{ scopes: ['ai:chatt' as Scope] }, /^scopes: unknown "ai:chatt"\. Possible: .*ai:chat/],
    [{ scopes: [] }, /^scopes: expected at least one$/],
    [{ userId: 'missing' }, /^userId: there is no user "missing"$/],
  ])('is validated in issueApiKey: %j', async (input, message) => {
    const issuing = issueApiKey(app.services, {
      userId: app.user.id,
      name: 'first',
      scopes: ['ai:chat'],
      ...input,
    });
    await expect(issuing).rejects.toThrow(message);
  });

  it.each(['42', 'auth0|abc', '0F'.repeat(12), 'c56a4180-65aa-42ec-a945-5fd21dec0538'])(
    'is validated as the id of a user: %s',
    async (id) => {
      const creating = createUser(app.services, { id, email: 'ann@example.com', username: 'ann' });
      await expect(creating).rejects.toThrow('id: expected 24 lower-case hexadecimal characters');
    },
  );

  it('is validated as the account of a grant', async () => {
    const { ledger } = app.services;
    const granting = ledger.grant({ account: app.user.id, amount: 1, key: 'one', reason: 'Gift' });
    await expect(granting).rejects.toThrow(
      `account: expected "user:<id>" or "organization:<id>", got "${app.user.id}"`,
    );
    expect(
      await ledger.grant({ account: `user:${app.user.id}`, amount: 1, key: 'one', reason: 'Gift' }),
    ).toBe(true);
  });

  it('is validated as a model name, and the error lists the possible ones', () => {
    const ports = { ...createMemoryPorts(), models: [createScriptedProvider(() => undefined)] };
    const create = (settings: object) => createServices(ports, { jwtSecret: 'a'.repeat(64), ...settings });
    expect(() =>
      create({ admin: { DefaultAPIModel: 'nope' }, fallbacks: { gone: ['scripted'], scripted: ['lost'] } }),
    ).toThrow(
      /admin\.DefaultAPIModel: expected the id of a model of the type text, got "nope"\. Possible: .*scripted.*fallbacks\.gone: .*"gone".*fallbacks\.scripted: .*"lost"/,
    );
    expect(() => create({ admin: { DefaultImageModel: 'scripted' } })).toThrow(
      /DefaultImageModel: expected the id of a model of the type image, got "scripted"\. Possible: none$/,
    );
    expect(() =>
      create({ admin: { DefaultAPIModel: 'scripted' }, fallbacks: { scripted: ['scripted'] } }),
    ).not.toThrow();
  });

  it('can be a model name that a provider lists later', () => {
    const provider = { ...createScriptedProvider(() => undefined), refreshModels: async () => undefined };
    const ports = { ...createMemoryPorts(), models: [provider] };
    const settings = { jwtSecret: 'a'.repeat(64), admin: { DefaultAPIModel: 'later' } };
    expect(() => createServices(ports, settings)).not.toThrow();
  });
});
