import { TOOL_CREDENTIALS } from '@questline/core/internal';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { renewTokens } from '../../src/oauth/renew.ts';
import { createFlow, type Flow, ISSUER, metadata, SERVER } from './flow.ts';

const PLACE = { userId: 'ada', serverId: SERVER.id, serverUrl: SERVER.url };
const ACCESS = 'access of code-ada';

afterEach(() => void vi.useRealTimers());

const tokensOf = async (flow: Flow) => (await flow.parts.vault.get(PLACE))?.value.tokens;
const renew = (flow: Flow, server = SERVER, refused: string | undefined = ACCESS) =>
  renewTokens(flow.parts, server, 'ada', refused);
const recordOf = async (flow: Flow) => (await flow.store.collection(TOOL_CREDENTIALS).find({}))[0];

/** A user who has authorized, and the answers of the token endpoint afterwards. */
async function createConnected(...answers: readonly (Response | (() => Promise<Response>))[]): Promise<Flow> {
  const flow = createFlow();
  await flow.connect();
  flow.asked.splice(0);
  const left = [...answers];
  if (answers.length > 0) {
    flow.answers.set(`${ISSUER}/token`, () => {
      const next = left.shift() ?? expect.fail('no answer is left');
      return next instanceof Response ? next : next();
    });
  }
  return flow;
}

const refusal = (error: string) => Response.json({ error, error_description: 'secret' }, { status: 400 });

describe('the renewal of tokens', () => {
  it('sends the refresh token to the authorization server, as the client', async () => {
    const flow = await createConnected();
    const before = await recordOf(flow);
    await renew(flow);
    expect(flow.asked.map(({ url, fields }) => [url, fields])).toEqual([
      [
        `${ISSUER}/token`,
        {
          grant_type: 'refresh_token',
          refresh_token: 'refresh of code-ada',
          client_id: 'c',
          resource: SERVER.url,
        },
      ],
    ]);
    expect(await tokensOf(flow)).toMatchObject({
      access_token: 'access of refresh of code-ada',
      refresh_token: 'refresh of refresh of code-ada',
    });
    const after = await recordOf(flow);
    expect([after?.renewingUntil, after?.version]).toEqual([0, (before?.version ?? 0) + 1]);
  });

  it('keeps what the answer does not replace', async () => {
    const flow = createFlow();
    flow.answers.set(`${ISSUER}/token`, ({ fields }) =>
      Response.json(
        fields.grant_type === 'refresh_token'
          ? { access_token: 'next', token_type: 'Bearer' }
          : { access_token: ACCESS, token_type: 'Bearer', refresh_token: 'r', scope: 'read' },
      ),
    );
    await flow.connect();
    await renew(flow);
    expect(await tokensOf(flow)).toMatchObject({ access_token: 'next', refresh_token: 'r', scope: 'read' });
  });

  it('is not needed if another token is in use already', async () => {
    const flow = await createConnected();
    await renew(flow, SERVER, 'an earlier one');
    await renewTokens(flow.parts, SERVER, 'ada', undefined);
    expect(flow.asked).toEqual([]);
  });

  it('is impossible without an authorization', async () => {
    const flow = createFlow();
    await expect(renew(flow)).rejects.toThrow('the user has not authorized the tool server');
  });

  it('is impossible without a refresh token: the authorization ends', async () => {
    const flow = createFlow();
    flow.answers.set(`${ISSUER}/token`, () => Response.json({ access_token: 'a', token_type: 'Bearer' }));
    await flow.connect();
    const failure = new Error('the store is away');
    const vault = { ...flow.parts.vault, remove: () => Promise.reject(failure) };
    await expect(renewTokens({ ...flow.parts, vault }, SERVER, 'ada', 'a')).rejects.toBe(failure);
    await expect(renew(flow, SERVER, 'a')).rejects.toThrow('the tool server has ended the authorization');
    expect(await recordOf(flow)).toBeUndefined();
  });

  it('uses the metadata and the present secret of a client that the host has registered', async () => {
    const client = { id: 'by-hand', secret: 'old', issuer: ISSUER };
    const flow = createFlow();
    await flow.connect('ada', { ...SERVER, client });
    const token_endpoint = `${ISSUER}/other-token`;
    flow.answers.set(`${ISSUER}/.well-known/oauth-authorization-server`, () =>
      Response.json(
        metadata({ token_endpoint, token_endpoint_auth_methods_supported: ['client_secret_post'] }),
      ),
    );
    flow.answers.set(token_endpoint, () => Response.json({ access_token: 'next', token_type: 'Bearer' }));
    await renew(flow, { ...SERVER, client: { ...client, secret: 'new' } });
    expect(flow.to('/other-token')[0]?.fields).toMatchObject({ client_id: 'by-hand', client_secret: 'new' });
  });

  it('is asked for without metadata at the usual address', async () => {
    const flow = await createConnected();
    flow.answers.delete(`${ISSUER}/.well-known/oauth-authorization-server`);
    await renew(flow);
    expect(flow.to('/token')).toHaveLength(1);
  });
});

describe('a renewal that is refused', () => {
  it('ends the authorization if the grant has ended, and keeps the client', async () => {
    const flow = await createConnected(refusal('invalid_grant'));
    await expect(renew(flow)).rejects.toThrow(new Error('the authorization server refused: invalid_grant'));
    expect(await recordOf(flow)).toBeUndefined();
    await flow.begin();
    expect(flow.to('/register')).toEqual([]);
  });

  it.each(['invalid_client', 'unauthorized_client'])(
    'ends the authorization and the registration of the client with %s',
    async (code) => {
      const flow = await createConnected(refusal(code));
      await expect(renew(flow)).rejects.toThrow(`the authorization server refused: ${code}`);
      expect(await recordOf(flow)).toBeUndefined();
      await flow.begin();
      expect(flow.to('/register')).toHaveLength(1);
    },
  );

  it.each(['server_error', 'invalid_scope', 'invalid_request'])(
    'can be repeated at once after %s',
    async (code) => {
      const flow = await createConnected(
        refusal(code),
        Response.json({ access_token: 'next', token_type: 'Bearer' }),
      );
      await expect(renew(flow)).rejects.toThrow(`the authorization server refused: ${code}`);
      expect((await recordOf(flow))?.renewingUntil).toBe(0);
      await renew(flow);
      expect((await tokensOf(flow))?.access_token).toBe('next');
    },
  );

  it('can be repeated after an answer that cannot be read', async () => {
    const flow = await createConnected(new Response('<html>secret'));
    await expect(renew(flow)).rejects.toThrow(
      new Error('the answer of the authorization server cannot be read'),
    );
    expect((await recordOf(flow))?.renewingUntil).toBe(0);
  });

  it.each([
    ['remove', 'invalid_grant'],
    ['removeClient', 'invalid_client'],
    ['release', 'server_error'],
  ])('fails with the store that cannot %s', async (method, code) => {
    const flow = await createConnected(refusal(code));
    const failure = new Error('the store is away');
    const vault = { ...flow.parts.vault, [method]: () => Promise.reject(failure) };
    await expect(renewTokens({ ...flow.parts, vault }, SERVER, 'ada', ACCESS)).rejects.toBe(failure);
  });

  it('leaves an authorization that has replaced it', async () => {
    const flow = createFlow();
    await flow.connect();
    flow.answers.set(`${ISSUER}/token`, async ({ fields }) => {
      if (fields.grant_type !== 'refresh_token')
        return Response.json({ access_token: 'new', token_type: 'Bearer' });
      await flow.connect();
      return refusal('invalid_grant');
    });
    await expect(renew(flow)).rejects.toThrow('invalid_grant');
    expect((await tokensOf(flow))?.access_token).toBe('new');
  });
});

describe('a renewal by two at a time', () => {
  it('sends the refresh token once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let answer = (): void => undefined;
    const flow = await createConnected(async () => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return Response.json({ access_token: 'next', token_type: 'Bearer' });
    });
    const first = renew(flow);
    await vi.waitFor(() => expect(flow.to('/token')).toHaveLength(1));
    let isOver = false;
    const second = renew(flow).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(500);
    expect(isOver).toBe(false);
    answer();
    await first;
    await vi.advanceTimersByTimeAsync(100);
    await second;
    expect(flow.to('/token')).toHaveLength(1);
  });

  it('gives up when the other one does not end in ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const flow = await createConnected();
    const record = (await recordOf(flow)) ?? expect.fail();
    expect(await flow.parts.vault.reserve(record)).toBe(true);
    const waiting = renew(flow);
    const ended = expect(waiting).rejects.toThrow('another process did not renew the tokens in time');
    let isOver = false;
    waiting.catch(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(9_999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(flow.asked).toEqual([]);
  });

  it('takes over after 30 seconds from one that has ended without a word', async () => {
    const flow = await createConnected();
    await flow.parts.vault.reserve((await recordOf(flow)) ?? expect.fail());
    flow.now += 30_000;
    await renew(flow);
    expect(flow.to('/token')).toHaveLength(1);
  });

  it('revokes the tokens of a user who has disconnected meanwhile', async () => {
    const flow: Flow = await createConnected(async () => {
      await flow.parts.vault.withdraw(PLACE);
      return Response.json({ access_token: 'next', token_type: 'Bearer' });
    });
    await renew(flow);
    expect(await recordOf(flow)).toBeUndefined();
    expect(flow.to('/revoke').map(({ fields }) => fields.token)).toEqual(['refresh of code-ada', 'next']);
  });

  it('revokes nothing of a user who has connected again', async () => {
    const flow = createFlow();
    await flow.connect();
    flow.answers.set(`${ISSUER}/token`, async ({ fields }) => {
      if (fields.grant_type === 'refresh_token') await flow.connect();
      return Response.json({ access_token: `new ${String(fields.grant_type)}`, token_type: 'Bearer' });
    });
    await renew(flow);
    expect((await tokensOf(flow))?.access_token).toBe('new authorization_code');
    expect(flow.to('/revoke')).toEqual([]);
  });
});
