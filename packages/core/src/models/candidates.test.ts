import { describe, expect, it } from 'vitest';
import type { ModelInfo } from '../ports/models.ts';
import { ApiError } from '../shared/errors.ts';
import { candidatesFor, fallbackModels, toFallback } from './candidates.ts';
import { createCatalogue } from './catalogue.ts';

function toModel(id: string, fields: Partial<ModelInfo> = {}): ModelInfo {
  return {
    ...{ id, name: id.toUpperCase(), type: 'text', provider: 'one', contextWindow: 100, maxOutputTokens: 10 },
    ...fields,
  };
}

const models = [toModel('a'), toModel('b'), toModel('c'), toModel('picture', { type: 'image' })];
const provider = { id: 'one', models: () => models, generate: () => Promise.reject(new Error('not called')) };
const catalogue = { ...createCatalogue({ providers: [provider] }), isAllowed: (id: string) => id !== 'c' };
const fallbacks = { a: ['picture', 'gone', 'c', 'b'], gone: ['b'] };
const getIds = (list: readonly { readonly info: ModelInfo }[]) => list.map(({ info }) => info.id);

describe('candidates of a call', () => {
  it('are the model and its fallbacks that chat, exist and are allowed', () => {
    expect(getIds(candidatesFor({ catalogue, fallbacks }, 'a'))).toEqual(['a', 'b']);
    expect(getIds(candidatesFor({ catalogue, fallbacks }, 'b'))).toEqual(['b']);
    expect(getIds(candidatesFor({ catalogue, fallbacks }, 'gone'))).toEqual(['b']);
  });

  it('are refused if no model is left, also for names of object properties', () => {
    for (const model of ['picture', 'none', 'toString', '__proto__']) {
      expect(() => candidatesFor({ catalogue, fallbacks }, model)).toThrow(
        expect.objectContaining({
          ...{ status: 422, code: 'model_unavailable' },
          message: `The model '${model}' is no longer available.`,
        }),
      );
      expect(fallbackModels({ catalogue, fallbacks }, model)).toEqual([]);
    }
  });

  it('are refused with the successor of a retired model', () => {
    const retired = { ...toModel('old'), deprecationDate: '2026-01-01', replacedBy: 'a' };
    const known = { ...catalogue, findRetired: (id: string) => (id === 'old' ? retired : undefined) };
    expect(() => candidatesFor({ catalogue: known as typeof catalogue, fallbacks }, 'old')).toThrow(
      "model 'old' was retired on 2026-01-01; use 'a'",
    );
  });
});

describe('a fallback', () => {
  const [, entry] = candidatesFor({ catalogue, fallbacks }, 'a');
  if (entry === undefined) throw new Error('no fallback');

  it('is described with both names and the failure of the first model', () => {
    const firstFailure = new ApiError(503, 'The model provider is overloaded.');
    expect(toFallback(catalogue, 'a', { entry, firstFailure })).toEqual({
      fallbackInfo: {
        ...{ primaryModel: 'a', primaryModelName: 'A', fallbackModel: 'b', fallbackModelName: 'B' },
        reason: 'The model provider is overloaded.',
      },
    });
  });

  it('is described for a model that is gone', () => {
    expect(toFallback(catalogue, 'gone', { entry } as Parameters<typeof toFallback>[2])).toEqual({
      fallbackInfo: {
        ...{ primaryModel: 'gone', primaryModelName: 'gone', fallbackModel: 'b', fallbackModelName: 'B' },
        reason: 'The model can no longer be used.',
      },
    });
  });

  it('is not described if the requested model answers', () => {
    expect(toFallback(catalogue, 'b', { entry } as Parameters<typeof toFallback>[2])).toEqual({});
  });
});
