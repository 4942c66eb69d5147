import type { ModelPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createOpenAIApp, type OpenAIApp, readError } from './support.ts';
import { createToolServer, type ScriptedToolServer } from './support-mcp.ts';
import { BOTH, QUESTION, readEvents } from './support-responses.ts';
import { sayInRounds } from './support-server-tools.ts';

const TOOLS = [{ type: 'mcp', server_label: 'notes', require_approval: 'always' }];
const DONE: ModelPart = { type: 'text', text: 'Done.' };

interface ApprovalApp extends OpenAIApp {
  readonly server: ScriptedToolServer;
  /** The texts of the notes that were written. */
  readonly written: () => unknown[];
}

async function createApprovalApp(options: Parameters<typeof createOpenAIApp>[0] = {}): Promise<ApprovalApp> {
  const server = createToolServer();
  const onCall = sayInRounds([DONE]);
  const app = await createOpenAIApp({ onCall, ...options, settings: { tools: [server.registry] } });
  return { ...app, server, written: () => server.calls.map(({ input }) => input) };
}

/** Calls that the user has approved and that have not run. */
const approve = (...ids: readonly string[]) => [
  { role: 'user', content: 'Hi' },
  ...ids.map((id) => ({
    type: 'mcp_approval_request',
    id,
    server_label: 'notes',
    name: 'write',
    arguments: JSON.stringify({ text: id }),
  })),
  ...ids.map((id) => ({ type: 'mcp_approval_response', approval_request_id: id, approve: true })),
];

describe.each(BOTH)('an approval in a response that is %s', (_title, question, isStored) => {
  const send = (app: OpenAIApp, ids: readonly string[], more: object = {}) =>
    app.send('POST', '/responses', { ...question, tools: TOOLS, input: approve(...ids), ...more });

  it('runs its call once: a second request with it is 400', async () => {
    const app = await createApprovalApp();
    const first = await send(app, ['mcpr_1']);
    expect(first.status).toBe(200);
    await first.text();
    for (const more of [{}, { stream: true }, { store: !isStored }]) {
      const second = await send(app, ['mcpr_1'], more);
      expect(second.status).toBe(400);
      expect(await readError(second)).toMatchObject({ code: 'approval_used', type: 'invalid_request_error' });
    }
    expect(app.written()).toEqual([{ text: 'mcpr_1' }]);
    expect(app.calls).toHaveLength(1);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('runs its call once for requests at the same time', async () => {
    const app = await createApprovalApp();
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(app, ['mcpr_1'])));
    await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(app.written()).toHaveLength(1);
    expect(app.calls).toHaveLength(1);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('stays unused by a request that is refused because of another approval', async () => {
    const app = await createApprovalApp();
    expect((await send(app, ['mcpr_2'])).status).toBe(200);
    expect((await send(app, ['mcpr_1', 'mcpr_2', 'mcpr_3'])).status).toBe(400);
    expect(app.written()).toEqual([{ text: 'mcpr_2' }]);
    expect((await send(app, ['mcpr_1', 'mcpr_3'])).status).toBe(200);
    expect(app.written()).toEqual(['mcpr_2', 'mcpr_1', 'mcpr_3'].map((text) => ({ text })));
  });

  it('stays unused by a request that fails before the call', async () => {
    const app = await createApprovalApp({ credits: 0 });
    expect((await send(app, ['mcpr_1'])).status).toBe(429);
    await app.ledger.grant({ account: app.account, amount: 1e9, reason: 'test', key: 'more' });
    expect((await send(app, ['mcpr_1'])).status).toBe(200);
    expect(app.written()).toHaveLength(1);
  });

  it('is used up by a call that failed', async () => {
    const app = await createApprovalApp();
    app.server.answer = async () => ({ content: 'No ink.', isError: true });
    expect((await send(app, ['mcpr_1'])).status).toBe(200);
    expect((await send(app, ['mcpr_1'])).status).toBe(400);
    expect(app.written()).toHaveLength(1);
  });

  it('gives the first answer to a request that repeats its Idempotency-Key', async () => {
    const app = await createApprovalApp();
    const ask = () =>
      app.send(
        'POST',
        '/responses',
        { ...question, tools: TOOLS, input: approve('mcpr_1') },
        { 'idempotency-key': 'a' },
      );
    const answers = [await (await ask()).json(), await (await ask()).json()];
    expect(answers[0]).toMatchObject({ status: 'completed' });
    expect(answers[1]).toEqual(answers[0]);
    expect(app.written()).toHaveLength(1);
  });
});

it('is refused at once in the background, and fails a response that was accepted before its use', async () => {
  const app = await createApprovalApp();
  const ask = async () => {
    const body = { ...QUESTION, tools: TOOLS, input: approve('mcpr_1'), background: true };
    const answer = await app.send('POST', '/responses', body);
    const { id = '' } = (await answer.json()) as { id?: string };
    await app.settle();
    return { status: answer.status, id };
  };
  const first = await ask();
  expect(await app.client.responses.retrieve(first.id)).toMatchObject({ status: 'completed' });
  expect((await ask()).status).toBe(400);
  // Both were accepted before either was used.
  app.services.idempotency.findUsed = async () => undefined;
  const second = await ask();
  expect(second.status).toBe(200);
  expect(await app.client.responses.retrieve(second.id)).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('mcpr_1') },
  });
  expect(app.written()).toHaveLength(1);
  expect((await app.ledger.balance(app.account)).held).toBe(0);
});

it('is another one for another user', async () => {
  const app = await createApprovalApp();
  const other = await app.addUser('bob@example.com');
  await app.ledger.grant({ account: `user:${other.id}`, amount: 1e9, reason: 'test', key: 'bob' });
  const body = { ...QUESTION, tools: TOOLS, input: approve('mcpr_1'), stream: true };
  await readEvents(await app.send('POST', '/responses', body));
  const headers = { Authorization: `Bearer ${await app.token(other)}` };
  expect((await app.send('POST', '/responses', body, headers)).status).toBe(200);
});
