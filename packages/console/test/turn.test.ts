import { createClient } from '@questline/client';
import { describe, expect, it } from 'vitest';
import type { Call } from '../app/api.ts';
import type { Quest } from '../app/records.ts';
import { follow } from '../app/turn.ts';

const QUEST = { id: 'q', type: 'message', toolPayloads: [] } as const;
const DONE: Quest = { ...QUEST, status: 'done', reply: 'One two' };

/** A server with this answer for each connection to the events, and polls that return finished quests. */
async function run(answers: readonly Response[]) {
  const left = [...answers];
  const asked: (string | null)[] = [];
  const client = createClient({
    baseUrl: 'http://questline.test',
    wait: async () => undefined,
    async fetch(_, { headers }) {
      asked.push(new Headers(headers).get('last-event-id'));
      return left.shift() ?? Response.error();
    },
  });
  const polled: string[] = [];
  const call: Call = async <T>(_: string, path: string) => {
    polled.push(path);
    return DONE as T;
  };
  const shown: Quest[] = [];
  const last = await follow(
    { call, client },
    'q',
    (quest) => shown.push(quest),
    new AbortController().signal,
  );
  return { last, shown, asked, polled };
}

function stream(...events: readonly (readonly [id: string, data: object])[]): Response {
  const text = events.map(([id, data]) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

const SNAPSHOT = {
  type: 'snapshot',
  text: 'One ',
  payloads: [],
  state: { ...QUEST, status: 'running', reply: null },
};

describe('a turn in the console', () => {
  it('follows the events of its quest and continues after a broken connection', async () => {
    const chart = { type: 'chart', payload: [1] };
    const { last, shown, asked, polled } = await run([
      stream(['1', SNAPSHOT], ['2', { type: 'payload', index: 0, payload: chart }]),
      stream(['3', { type: 'text', text: 'two' }], ['end', { type: 'end', state: DONE }]),
    ]);
    expect(last).toEqual(DONE);
    expect(shown.map(({ reply }) => reply)).toEqual(['One ', 'One ', 'One two', 'One two']);
    expect(shown[2]?.toolPayloads).toEqual([chart]);
    expect([asked, polled]).toEqual([[null, '2'], []]);
  });

  it('shows text once, also where the record was ahead of its events', async () => {
    const ahead = { ...SNAPSHOT, text: '', state: { ...SNAPSHOT.state, reply: 'One ' } };
    const { shown } = await run([
      stream(
        ['0', ahead],
        ['1', { type: 'text', text: 'One ' }],
        ['2', { type: 'text', text: 'two' }],
        ['end', { type: 'end', state: DONE }],
      ),
    ]);
    expect(shown.map(({ reply }) => reply)).toEqual([null, 'One ', 'One two', 'One two']);
  });

  it('shows the calls that wait for a decision', async () => {
    const { shown } = await run([
      stream(
        ['1', SNAPSHOT],
        ['2', { type: 'approval-requested', id: 'c', tool: 'send', kind: 'approval', input: {} }],
        ['3', { type: 'approval-decided', id: 'c', decision: 'approve' }],
        ['end', { type: 'end', state: DONE }],
      ),
    ]);
    const waiting = {
      status: 'waiting',
      pendingApprovals: [{ callId: 'c', tool: 'send', kind: 'approval' }],
    };
    expect(shown).toMatchObject([{ status: 'running' }, waiting, { status: 'running' }, DONE]);
  });

  it.each([401, 404, 405])('is polled where the server answers %d for events', async (status) => {
    const { last, polled } = await run([Response.json({ error: 'no' }, { status })]);
    expect([last, polled]).toEqual([DONE, ['/api/v1/quests/q']]);
  });
});
