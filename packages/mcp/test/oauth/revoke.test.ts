import { describe, expect, it } from 'vitest';
import { getClient } from '../../src/oauth/client.ts';
import type { AuthorizedServer } from '../../src/oauth/options.ts';
import { revokeTokens } from '../../src/oauth/revoke.ts';
import type { Credential } from '../../src/oauth/vault.ts';
import { createFlow, ISSUER, metadata, SERVER } from './flow.ts';

const CREDENTIAL: Credential = {
  serverUrl: SERVER.url,
  authorizationServer: ISSUER,
  client: { client_id: 'c', client_secret: 's', issuer: ISSUER, redirect_uris: [] },
  resource: undefined,
  grant: 'g',
  tokens: { access_token: 'a', token_type: 'Bearer', refresh_token: 'r' },
};

/** Revokes tokens at an authorization server with this metadata. */
async function revoke(more: object | undefined, credential = CREDENTIAL, answer?: () => Response) {
  const flow = createFlow();
  const known = `${ISSUER}/.well-known/oauth-authorization-server`;
  if (more === undefined) flow.answers.delete(known);
  else flow.answers.set(known, () => Response.json(metadata(more)));
  if (answer !== undefined) flow.answers.set(`${ISSUER}/revoke`, answer);
  await revokeTokens(flow.parts, SERVER, credential);
  const sent = flow.to('/revoke').map(({ fields, init }) => ({
    fields,
    authorization: new Headers(init.headers).get('authorization'),
    type: new Headers(init.headers).get('content-type'),
  }));
  return { flow, sent, errors: flow.errors };
}

const form = 'application/x-www-form-urlencoded';
const basic = `Basic ${Buffer.from('c:s').toString('base64')}`;

describe('the revocation of tokens', () => {
  it('sends the refresh token, then the access token', async () => {
    const { flow, sent, errors } = await revoke({
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
    });
    expect(sent).toEqual([
      { fields: { token: 'r', token_type_hint: 'refresh_token' }, authorization: basic, type: form },
      { fields: { token: 'a', token_type_hint: 'access_token' }, authorization: basic, type: form },
    ]);
    expect(flow.to('/revoke')[0]?.init).toMatchObject({ method: 'POST', redirect: 'manual' });
    expect(errors).toEqual([]);
  });

  it('sends the access token alone if there is no refresh token', async () => {
    const tokens = { access_token: 'a', token_type: 'Bearer' };
    const { sent } = await revoke({}, { ...CREDENTIAL, tokens });
    expect(sent.map(({ fields }) => fields.token)).toEqual(['a']);
  });

  it('identifies the client as the endpoint supports it', async () => {
    const identifies = async (more: object, client = CREDENTIAL.client) => {
      const { sent } = await revoke(more, { ...CREDENTIAL, client });
      const [
        {
          fields: { token, token_type_hint, ...own },
          authorization,
          type,
        } = expect.fail(),
      ] = sent;
      expect([token, token_type_hint, type]).toEqual(['r', 'refresh_token', form]);
      return { ...own, authorization };
    };
    const byBasic = { authorization: basic };
    const byPost = { client_id: 'c', client_secret: 's', authorization: null };
    const byId = { client_id: 'c', authorization: null };
    const tokenEndpoint = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    expect(await identifies(tokenEndpoint)).toEqual(byPost);
    expect(await identifies({ revocation_endpoint_auth_methods_supported: ['client_secret_post'] })).toEqual(
      byPost,
    );
    const own = { revocation_endpoint_auth_methods_supported: ['client_secret_basic'] };
    expect(await identifies({ ...tokenEndpoint, ...own })).toEqual(byBasic);
    expect(await identifies({ revocation_endpoint_auth_methods_supported: ['none'] })).toEqual(byId);
    const open = { client_id: 'c', issuer: ISSUER };
    expect(await identifies({ ...tokenEndpoint, ...own }, open)).toEqual(byId);
  });

  it('is not asked for where the metadata has no endpoint for it', async () => {
    for (const more of [undefined, { revocation_endpoint: undefined }]) {
      const { flow, errors } = await revoke(more);
      expect([flow.asked, errors]).toEqual([[], []]);
    }
  });

  it('is not asked for without encryption', async () => {
    const { flow, errors } = await revoke({ revocation_endpoint: 'http://login.test/revoke' });
    expect(flow.asked).toEqual([]);
    expect(errors).toEqual([[expect.any(Error), 'diary']]);
  });

  it('reports each token that was not revoked', async () => {
    const { errors } = await revoke({}, CREDENTIAL, () => new Response('secret', { status: 503 }));
    expect(errors).toEqual([
      [new Error('the refresh_token was not revoked: status 503'), 'diary'],
      [new Error('the access_token was not revoked: status 503'), 'diary'],
    ]);
  });

  it('reports a failure, and does not reject', async () => {
    const failure = new TypeError('offline');
    const { errors } = await revoke({}, CREDENTIAL, () => {
      throw failure;
    });
    expect(errors).toEqual([[failure, 'diary']]);
  });

  it('reads no answer', async () => {
    let isCancelled = false;
    const body = () =>
      new ReadableStream({
        cancel() {
          isCancelled = true;
        },
      });
    await revoke({}, CREDENTIAL, () => new Response(body()));
    expect(isCancelled).toBe(true);
  });
});

describe('the client of an authorization', () => {
  const stored = CREDENTIAL.client;
  const withClient = (client: AuthorizedServer['client']) => getClient({ ...SERVER, client }, stored);

  it('has the secret of its registration', () => {
    const whole = { client_id: 'c', client_secret: 's', issuer: ISSUER, redirect_uris: [] };
    expect(withClient(undefined)).toEqual(whole);
    expect(withClient({ id: 'other', secret: 'new', issuer: ISSUER })).toEqual(whole);
    expect(withClient({ id: 'c', secret: 'new', issuer: 'https://other.test' })).toEqual(whole);
    expect(getClient(SERVER, { client_id: 'c' })).toEqual({ client_id: 'c' });
  });

  it('has the present secret if the host has registered it', () => {
    expect(withClient({ id: 'c', secret: 'new', issuer: ISSUER })).toMatchObject({ client_secret: 'new' });
    expect('client_secret' in withClient({ id: 'c', issuer: ISSUER })).toBe(false);
  });
});
