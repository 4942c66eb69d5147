import { setImmediate as turn } from 'node:timers/promises';
import { ApiError } from '@questline/core';
import {
  type Call,
  CREDITS_HEADER,
  IGNORED_HEADER,
  REPLAYED_HEADER,
  type Responses,
  STREAM_HEADERS,
  type StoredResponse,
} from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import type { ResponseBody } from './contract.ts';
import { createStoredAnswer } from './stored-answer.ts';

const ID = '0123456789abcdef01234567';
const FAILURE = new ApiError(502, 'away');
const TEXT = { type: 'text', text: 'a' };
const SERVER_CALL = {
  ...{ type: 'server_tool_call', id: 'c', name: 's__t', arguments: '{}', status: 'completed' },
  ...{ target: { server: 's', tool: 't' }, output: '' },
};

interface Setting {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The response when it was accepted, and when it has ended. */
  readonly accepted?: object | null;
  readonly ended?: object | null;
  readonly ignored?: readonly string[];
  /** The client leaves before the response has begun. */
  readonly leaves?: boolean;
}

function toStored(more: object): StoredResponse {
  const { parts = [], ...fields } = more as { parts?: readonly object[] };
  return {
    ...{
      id: ID,
      status: 'completed',
      isClosed: true,
      earlier: [],
      requestId: 'r',
      updatedAt: 5000,
      input: '[]',
    },
    wire: JSON.stringify({ request: { id: `resp_${ID}`, background: false }, tools: [], size: 0 }),
    output: { parts, finishReason: 'stop' },
    ...fields,
  } as unknown as StoredResponse;
}

/** Answers one request, and notes what happened to the response. */
function start({ body = {}, headers = {}, ignored = [], leaves = false, ...stored }: Setting = {}) {
  const accepted = stored.accepted === undefined ? { status: 'queued' } : stored.accepted;
  const ended = stored.ended === undefined ? { parts: [TEXT] } : stored.ended;
  const log: string[] = [];
  const leaving = new AbortController();
  let finds = 0;
  const late = async (entry: string): Promise<void> => {
    await turn();
    log.push(entry);
  };
  const open = (more: object | null) => (more === null ? undefined : toStored(more));
  const responses: Partial<Responses> = {
    start: async () => ID,
    async find(userId, id) {
      expect([userId, id]).toEqual(['ada', ID]);
      finds += 1;
      return open(finds === 1 ? accepted : ended);
    },
    async untilStarted() {
      if (leaves) leaving.abort(new Error('left'));
      await late('started');
    },
    async untilEnded() {
      if (leaves) leaving.abort(new Error('left'));
      return open(ended);
    },
    cancel: (id) => late(`cancel ${id === ID}`),
    async remove(userId, id) {
      await late(`remove ${userId === 'ada' && id === ID}`);
      return true;
    },
    async *follow(_userId, _id, _signal, writer) {
      yield writer.head;
      yield writer.end(toStored(ended ?? {}));
    },
  };
  const answer = createStoredAnswer({ catalogue: { creditsPerUsd: 100 } }, responses as Responses);
  const call = {
    ...{ requestId: 'r', signal: leaving.signal, caller: { userId: 'ada' }, request: { headers } },
  } as unknown as Call;
  const reply = answer(
    call,
    body as ResponseBody,
    () => ignored,
    async () => expect.unreachable(),
  );
  return { reply, log, leaving };
}

const CANCEL = 'cancel true';
const REMOVE = 'remove true';

describe('stored response of a request', () => {
  it('is returned at its end, with its credits', async () => {
    const { reply, log } = start({ ended: { parts: [TEXT], credits: 0.5, usage: { input: 1 } } });
    const { status, headers, body } = await reply;
    expect([status, log, headers[CREDITS_HEADER], JSON.parse(String(body))]).toEqual([
      200,
      [],
      '0.5',
      expect.objectContaining({
        id: `resp_${ID}`,
        status: 'completed',
        credits: { used: 0.5, usd_cost: 0.005 },
      }),
    ]);
  });

  it('is returned at once in the background', async () => {
    const { reply, log } = start({ body: { background: true }, ended: null });
    const { status, body } = await reply;
    expect([status, JSON.parse(String(body))]).toMatchObject([200, { status: 'queued' }]);
    expect(log).toEqual([]);
  });

  it('names what was ignored, and whether another request began it', async () => {
    const { headers } = await start({ ignored: ['a', 'b'] }).reply;
    const own = [IGNORED_HEADER, REPLAYED_HEADER, CREDITS_HEADER];
    expect(own.map((name) => headers[name])).toEqual(['a, b', undefined, undefined]);
    const streamed = await start({ ignored: ['a'], body: { stream: true } }).reply;
    expect(streamed.headers).toEqual({ ...STREAM_HEADERS, [IGNORED_HEADER]: 'a' });
    const repeated = await start({ accepted: { status: 'queued', requestId: 'other' } }).reply;
    expect(own.map((name) => repeated.headers[name])).toEqual([undefined, 'true', undefined]);
  });

  it.each<[string, Setting, readonly string[]]>([
    ['stays', {}, []],
    ['stays for its conversation', { body: { store: true } }, []],
    ['is forgotten where only its conversation keeps it', { body: { store: false } }, [REMOVE]],
    ['is forgotten without output, too,', { body: { store: false }, ended: {} }, [REMOVE]],
    ['stays for a repetition', { body: { store: false }, headers: { 'idempotency-key': 'k' } }, []],
  ])('%s after its end', async (_name, setting, log) => {
    const whole = start(setting);
    await whole.reply;
    expect(whole.log).toEqual(log);
    const streamed = start({ ...setting, body: { ...setting.body, stream: true } });
    for await (const _ of (await streamed.reply).body as AsyncIterable<string>);
    expect(streamed.log).toEqual(['started', ...log]);
  });

  it.each<[object, object]>([
    [{ accepted: null }, { status: 404, message: 'The response was deleted' }],
    [{ ended: null }, { status: 404, message: 'The response was deleted' }],
    [{ ended: { status: 'in_progress' } }, { status: 503 }],
    [{ ended: { status: 'queued' } }, { status: 503 }],
    [{ leaves: true }, { status: 400, message: expect.stringContaining('disconnected') }],
  ])('is an error for %j', async (setting, error) => {
    await expect(start(setting).reply).rejects.toMatchObject(error);
  });
});

describe('failed response of a request', () => {
  it.each<[string, object, readonly string[]]>([
    ['without output is not stored', { parts: [] }, [REMOVE]],
    ['with output stays', { parts: [TEXT] }, []],
    ['with a call of a server must not be repeated', { parts: [SERVER_CALL] }, []],
    ['with a search may be repeated', { parts: [{ ...SERVER_CALL, target: undefined }] }, []],
  ])('%s', async (name, ended, log) => {
    const { reply, log: noted } = start({ ended: { status: 'failed', failure: FAILURE, ...ended } });
    const error = (await reply.catch((reason: unknown) => reason)) as ApiError;
    expect(error).toMatchObject({ status: 502, message: 'away' });
    expect(error.headers?.['x-should-retry']).toBe(name.includes('must not') ? 'false' : undefined);
    expect(noted).toEqual(log);
  });

  it('is forgotten once where only its conversation keeps it', async () => {
    for (const [parts, log] of [
      [[], [REMOVE]],
      [[TEXT], [REMOVE]],
    ]) {
      const setting = { body: { store: false }, ended: { status: 'failed', failure: FAILURE, parts } };
      const { reply, log: noted } = start(setting);
      await expect(reply).rejects.toThrow('away');
      expect(noted).toEqual(log);
    }
  });

  it('is an error instead of a stream before any output', async () => {
    const failed = { status: 'failed', failure: FAILURE };
    const { reply, log } = start({ body: { stream: true }, ended: failed });
    await expect(reply).rejects.toThrow('away');
    expect(log).toEqual(['started', REMOVE]);
    const begun = start({ body: { stream: true }, ended: { ...failed, parts: [TEXT] } });
    expect((await begun.reply).status).toBe(200);
    const background = start({ body: { stream: true, background: true }, ended: failed });
    expect((await background.reply).status).toBe(200);
    expect(background.log).toEqual([]);
  });
});

describe('client that leaves', () => {
  const RUNNING = { status: 'in_progress' };

  it.each<[string, Setting, readonly string[]]>([
    ['ends its response', {}, [CANCEL]],
    ['ends and removes what only its conversation keeps', { body: { store: false } }, [CANCEL, REMOVE]],
    ['does not end the response of another request', { accepted: { ...RUNNING, requestId: 'other' } }, []],
  ])('%s', async (_name, setting, log) => {
    const whole = start({ ...setting, ended: RUNNING, leaves: true });
    await expect(whole.reply).rejects.toMatchObject({ status: 400 });
    expect(whole.log).toEqual(log);
    const streamed = start({
      ...setting,
      body: { ...setting.body, stream: true },
      ended: RUNNING,
      leaves: true,
    });
    await streamed.reply;
    expect(streamed.log).toEqual(['started', ...log]);
    const abandoned = start({ ...setting, body: { ...setting.body, stream: true }, ended: RUNNING });
    const frames = (await abandoned.reply).body as AsyncIterableIterator<string>;
    await frames.next();
    await frames.return?.();
    expect(abandoned.log).toEqual(['started', ...log]);
  });

  it('ends its response after the last event that it got', async () => {
    const { reply, log, leaving } = start({ body: { stream: true }, ended: RUNNING });
    const frames = (await reply).body as AsyncIterableIterator<string>;
    await frames.next();
    leaving.abort(new Error('left'));
    for await (const _ of frames);
    expect(log).toEqual(['started', CANCEL]);
  });

  it('does not end a response in the background', async () => {
    const { reply, log } = start({ body: { stream: true, background: true }, ended: RUNNING });
    const frames = (await reply).body as AsyncIterableIterator<string>;
    await frames.next();
    await frames.return?.();
    expect(log).toEqual([]);
  });
});
