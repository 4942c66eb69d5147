import { describe, expect, it } from 'vitest';
import type { ModelCatalogue } from '../../models/catalogue.ts';
import type { QuestRecord } from '../../runs/records.ts';
import { toCompletedTurn, waitTimeout } from './answer.ts';
import { agentModel, chatModel, getFeatures, namedCap, outputCap, remembers } from './request.ts';

const entry = (id: string, type = 'text', more: object = {}) =>
  ({
    info: { id, type, contextWindow: 1000, maxOutputTokens: 500, supportsTools: true, ...more },
    prices: {},
  }) as never;

/** A catalogue of these models; those that begin with `hidden` are not allowed. */
function makeCatalogue(...entries: readonly { readonly info: { readonly id: string } }[]): ModelCatalogue {
  return {
    list: () => entries,
    find: (id: string) => entries.find(({ info }) => info.id === id),
    isAllowed: (id: string) => !id.startsWith('hidden'),
    isDisabled: () => false,
    findRetired: () => undefined,
  } as never;
}

const choose = (catalogue: ModelCatalogue, wanted?: string, usual: string | null = null) =>
  chatModel(catalogue, wanted, { DefaultAPIModel: usual, enforceCredits: false }).info.id;

describe('the model of a turn', () => {
  const models = makeCatalogue(entry('a'), entry('b'), entry('picture', 'image'), entry('hidden'));

  it('is the named one, else the default', () => {
    expect(choose(models, 'b')).toBe('b');
    expect(choose(models, 'b', 'a')).toBe('b');
    expect(choose(models, undefined, 'b')).toBe('b');
    expect(choose(models)).toBe('a');
    expect(choose(models, undefined, 'hidden')).toBe('a');
  });

  it.each(['x', 'picture'])('is a chat model: %s', (id) => {
    const message = `Model info not found for '${id}'`;
    expect(() => choose(models, id)).toThrow(expect.objectContaining({ status: 400, message }));
    expect(() => choose(models, undefined, id)).toThrow(
      expect.objectContaining({
        status: 400,
        message: expect.stringContaining('the default model is not usable'),
      }),
    );
  });

  it('needs one', () => {
    const none = makeCatalogue(entry('picture', 'image'));
    for (const id of [undefined, 'x'])
      expect(() => choose(none, id)).toThrow(expect.objectContaining({ status: 400 }));
    expect(() => choose(none, 'x')).not.toThrow('Model info');
  });

  it('may be that of an agent', () => {
    expect(agentModel(models, 'b')).toBe('b');
    for (const id of [undefined, 'x', 'picture', 'hidden']) expect(agentModel(models, id)).toBeUndefined();
  });
});

describe('the output cap of a turn', () => {
  it('has three spellings', () => {
    expect(namedCap({} as never)).toBeUndefined();
    expect(namedCap({ maxOutputTokens: 3 } as never)).toBe(3);
    expect(namedCap({ maxTokens: 2, maxOutputTokens: 3 } as never)).toBe(2);
    expect(namedCap({ max_tokens: 1, maxTokens: 2, maxOutputTokens: 3 } as never)).toBe(1);
  });

  it('is that of the request, of the agent or of the model', () => {
    const model = entry('a');
    expect(outputCap({ maxTokens: 7.9 } as never, model, 9)).toBe(7);
    expect(outputCap({} as never, model, 9)).toBe(9);
    expect(outputCap({ maxTokens: 501 } as never, model, 9)).toBe(500);
    expect(outputCap({} as never, model, undefined)).toBe(500);
  });
});

describe('the features of a turn', () => {
  const features = (body: object) =>
    getFeatures({ message: 'x'.repeat(200), enableTools: false, ...body } as never);
  const ALL = { questMaster: true, mementos: true, agents: true };

  it('are on with tools, and off otherwise', () => {
    expect(features({ enableTools: true })).toEqual(ALL);
    expect([features({}), features({ enableTools: true, toolMode: 'smart' })]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('are those that the request names', () => {
    const off = { questMaster: false, mementos: false, agents: false };
    expect(features({ enableQuestMaster: true })).toEqual({ ...off, questMaster: true });
    expect(features({ enableMementos: true })).toEqual({ ...off, mementos: true });
    expect(features({ enableAgents: true })).toEqual({ ...off, agents: true });
    const named = { enableQuestMaster: false, enableMementos: false, enableAgents: false };
    expect(features({ enableTools: true, ...named })).toBeUndefined();
  });

  it('plan long messages whose calls do not wait', () => {
    const plans = (body: object) => features({ enableTools: true, ...body })?.questMaster;
    expect([
      plans({ message: 'x'.repeat(199) }),
      plans({ approvals: true }),
      plans({ approvals: false }),
    ]).toEqual([...[false, false, true]]);
    expect(plans({ approvals: true, enableQuestMaster: true })).toBe(true);
  });

  it('remember messages of some length', () => {
    const is = (body: object) => remembers({ message: 'x'.repeat(40), enableTools: true, ...body } as never);
    expect([is({}), is({ message: 'x'.repeat(39) }), is({ enableTools: false })]).toEqual([
      true,
      false,
      false,
    ]);
    expect([is({ message: 'x', enableMementos: true }), is({ enableMementos: false })]).toEqual([
      true,
      false,
    ]);
  });
});

describe('the answer of a turn', () => {
  const acknowledgement = { id: 'q', status: 'queued', sessionId: 's' } as never;
  const complete = (quest: object = {}) =>
    toCompletedTurn(
      acknowledgement,
      {
        id: 'q',
        status: 'done',
        type: 'message',
        text: 'hi',
        createdAt: 0,
        ...quest,
      } as unknown as QuestRecord,
      7,
      { promptText: 'p' } as never,
    );

  it('has the reply and the times', () => {
    const phases = { load: 0, prompt: 0, model: 3, tools: 0, store: 0 };
    expect(complete({ phases: { model: 3 } })).toStrictEqual({
      ...{ id: 'q', sessionId: 's', status: 'done', type: 'message', response: 'hi', responses: ['hi'] },
      ...{ toolPayloads: [], createdAt: '1970-01-01T00:00:00.000Z', promptText: 'p' },
      performance: { total_ms: 7, phases },
    });
  });

  it('has why it ended', () => {
    const providerError = { kind: 'failed' };
    expect(complete({ stopReason: 'stop', errorCode: 'insufficient_credits', providerError })).toMatchObject({
      ...{ stopReason: 'stop', errorCode: 'insufficient_credits', providerError },
    });
  });

  it('has no reply without text', () => {
    expect(complete({ text: '', explanation: 'failed' })).toMatchObject({
      response: 'failed',
      responses: ['failed'],
    });
    expect(complete({ text: '', status: 'stopped' })).toMatchObject({ response: null, responses: [] });
  });

  it('may be late', () => {
    const about = { status: 504, code: 'request_timeout', extra: { quest_id: 'q', sessionId: 's' } };
    expect(waitTimeout(acknowledgement, false)).toMatchObject(about);
    expect(waitTimeout(acknowledgement, false).message).not.toContain('no worker');
    expect(waitTimeout(acknowledgement, true)).toMatchObject({
      ...about,
      message: expect.stringContaining('no worker'),
    });
  });
});
