import { createMemoryStore } from '@questline/core/memory';
import { createMcpTools, type McpTools } from '@questline/mcp';

const MAX_SIGN_INS = 3;
const USER = { userId: 'ada', sessionId: 's', payer: { account: 'user:ada', userId: 'ada' } };

/** What the conformance package gives to a client. */
export interface Scenario {
  readonly scenario: string;
  /** The address of the server of the package. */
  readonly url: string;
  readonly context: {
    readonly client_id?: string;
    readonly client_secret?: string;
    readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[];
  };
}

/** Connects to the server of a scenario as a user does, and calls its tools. Rejects if that is not possible. */
export async function runScenario({ scenario, url, context }: Scenario): Promise<void> {
  const { client_id: id, client_secret: secret } = context;
  const client =
    id === undefined
      ? undefined
      : { id, issuer: await findIssuer(url), ...(secret !== undefined && { secret }) };
  const errors: unknown[] = [];
  const tools = createMcpTools({
    servers: [
      {
        id: 'it',
        url,
        ...(scenario.startsWith('auth/') && { authorize: 'oauth' }),
        ...(client !== undefined && { client }),
      },
    ],
    oauth: {
      store: createMemoryStore(),
      secretEncryptionKey: 'b'.repeat(64),
      redirectUrl: 'http://localhost:3000/callback',
      // The package expects this id.
      clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
      isAllowedAddress: () => true,
    },
    connectTimeoutMs: 60_000,
    onError: (error) => errors.push(error),
  });
  try {
    const offers = await tools.list(USER);
    if (offers[0]?.id === 'it__connect') await signIn(tools);
    const offered = await tools.list(USER);
    if (offered.length === 0) throw errors.at(-1) ?? new Error('there are no tools');
    const calls =
      context.toolCalls?.map(({ name, arguments: input }) => ({ tool: `it__${name}`, input })) ??
      offered.map(({ id: tool, schema }) => ({ tool, input: exampleOf(schema.parameters) }));
    for (const call of calls) await callTool(tools, call);
  } finally {
    await tools.close();
  }
}

async function callTool(
  tools: McpTools,
  call: { readonly tool: string; readonly input: unknown },
): Promise<void> {
  for (let signIns = 0; ; signIns += 1) {
    const context = { ...USER, callKey: 'k', requestId: 'r', signal: AbortSignal.timeout(60_000) };
    const { content } = await tools.run(call, context);
    const address = /^The user must .*?(https?:\S+)$/.exec(content)?.[1];
    if (address === undefined) return;
    if (signIns === MAX_SIGN_INS) throw new Error('the server asks for too many sign-ins');
    await agree(tools, address);
  }
}

async function signIn(tools: McpTools): Promise<void> {
  const begun = await tools.oauth?.begin(USER.userId, 'it');
  if (begun === undefined) throw new Error('the authorization did not begin');
  await agree(tools, begun.url);
}

/** The authorization server of the package agrees at once. */
async function agree(tools: McpTools, address: string): Promise<void> {
  const answer = await fetch(address, { redirect: 'manual' });
  const { searchParams } = new URL(answer.headers.get('location') ?? '');
  const read = (name: string): string | undefined => searchParams.get(name) ?? undefined;
  await tools.oauth?.finish(USER.userId, {
    state: read('state') ?? '',
    code: read('code'),
    iss: read('iss'),
    error: read('error'),
  });
}

/** What an operator knows who has registered a client by hand. */
async function findIssuer(url: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  const resource = await readJson(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const [server] = resource.authorization_servers as readonly string[];
  return String((await readJson(`${server}/.well-known/oauth-authorization-server`)).issuer);
}

async function readJson(url: string): Promise<Readonly<Record<string, unknown>>> {
  return (await fetch(url)).json() as Promise<Readonly<Record<string, unknown>>>;
}

/** Arguments of the types that a schema names. */
function exampleOf({ properties = {} }: { readonly properties?: unknown }): object {
  const examples: Readonly<Record<string, unknown>> = {
    number: 5,
    integer: 5,
    boolean: true,
    string: 'text',
  };
  return Object.fromEntries(
    Object.entries(properties as Readonly<Record<string, { type?: string }>>).map(
      ([name, { type = 'string' }]) => [name, examples[type] ?? null],
    ),
  );
}
