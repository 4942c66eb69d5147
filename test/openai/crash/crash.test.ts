import { QUESTS } from '@questline/core/internal';
import type OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it, vi } from 'vitest';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { type ServerProcess, stopServerProcess } from '../../support/server-process.ts';
import { setUp } from './set-up.ts';

const WITHIN = { timeout: 60_000, interval: 50 };
const BODY = { model: 'scripted', input: 'Count to three.', background: true };

const ENGINES: readonly Engine[] = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];

function kill(server: ServerProcess): Promise<void> {
  return stopServerProcess(server, 'SIGKILL');
}

/** Reads a stream to its end, or to where it breaks off. The SDK rejects after the event `error`, which is the last one. */
async function readAll(
  stream: Promise<AsyncIterable<ResponseStreamEvent>>,
  seen: ResponseStreamEvent[] = [],
): Promise<readonly ResponseStreamEvent[]> {
  try {
    for await (const event of await stream) seen.push(event);
  } catch {
    // What it has sent counts.
  }
  return seen;
}

async function untilEnded(client: OpenAI, id: string) {
  return vi.waitFor(async () => {
    const response = await client.responses.retrieve(id);
    expect(['queued', 'in_progress']).not.toContain(response.status);
    return response;
  }, WITHIN);
}

describe.each(ENGINES)('a process that is killed during a response, on $name', (engine) => {
  it('before any output: another one makes it, and it is charged once', async () => {
    const { services, account, start, closeAll } = await setUp(engine);
    const first = await start('the beginning');
    const { id } = await first.client.responses.create(BODY);
    await vi.waitFor(
      async () => expect((await first.client.responses.retrieve(id)).status).toBe('in_progress'),
      WITHIN,
    );
    await kill(first.server);
    const second = await start('nowhere');
    const ended = await untilEnded(second.client, id);
    expect(ended).toMatchObject({ status: 'completed', output_text: 'One two three' });
    const charges = await services.ledger.charges({ account }, 10);
    expect(charges.filter(({ amount }) => amount > 0)).toMatchObject([
      { status: 'settled', usage: { input: ended.usage?.input_tokens, output: ended.usage?.output_tokens } },
    ]);
    expect((await services.ledger.balance(account)).held).toBe(0);
    await kill(second.server);
    await closeAll();
  }, 120_000);

  it('in the middle: it ends as failed, its readers continue, and its output is charged once', async () => {
    const { services, account, start, closeAll } = await setUp(engine);
    const first = await start('the middle');
    const seen: ResponseStreamEvent[] = [];
    const reading = readAll(first.client.responses.create({ ...BODY, stream: true }), seen);
    const quests = services.store.collection(QUESTS);
    await vi.waitFor(async () => {
      const [quest] = await quests.find({});
      expect(quest?.text).toBe('One two three');
      expect(quest?.notes?.steps).toHaveLength(1);
      expect(seen.at(-1)).toMatchObject({ type: 'response.output_text.delta', delta: 'three' });
    }, WITHIN);
    await kill(first.server);
    await reading;
    const second = await start('nowhere');
    const [begun] = seen;
    const id = begun?.type === 'response.created' ? begun.response.id : '';
    const ended = await untilEnded(second.client, id);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    const after = seen.at(-1)?.sequence_number ?? -1;
    const rest = await readAll(second.client.responses.retrieve(id, { stream: true, starting_after: after }));
    const all = await readAll(second.client.responses.retrieve(id, { stream: true }));
    expect([...seen, ...rest]).toEqual(all);
    expect(all.at(-1)).toMatchObject({ type: 'response.failed' });
    const charges = await services.ledger.charges({ account }, 10);
    expect(charges).toMatchObject([
      { status: 'settled', usage: { input: ended.usage?.input_tokens, output: ended.usage?.output_tokens } },
    ]);
    expect(charges[0]?.amount).toBeGreaterThan(0);
    expect((await services.ledger.balance(account)).held).toBe(0);
    await kill(second.server);
    await closeAll();
  }, 120_000);

  it('during an approved call of a tool server: the call does not run again, and nothing is charged', async () => {
    const { services, account, start, closeAll } = await setUp(engine);
    const first = await start('the approved call');
    const seen: ResponseStreamEvent[] = [];
    const about = { server_label: 'notes', name: 'write', arguments: '{}' };
    const body = {
      ...BODY,
      input: [
        { role: 'user' as const, content: 'Write.' },
        { type: 'mcp_approval_request' as const, id: 'mcpr_1', ...about },
        { type: 'mcp_approval_response' as const, approval_request_id: 'mcpr_1', approve: true },
      ],
      tools: [{ type: 'mcp' as const, server_label: 'notes' }],
      stream: true as const,
    };
    const reading = readAll(first.client.responses.create(body), seen);
    await vi.waitFor(() => expect(seen.at(-1)?.type).toBe('response.mcp_call_arguments.done'), WITHIN);
    await kill(first.server);
    await reading;
    const second = await start('nowhere');
    const [begun] = seen;
    const id = begun?.type === 'response.created' ? begun.response.id : '';
    const ended = await untilEnded(second.client, id);
    expect(ended).toMatchObject({ status: 'failed', output: [{ type: 'mcp_list_tools' }] });
    const all = await readAll(second.client.responses.retrieve(id, { stream: true }));
    expect(all.slice(0, seen.length)).toEqual(seen);
    const charges = await services.ledger.charges({ account }, 10);
    expect(charges.filter(({ amount }) => amount > 0)).toEqual([]);
    expect((await services.ledger.balance(account)).held).toBe(0);
    await kill(second.server);
    await closeAll();
  }, 120_000);

  it('during a search of the web: it ends as failed, and the round before the search is charged once', async () => {
    const { services, account, start, closeAll } = await setUp(engine);
    const first = await start('the search');
    const seen: ResponseStreamEvent[] = [];
    const body = { ...BODY, tools: [{ type: 'web_search' as const }], stream: true as const };
    const reading = readAll(first.client.responses.create(body), seen);
    await vi.waitFor(() => expect(seen.at(-1)?.type).toBe('response.web_search_call.searching'), WITHIN);
    await kill(first.server);
    await reading;
    const second = await start('nowhere');
    const [begun] = seen;
    const id = begun?.type === 'response.created' ? begun.response.id : '';
    const ended = await untilEnded(second.client, id);
    expect(ended).toMatchObject({ status: 'failed', usage: { input_tokens: 10, output_tokens: 3 } });
    const all = await readAll(second.client.responses.retrieve(id, { stream: true }));
    expect(all.slice(0, seen.length)).toEqual(seen);
    const charges = await services.ledger.charges({ account }, 10);
    expect(charges).toMatchObject([{ status: 'settled', usage: { input: 10, output: 3 } }]);
    expect((await services.ledger.balance(account)).held).toBe(0);
    await kill(second.server);
    await closeAll();
  }, 120_000);
});
