import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { openAccount } from '../../test/paid-calls.ts';
import type { Call } from '../contract/call.ts';
import { createAdmissionControl } from '../operations/admission-control.ts';
import {
  type GenerateRequest,
  type ModelInfo,
  type ModelPart,
  type ModelProvider,
  ProviderError,
} from '../ports/models.ts';
import { generateOnce, type Question } from './ask-once.ts';
import { createCircuitBreaker } from './breaker.ts';
import { createCatalogue } from './catalogue.ts';

const CREDIT = 1_000_000;
const text = (words: string): ModelPart => ({ type: 'text', text: words });
const finish = (reason: 'stop' | 'max_tokens'): ModelPart => ({ type: 'finish', reason });
const usage = (output: number): ModelPart => ({ type: 'usage', usage: { input: 9, output } });
const refused = new ProviderError('invalid_request', 'no');

/** What a model does: its parts, and then the end, a failure or nothing more. */
type Answer = readonly (ModelPart | Error | 'silent')[];

/** One token of each model costs 100 micro-credits. */
async function setUp(answers: Readonly<Record<string, Answer>>, fields: Partial<ModelInfo> = {}) {
  const account = await openAccount({ credit: CREDIT });
  const requests: GenerateRequest[] = [];
  let begin = (): void => undefined;
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const provider: ModelProvider = {
    id: 'vendor',
    models: () => models,
    async generate(request) {
      requests.push(request);
      return say(answers[request.model.replace('at vendor ', '')] ?? []);
    },
  };
  async function* say(answer: Answer): AsyncGenerator<ModelPart> {
    for (const part of answer) {
      if (part === 'silent') {
        begin();
        await new Promise(() => undefined);
      } else if (part instanceof Error) throw part;
      else yield part;
    }
  }
  const models = Object.keys(answers).map(
    (id): ModelInfo => ({
      ...{ id, name: id, type: 'text', provider: 'vendor', contextWindow: 1e5, maxOutputTokens: 5000 },
      ...{ providerModel: `at vendor ${id}`, prices: { input: 1, output: 1 } },
      ...fields,
    }),
  );
  const catalogue = createCatalogue({ providers: [provider], creditsPerUsd: 100 });
  const admissionControl = createAdmissionControl();
  const leaving = new AbortController();
  const settings = { enforceCredits: true };
  const call = {
    ...{ id: 'call-1', requestId: 'request-1', signal: leaving.signal },
    caller: { kind: 'token', userId: 'a', isAdmin: false },
  } as unknown as Call;
  const asking = {
    ...account.services,
    getCatalogue: async () => catalogue,
    adminSettings: { current: async () => settings } as never,
    admissionControl,
    fallbacks: { first: ['second'] },
    breaker: createCircuitBreaker(createFakeClock()),
  };
  const question: Question = { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] };
  const ask = (more: Partial<Question> = {}) => {
    const entry = catalogue.find('first');
    if (entry === undefined) throw new Error('there is no model');
    return generateOnce(asking, call, 'describe', entry, { ...question, ...more });
  };
  return { ...account, requests, ask, admissionControl, leaving, settings, hasBegun };
}

describe('single question', () => {
  it('returns the whole text, and is charged before it returns', async () => {
    const { ask, holds, balance, charges } = await setUp({
      first: [
        text('Hello '),
        { type: 'thinking_delta', text: 'Hm.' },
        text('there.'),
        usage(2),
        finish('stop'),
      ],
    });
    expect(await ask()).toBe('Hello there.');
    expect(await balance()).toMatchObject({ available: CREDIT - 1100, held: 0 });
    expect(holds).toMatchObject([{ key: 'call-1', account: 'user:a' }]);
    expect(await charges()).toMatchObject([
      { operation: 'describe', model: 'first', requestId: 'request-1', userId: 'a', amount: 1100 },
    ]);
  });

  it.each([
    [{}, {}, { maxTokens: 4096 }],
    [{}, { answerTokens: 7 }, { maxTokens: 7 }],
    [{ supportsThinking: true }, { answerTokens: 7 }, { maxTokens: 5000 }],
    [{ reasoningEfforts: ['low'] }, { answerTokens: 7 }, { maxTokens: 7, reasoningEffort: 'low' }],
    [{ reasoningEfforts: ['low'] }, {}, { maxTokens: 4096 }],
  ] as const)('of %j with %j has the limits %j', async (fields, question, limits) => {
    const { ask, requests } = await setUp({ first: [text('A'), finish('stop')] }, fields);
    await ask(question);
    expect(requests).toEqual([
      {
        model: 'at vendor first',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
        promptCache: { mode: 'off' },
        ...limits,
      },
    ]);
  });

  it('is held again for a model that answers instead, and pays only for that', async () => {
    const { ask, holds, balance, incidents } = await setUp({
      first: [new ProviderError('rejected_key', 'no')],
      second: [text('Hi'), usage(1), finish('stop')],
    });
    expect(await ask()).toBe('Hi');
    expect(holds.map(({ key }) => key)).toEqual(['call-1', 'call-1:2']);
    expect(incidents).toMatchObject([{ operation: 'describe', requestId: 'request-1' }]);
    expect(await balance()).toMatchObject({ available: CREDIT - 1000, held: 0 });
  });

  it('is refused while the service stops, before anything is held', async () => {
    const { ask, holds, admissionControl } = await setUp({ first: [text('A')] });
    admissionControl.close();
    await expect(ask()).rejects.toMatchObject({ status: 503 });
    expect(holds).toEqual([]);
  });

  it('is free where credits are not enforced', async () => {
    const { ask, holds, settings, charges } = await setUp({ first: [text('A'), usage(1), finish('stop')] });
    settings.enforceCredits = false;
    await ask();
    expect(holds).toEqual([]);
    expect(await charges()).toMatchObject([{ amount: 0, usage: { input: 9, output: 1 } }]);
  });
});

describe('single question without a whole answer', () => {
  it.each([
    ['max_tokens', [], 'refused'],
    ['max_tokens', [text('A')], 'A'],
    ['stop', [], ''],
  ] as const)('ends by %s after %j as %s, and is charged', async (reason, parts, expected) => {
    const { ask, balance } = await setUp({ first: [...parts, usage(3), finish(reason)] });
    if (expected === 'refused')
      await expect(ask()).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining('hidden reasoning'),
      });
    else expect(await ask()).toBe(expected);
    expect(await balance()).toMatchObject({ available: CREDIT - 1200, held: 0 });
  });

  it('is charged for its part when the provider breaks off', async () => {
    const { ask, balance, charges } = await setUp({
      first: [text('12345'), new ProviderError('failed', 'secret', { status: 500, code: 'x' })],
    });
    await expect(ask()).rejects.toMatchObject({
      status: 502,
      details: { providerError: { status: 500, code: 'x' } },
    });
    expect((await balance()).held).toBe(0);
    expect(await charges()).toMatchObject([{ usage: { output: 2 } }]);
  });

  it('is free when the provider refuses it', async () => {
    const { ask, balance } = await setUp({ first: [refused], second: [text('A')] });
    await expect(ask()).rejects.toMatchObject({ status: 422, code: 'invalid_request' });
    expect(await balance()).toMatchObject({ available: CREDIT, held: 0 });
  });

  it('is free when the provider breaks off before its output, and costs its input when the client leaves then', async () => {
    const early: ModelPart = { type: 'thinking_delta', text: '' };
    const broken = await setUp({ first: [early, new ProviderError('failed', 'gone')] });
    await expect(broken.ask()).rejects.toMatchObject({ status: 502 });
    expect(await broken.charges()).toMatchObject([{ amount: 0 }]);
    const left = await setUp({ first: [early, 'silent'] });
    const failed = expect(left.ask()).rejects.toMatchObject({ status: 400 });
    await left.hasBegun;
    left.leaving.abort(new Error('left'));
    await failed;
    expect(await left.charges()).toMatchObject([{ amount: expect.any(Number), usage: { output: 0 } }]);
    expect((await left.balance()).available).toBeLessThan(CREDIT);
  });

  it('is charged for its part when the client leaves', async () => {
    const { ask, hasBegun, leaving, balance, charges } = await setUp({ first: [text('12345'), 'silent'] });
    const failed = expect(ask()).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('disconnected'),
    });
    await hasBegun;
    leaving.abort(new Error('left'));
    await failed;
    expect((await balance()).held).toBe(0);
    expect(await charges()).toMatchObject([{ usage: { output: 2 } }]);
  });
});
