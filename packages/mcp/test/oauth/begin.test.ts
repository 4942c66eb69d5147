import { TOOL_AUTHORIZATIONS, TOOL_CLIENTS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { beginAuthorization, clientKey, getClientMetadata } from '../../src/oauth/begin.ts';
import { createFlow, ISSUER, metadata, NOW, SERVER } from './flow.ts';

const PLACE = { userId: 'ada', serverId: SERVER.id, serverUrl: SERVER.url };
const given = { id: 'by-hand', secret: 's', issuer: ISSUER };

async function open(flow: ReturnType<typeof createFlow>, server = SERVER, scope?: string) {
  const { url, expiresAt } = await beginAuthorization(flow.parts, server, 'ada', scope);
  return { url: new URL(url), params: new URL(url).searchParams, expiresAt };
}

const challenge =
  (value: string, status = 401) =>
  () =>
    new Response(null, { status, headers: { 'www-authenticate': value } });

describe('the address that the user opens', () => {
  it('asks the authorization server of the tool server for a code', async () => {
    const flow = createFlow();
    const { url, params, expiresAt } = await open(flow);
    expect(`${url.origin}${url.pathname}`).toBe(`${ISSUER}/authorize`);
    expect(Object.fromEntries(params)).toEqual({
      response_type: 'code',
      client_id: 'c',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      redirect_uri: 'https://ai.test/callback',
      state: expect.stringMatching(/^[\w-]{43}$/),
      resource: SERVER.url,
    });
    expect(expiresAt).toBe(NOW + 600_000);
    const [first] = flow.asked;
    expect(first?.url).toBe(SERVER.url);
    expect(first?.init).toMatchObject({ method: 'POST', redirect: 'manual' });
    expect([...new Headers(first?.init.headers)]).toEqual([
      ['accept', 'application/json, text/event-stream'],
      ['content-type', 'application/json'],
    ]);
    expect(first?.fields).toEqual({ jsonrpc: '2.0', id: 1, method: 'ping' });
  });

  it('keeps what the end of the authorization needs', async () => {
    const flow = createFlow();
    flow.answers.set(SERVER.url, challenge('Bearer scope="read"'));
    const { params } = await open(flow);
    const begun = await flow.parts.vault.take(params.get('state') ?? '', 'ada');
    expect(begun).toMatchObject({
      serverId: 'diary',
      value: {
        serverUrl: SERVER.url,
        verifier: expect.stringMatching(/^.{43,}$/),
        client: { client_id: 'c' },
        resource: SERVER.url,
        authorizationServer: ISSUER,
        scope: 'read',
        discovery: { authorizationServerMetadata: { issuer: ISSUER } },
      },
    });
  });

  it('names the tool server as the resource where no metadata does', async () => {
    const flow = createFlow();
    flow.answers.delete('https://tools.test/.well-known/oauth-protected-resource/mcp');
    const own = 'https://tools.test/.well-known/oauth-authorization-server';
    flow.answers.set(own, () => Response.json(metadata({ issuer: 'https://tools.test' })));
    expect((await open(flow)).params.get('resource')).toBe(SERVER.url);
  });

  it('names the resource that the metadata names', async () => {
    const flow = createFlow();
    flow.answers.set('https://tools.test/.well-known/oauth-protected-resource/mcp', () =>
      Response.json({ resource: 'https://tools.test/', authorization_servers: [ISSUER] }),
    );
    const { params } = await open(flow);
    expect(params.get('resource')).toBe('https://tools.test/');
    const begun = await flow.parts.vault.take(params.get('state') ?? '', 'ada');
    expect(begun?.value.resource).toBe('https://tools.test/');
  });

  it('is found without reading the refusal', async () => {
    const flow = createFlow();
    let isCancelled = false;
    const body = new ReadableStream({
      cancel() {
        isCancelled = true;
      },
    });
    flow.answers.set(SERVER.url, () => new Response(body, { status: 401 }));
    await open(flow);
    expect(isCancelled).toBe(true);
  });

  it('asks for the scope of the refusal, and for the metadata that it names', async () => {
    const flow = createFlow();
    const other = 'https://tools.test/other-metadata';
    flow.answers.set(SERVER.url, challenge(`Bearer resource_metadata="${other}", scope="read write"`));
    flow.answers.delete('https://tools.test/.well-known/oauth-protected-resource/mcp');
    flow.answers.set(other, () => Response.json({ resource: SERVER.url, authorization_servers: [ISSUER] }));
    const { params } = await open(flow);
    expect(params.get('scope')).toBe('read write');
    expect(flow.asked.map(({ url }) => url)).toContain(other);
  });

  it('asks for no scope of another answer', async () => {
    const flow = createFlow();
    flow.answers.set(SERVER.url, challenge('Bearer scope="read"', 403));
    expect((await open(flow)).params.has('scope')).toBe(false);
  });

  it('asks for more than what was granted, each once', async () => {
    const flow = createFlow();
    flow.answers.set(SERVER.url, challenge('Bearer scope="unread"'));
    expect((await open(flow, SERVER, 'write  read')).params.get('scope')).toBe('write read');
    flow.answers.set(SERVER.url, challenge('Bearer scope="read list"'));
    await flow.connect();
    expect((await flow.parts.vault.get(PLACE))?.value.tokens.scope).toBe('read list');
    expect((await open(flow, SERVER, 'write read')).params.get('scope')).toBe('read list write');
  });

  it('has to be https, unless the tool server is not', async () => {
    for (const endpoint of ['http://login.test/authorize', 'ftp://login.test/authorize']) {
      const flow = createFlow();
      flow.answers.set(`${ISSUER}/.well-known/oauth-authorization-server`, () =>
        Response.json(metadata({ authorization_endpoint: endpoint })),
      );
      await expect(open(flow)).rejects.toThrow('the authorization server names an address that is not https');
      expect(await flow.store.collection(TOOL_AUTHORIZATIONS).find({})).toEqual([]);
    }
    const plain = { id: 'diary', url: 'http://tools.test/mcp' };
    const flow = createFlow();
    flow.answers.set(plain.url, challenge('Bearer'));
    flow.answers.set('http://tools.test/.well-known/oauth-protected-resource/mcp', () =>
      Response.json({ resource: plain.url, authorization_servers: [ISSUER] }),
    );
    const withEndpoint = (endpoint: string) => {
      flow.answers.set(`${ISSUER}/.well-known/oauth-authorization-server`, () =>
        Response.json(metadata({ authorization_endpoint: endpoint })),
      );
      return open(flow, plain);
    };
    expect((await withEndpoint('http://login.test/authorize')).url.protocol).toBe('http:');
    await expect(withEndpoint('ftp://login.test/authorize')).rejects.toThrow('is not https');
  });

  it('stays closed if a server refuses, without the text of that server', async () => {
    const flow = createFlow();
    flow.answers.set(`${ISSUER}/register`, () =>
      Response.json({ error: 'invalid_client_metadata', error_description: 'secret' }, { status: 400 }),
    );
    await expect(open(flow)).rejects.toThrow(
      new Error('the authorization server refused the registration: status 400'),
    );
  });
});

describe('the client of a deployment', () => {
  it('is registered once at each authorization server', async () => {
    const flow = createFlow({ clientName: 'Ours' });
    await open(flow);
    await open(flow);
    expect(flow.to('/register').map(({ fields }) => fields)).toEqual([
      expect.objectContaining({
        client_name: 'Ours',
        redirect_uris: ['https://ai.test/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      }),
    ]);
  });

  it('has to be kept before the user opens the address', async () => {
    const flow = createFlow();
    const failure = new Error('the store is away');
    const vault = { ...flow.parts.vault, saveClient: () => Promise.reject(failure) };
    await expect(beginAuthorization({ ...flow.parts, vault }, SERVER, 'ada')).rejects.toBe(failure);
  });

  it('is registered again when its secret has expired', async () => {
    for (const [expiresAt, count] of [
      [NOW / 1000 + 1, 1],
      [NOW / 1000, 2],
      [0, 1],
      [undefined, 1],
    ] as const) {
      const flow = createFlow();
      flow.answers.set(`${ISSUER}/register`, () =>
        Response.json(
          {
            ...{ client_id: 'c', client_secret: 's', redirect_uris: ['https://ai.test/callback'] },
            client_secret_expires_at: expiresAt,
          },
          { status: 201 },
        ),
      );
      await open(flow);
      await open(flow);
      expect([expiresAt, flow.to('/register').length]).toEqual([expiresAt, count]);
    }
  });

  it('is the one that the host has registered, only at its issuer', async () => {
    const flow = createFlow();
    const { params } = await open(flow, { ...SERVER, client: given });
    expect(params.get('client_id')).toBe('by-hand');
    expect(flow.to('/register')).toEqual([]);
    expect(await flow.store.collection(TOOL_CLIENTS).find({})).toEqual([]);
    const begun = await flow.parts.vault.take(params.get('state') ?? '', 'ada');
    expect(begun?.value.client).toEqual({ client_id: 'by-hand', client_secret: 's', issuer: ISSUER });
    const elsewhere = { ...given, issuer: 'https://other.test' };
    await expect(open(flow, { ...SERVER, client: elsewhere })).rejects.toThrow(
      'the tool server names another authorization server',
    );
  });

  it('may have no secret', async () => {
    const flow = createFlow();
    const { params } = await open(flow, { ...SERVER, client: { id: 'by-hand', issuer: ISSUER } });
    const begun = await flow.parts.vault.take(params.get('state') ?? '', 'ada');
    expect(begun?.value.client).toEqual({ client_id: 'by-hand', issuer: ISSUER });
  });

  it('has its metadata as its id where the authorization server accepts that', async () => {
    const clientMetadataUrl = 'https://ai.test/client.json';
    const flow = createFlow({ clientMetadataUrl });
    flow.answers.set(`${ISSUER}/.well-known/oauth-authorization-server`, () =>
      Response.json(metadata({ client_id_metadata_document_supported: true })),
    );
    expect((await open(flow)).params.get('client_id')).toBe(clientMetadataUrl);
    expect(flow.to('/register')).toEqual([]);
  });

  it('is kept by tool server, issuer and addresses', () => {
    const { options } = createFlow().parts;
    expect(clientKey(options, SERVER, ISSUER)).toEqual(['diary', ISSUER, options.redirectUrl, '']);
    expect(clientKey({ ...options, clientMetadataUrl: 'https://x' }, SERVER, ISSUER).at(-1)).toBe(
      'https://x',
    );
    expect(getClientMetadata(options)).toEqual({
      client_name: 'Questline',
      redirect_uris: ['https://ai.test/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
  });
});
