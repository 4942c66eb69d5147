import { describe, expect, it } from 'vitest';
import { AuthorizationRefused, finishAuthorization } from '../../src/oauth/finish.ts';
import type { AuthorizedServer } from '../../src/oauth/options.ts';
import { createFlow, type Flow, ISSUER, metadata, SERVER } from './flow.ts';

const PLACE = { userId: 'ada', serverId: SERVER.id, serverUrl: SERVER.url };
const UNKNOWN = 'The authorization is unknown, finished or expired. Begin again.';
const NOT_ACCEPTED = 'The authorization server did not accept the code. Begin again.';

/** Begins an authorization, and finishes it with an answer. */
async function finish(
  answer: object,
  { flow = createFlow(), servers = [SERVER] }: { flow?: Flow; servers?: readonly AuthorizedServer[] } = {},
) {
  const state = await flow.begin();
  return finishAuthorization(flow.parts, servers, 'ada', { state, ...answer });
}

describe('the answer of an authorization server', () => {
  it('is exchanged for tokens, with all that identifies the request', async () => {
    const flow = createFlow();
    expect(await finish({ code: 'x' }, { flow })).toBe('diary');
    const [{ fields } = expect.fail()] = flow.to('/token');
    expect(fields).toEqual({
      grant_type: 'authorization_code',
      code: 'x',
      code_verifier: expect.stringMatching(/^.{43,}$/),
      redirect_uri: 'https://ai.test/callback',
      client_id: 'c',
      resource: SERVER.url,
    });
    expect((await flow.parts.vault.get(PLACE))?.value).toMatchObject({
      serverUrl: SERVER.url,
      authorizationServer: ISSUER,
      client: { client_id: 'c' },
      resource: SERVER.url,
      grant: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tokens: { access_token: 'access of x', refresh_token: 'refresh of x' },
    });
  });

  it('may grant another scope than was asked for', async () => {
    const scopeAfter = async (granted: string | undefined) => {
      const flow = createFlow();
      flow.answers.set(
        SERVER.url,
        () => new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer scope="read"' } }),
      );
      flow.answers.set(`${ISSUER}/token`, () =>
        Response.json({ access_token: 'a', token_type: 'Bearer', scope: granted }),
      );
      await finish({ code: 'x' }, { flow });
      return (await flow.parts.vault.get(PLACE))?.value.tokens.scope;
    };
    expect(await scopeAfter('list')).toBe('list');
    expect(await scopeAfter(undefined)).toBe('read');
  });

  it('is for one authorization of the user at one address, once', async () => {
    const flow = createFlow();
    const state = await flow.begin();
    const end = (userId: string, server = SERVER) =>
      finishAuthorization(flow.parts, [server], userId, { state, code: 'x' });
    await expect(end('eve')).rejects.toThrow(new AuthorizationRefused(UNKNOWN));
    expect(await end('ada')).toBe('diary');
    await expect(end('ada')).rejects.toThrow(new AuthorizationRefused(UNKNOWN));
    for (const server of [
      { ...SERVER, id: 'other' },
      { ...SERVER, url: 'https://other.test/mcp' },
    ])
      await expect(finish({ code: 'x' }, { servers: [server] })).rejects.toThrow(UNKNOWN);
    expect(flow.to('/token')).toHaveLength(1);
  });

  it('is a refusal, with a reason that is a code', async () => {
    for (const [error, reason] of [
      ['access_denied', 'access_denied'],
      ['<b>text</b>', 'no code'],
      ['x'.repeat(51), 'no code'],
      ['', 'no code'],
      ['text and_code', 'no code'],
      [undefined, 'no code'],
      ['x'.repeat(50), 'x'.repeat(50)],
    ])
      await expect(finish({ error })).rejects.toThrow(
        new AuthorizationRefused(`The authorization server refused: ${reason}`),
      );
  });

  it('comes from the issuer', async () => {
    expect(await finish({ code: 'x', iss: ISSUER })).toBe('diary');
    await expect(finish({ code: 'x', iss: 'https://other.test' })).rejects.toMatchObject({
      name: 'AuthorizationRefused',
      message: NOT_ACCEPTED,
    });
  });

  it('comes from the address of an authorization server without metadata', async () => {
    const bare = () => {
      const flow = createFlow();
      flow.answers.delete(`${ISSUER}/.well-known/oauth-authorization-server`);
      return flow;
    };
    for (const iss of [ISSUER, `${ISSUER}/`, undefined])
      expect(await finish({ code: 'x', iss }, { flow: bare() })).toBe('diary');
    for (const iss of ['https://other.test', `${ISSUER}/x`, 'https:/login.test']) {
      const flow = bare();
      await expect(finish({ code: 'x', iss }, { flow })).rejects.toThrow(NOT_ACCEPTED);
      expect(flow.to('/token')).toEqual([]);
    }
  });

  it('is not accepted, and the error has no text of the server', async () => {
    const flow = createFlow();
    flow.answers.set(`${ISSUER}/token`, () =>
      Response.json({ error: 'invalid_grant', error_description: 'secret' }, { status: 400 }),
    );
    await expect(finish({ code: 'x' }, { flow })).rejects.toMatchObject({
      name: 'AuthorizationRefused',
      message: NOT_ACCEPTED,
      cause: new Error('the authorization server refused: invalid_grant'),
    });
    expect(await flow.parts.vault.get(PLACE)).toBeUndefined();
  });

  it('is exchanged at the endpoint of the metadata', async () => {
    const flow = createFlow();
    const token_endpoint = `${ISSUER}/other-token`;
    flow.answers.set(`${ISSUER}/.well-known/oauth-authorization-server`, () =>
      Response.json(metadata({ token_endpoint })),
    );
    flow.answers.set(token_endpoint, () => Response.json({ access_token: 'a', token_type: 'Bearer' }));
    expect(await finish({ code: 'x' }, { flow })).toBe('diary');
    expect(flow.to('/other-token')).toHaveLength(1);
  });
});
