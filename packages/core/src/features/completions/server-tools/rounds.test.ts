import { describe, expect, it } from 'vitest';
import { openCompletion } from '../../../../test/completion-run.ts';
import { createVendor } from '../../../../test/completion-vendor.ts';
import { call, TARGET, WRITE } from '../../../../test/round-plan.ts';
import {
  type AnswerChunk,
  type AnswerPart,
  type ModelChunk,
  type ModelPart,
  ProviderError,
} from '../../../ports/models.ts';
import { answerInRounds } from './rounds.ts';
import type { ServerTools } from './tools.ts';

const LIST = { type: 'server_tool_list', server: 'notes', tools: [] } as unknown as NonNullable<
  ServerTools['lists']
>[number];
const TEXT = (text: string): ModelPart => ({ type: 'text', text });
const APPROVED = [{ id: 'a1', name: WRITE.id, arguments: '{}', target: TARGET }];

/** An answer whose model says each list of chunks in one round, or fails if there are fallback models. */
async function open(
  rounds: readonly (readonly ModelChunk[])[],
  more: Partial<ServerTools> = {},
  setUp: Parameters<typeof openCompletion>[0] = {},
) {
  const completion = await openCompletion(setUp);
  const { services, asked, log } = completion;
  /** Whether a report of usage was missing during each call of a tool. */
  const awaited: unknown[] = [];
  const vendor = createVendor('m', log);
  let round = 0;
  const entry = {
    ...vendor.entry,
    provider: {
      ...vendor.entry.provider,
      async generate(...given: Parameters<typeof vendor.entry.provider.generate & object>) {
        await vendor.entry.provider.generate?.(...given);
        if (setUp.standIns !== undefined) throw new ProviderError('not_configured', 'no');
        const chunks = rounds[round] ?? [];
        round += 1;
        return (async function* () {
          yield* chunks;
        })();
      },
    },
  };
  const whole = {
    ...services,
    toolRegistry: {
      find: () => undefined,
      async run() {
        log.push('tool');
        awaited.push(answer.money?.meter.awaitsReport);
        return { content: 'done', isError: false };
      },
    },
    idempotency: { useUp: async () => void log.push('use up') },
  } as unknown as Parameters<typeof answerInRounds>[0];
  const answer = answerInRounds(
    whole,
    completion.call,
    { ...asked, entry },
    { tools: [WRITE], maxCalls: 3, ...more },
  );
  return {
    ...completion,
    entry,
    answer,
    awaited,
    requests: vendor.requests,
    /** Reads all chunks, and counts their parts as a client's stream does. */
    async read() {
      const chunks: AnswerChunk[] = [];
      for (;;) {
        const { done, value } = await answer.source.next();
        if (done === true) return chunks;
        chunks.push(value);
        for (const part of [value].flat() as AnswerPart[]) answer.money?.meter.record(part);
      }
    },
  };
}

describe('an answer in rounds', () => {
  it('lists the tools of servers once, before the first part', async () => {
    const { read } = await open([[TEXT('a'), TEXT('b')]], { lists: [LIST] });
    expect(await read()).toEqual([[LIST], TEXT('a'), TEXT('b')]);
  });

  it('has no money and the model of the request before its first step', async () => {
    const { answer, entry, read } = await open([[TEXT('a')]]);
    expect(answer.money).toBeUndefined();
    expect(answer.entry).toBe(entry);
    await read();
    expect(answer.money).toMatchObject({ isMetered: true });
    expect(answer.entry).toBe(entry);
  });

  it('runs approved calls behind a check of the credit, and the model reads their results', async () => {
    const result = { type: 'tool_result', toolUseId: 'a1', toolName: WRITE.id } as const;
    const messages = [{ role: 'user', content: [{ ...result, content: '', isError: true }] }] as const;
    const { asked } = await openCompletion();
    const request = { ...asked.request, messages };
    const set = { asked: { request } };
    const { log, read, requests } = await open([[TEXT('a')]], { approved: APPROVED }, set);
    await read();
    expect(log.map((line) => line.split(' ')[0])).toEqual(['hold', 'release', 'use', 'tool', 'hold', 'ask']);
    expect(requests[0]?.messages[0]?.content).toEqual([{ ...result, content: 'done', isError: false }]);
  });

  it('uses no approval up without credit', async () => {
    const { answer, log, read } = await open([], { approved: APPROVED }, { credit: 1 });
    await expect(read()).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(log.filter((line) => line === 'use up' || line === 'tool')).toEqual([]);
    expect(answer.money).toBeUndefined();
  });

  it('settles a round before its calls, and the cost is that of all rounds', async () => {
    const usage: ModelChunk = { type: 'usage', usage: { input: 10, output: 2 } };
    const { answer, log, read } = await open([
      [call('c1', WRITE.id), usage],
      [TEXT('a'), usage],
    ]);
    await read();
    const words = log.map((line) => line.split(' ')[0]);
    expect(words).toEqual(['hold', 'ask', 'settle', 'tool', 'hold', 'ask']);
    expect(await answer.money?.end('finished')).toEqual({
      charged: 240_000,
      usage: { input: 20, output: 4 },
    });
  });

  it('awaits no report of usage during a call: the round before is settled', async () => {
    const { awaited, read } = await open([
      [call('c1', WRITE.id), { type: 'finish', reason: 'tool_use' }],
      [TEXT('a')],
    ]);
    await read();
    expect(awaited).toEqual([false]);
  });

  it('has the fallback model that answers', async () => {
    const { answer, others, read } = await open([], {}, { standIns: ['n'] });
    const [other] = others;
    other?.answer.say(TEXT('a'));
    other?.answer.end();
    expect(await read()).toEqual([TEXT('a')]);
    expect(answer.entry).toBe(other?.entry);
  });

  it('ends with its reader', async () => {
    const { answer, log } = await open([[TEXT('a'), TEXT('b')]]);
    await answer.source.next();
    expect(await answer.source.return()).toEqual({ done: true, value: undefined });
    expect(await answer.source.next()).toEqual({ done: true, value: undefined });
    expect(log.filter((line) => line.startsWith('ask'))).toHaveLength(1);
  });
});
