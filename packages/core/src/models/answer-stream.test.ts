import { describe, expect, it } from 'vitest';
import type { ModelChunk, ModelPart } from '../ports/models.ts';
import { readAnswer } from './answer-stream.ts';

const text = (words: string): ModelPart => ({ type: 'text', text: words });
const USAGE: ModelPart = { type: 'usage', usage: { input: 1 } };

/** Lets everything happen that waits for no timer. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('reading of an answer', () => {
  function open(steps: readonly (ModelChunk | Error | 'leave' | 'wait')[], awaitsReport = false) {
    const leaving = new AbortController();
    const gone = new Error('gone');
    const log: string[] = [];
    let closed = 0;
    const left = [...steps];
    const chunks: AsyncIterator<ModelChunk> = {
      async next() {
        let step = left.shift();
        if (step === 'leave') {
          leaving.abort(gone);
          step = left.shift();
        }
        if (step === 'wait') return new Promise<never>(() => undefined);
        if (step instanceof Error) throw step;
        return step === undefined
          ? { done: true, value: undefined }
          : { done: false, value: step as ModelChunk };
      },
      async return() {
        closed += 1;
        return { done: true, value: undefined };
      },
    };
    const money = {
      meter: { awaitsReport, record: (part: ModelPart) => void log.push(`record ${part.type}`) },
      control: {
        cancelAfterDisconnect: async (reason: unknown) => {
          await settle();
          log.push(`cancelled: ${(reason as Error).message}`);
        },
      },
    };
    const read = () =>
      readAnswer({ chunks, money } as unknown as Parameters<typeof readAnswer>[0], leaving.signal, (part) => {
        log.push(`part ${part.type}`);
      });
    return { gone, leaving, log, read, getClosed: () => closed };
  }

  it('records every part before it is passed on', async () => {
    const { getClosed, log, read } = open([text('a'), [text('b'), USAGE]]);
    await read();
    expect(log).toEqual([
      ...['record text', 'part text', 'record text', 'part text', 'record usage', 'part usage'],
    ]);
    expect(getClosed()).toBe(0);
  });

  it('passes the failure of the stream on, and closes it', async () => {
    const broken = new Error('broken');
    const { getClosed, log, read } = open([text('a'), broken]);
    await expect(read()).rejects.toBe(broken);
    expect([log, getClosed()]).toEqual([['record text', 'part text'], 1]);
  });

  it('ends with its client, whose provider is stopped', async () => {
    const { getClosed, gone, log, read } = open([text('a'), 'leave', text('b')]);
    await expect(read()).rejects.toBe(gone);
    expect(log).toEqual(['record text', 'part text', 'cancelled: gone']);
    expect(getClosed()).toBe(1);
  });

  it('waits for the report of a complete answer, without its client', async () => {
    const { gone, log, read } = open([text('a'), 'leave', USAGE, text('b')], true);
    await expect(read()).rejects.toBe(gone);
    expect(log).toEqual(['record text', 'part text', 'record usage', 'record text', 'cancelled: gone']);
  });

  it('ends while it waits for the provider', async () => {
    const { gone, leaving, log, read } = open([text('a'), 'wait']);
    const end = expect(read()).rejects.toBe(gone);
    await settle();
    leaving.abort(gone);
    await end;
    expect(log).toEqual(['record text', 'part text', 'cancelled: gone']);
  });
});
