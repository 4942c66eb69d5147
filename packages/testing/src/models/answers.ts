import { isProviderError, type ModelPart, type ProviderErrorKind } from '@questline/core/ports';
import { expect } from 'vitest';
import { inParallel } from '../parallel.ts';
import { allParts, catchRejection, getText, type ModelsCase, readParts, requestTo, soon } from './subject.ts';

const text = (value: string): ModelPart => ({ type: 'text', text: value });
const PIECES = ['Caf\u00e9 ', '\u4f60\u597d', ' \u{1f30d}\u{1f469}\u200d\u{1f680}', '\n"quoted" \\n', ' end'];
const USAGE: ModelPart = { type: 'usage', usage: { input: 11, output: 7 } };
const FINISH: ModelPart = { type: 'finish', reason: 'stop' };

export const answerCases: readonly ModelsCase[] = [
  {
    name: 'lists only its own models, each once',
    section: 'behaviour',
    async run({ stage }) {
      const { provider } = await stage({ kind: 'answer', parts: [text('hello'), FINISH] });
      const models = provider.models();
      expect(models.length).toBeGreaterThan(0);
      expect(provider.models()).toBe(models);
      for (const model of models) {
        expect(model.provider).toBe(provider.id);
        expect(model.contextWindow).toBeGreaterThanOrEqual(0);
        expect(model.maxOutputTokens).toBeGreaterThanOrEqual(0);
      }
      expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
    },
  },
  {
    name: 'delivers text in order, character by character',
    section: 'behaviour',
    async run({ stage }) {
      const parts = await allParts(
        await stage({ kind: 'answer', parts: [...PIECES.map(text), USAGE, FINISH] }),
      );
      expect(getText(parts)).toBe(PIECES.join(''));
      for (const part of parts) if (part.type === 'text') expect(part.text).not.toBe('');
    },
  },
  {
    name: 'reports usage, of which the last counts, and one finish reason',
    section: 'behaviour',
    async run({ stage }) {
      const parts = await allParts(await stage({ kind: 'answer', parts: [text('hello'), USAGE, FINISH] }));
      const usages = parts.flatMap((part) => (part.type === 'usage' ? [part.usage] : []));
      expect(usages.at(-1)).toMatchObject({ input: 11, output: 7 });
      expect(reasonsIn(parts)).toEqual(['stop']);
    },
  },
  {
    name: 'reports an answer cut at the limit',
    section: 'behaviour',
    async run({ stage }) {
      const finish: ModelPart = { type: 'finish', reason: 'max_tokens' };
      const parts = await allParts(await stage({ kind: 'answer', parts: [text('hel'), finish] }));
      expect(reasonsIn(parts)).toEqual(['max_tokens']);
    },
  },
  {
    name: 'delivers whole tool calls in order',
    section: 'behaviour',
    async run({ stage }) {
      const call = (id: string, input: unknown): ModelPart => ({
        type: 'tool_use',
        id,
        name: 'web_search',
        arguments: JSON.stringify(input),
      });
      const inputs = [{ query: 'caf\u00e9 \u{1f30d}', deep: [1, { a: null }] }, {}];
      const parts = await allParts(
        await stage({
          kind: 'answer',
          parts: [
            text('let me look'),
            call('call_1', inputs[0]),
            call('call_2', inputs[1]),
            { type: 'finish', reason: 'tool_use' },
          ],
        }),
      );
      const calls = parts.flatMap((part) => (part.type === 'tool_use' ? [part] : []));
      expect(calls.map(({ name }) => name)).toEqual(['web_search', 'web_search']);
      expect(calls.map((each) => JSON.parse(each.arguments) as unknown)).toEqual(inputs);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
      expect(getText(parts)).toBe('let me look');
      expect(reasonsIn(parts)).toEqual(['tool_use']);
    },
  },
  {
    name: 'keeps parallel answers apart',
    section: 'race',
    async run({ stage }) {
      const one = await stage({ kind: 'answer', parts: [...PIECES.map(text), USAGE, FINISH] });
      const answers = await inParallel(20, [one], (each) => allParts(each));
      for (const parts of answers) expect(getText(parts)).toBe(PIECES.join(''));
      expect(one.calls()).toBe(20);
    },
  },
];

const REFUSALS: readonly { kind: ProviderErrorKind; retryAfterMs?: number }[] = [
  { kind: 'rejected_key' },
  { kind: 'overloaded', retryAfterMs: 7000 },
  { kind: 'context_length' },
  { kind: 'invalid_request' },
  { kind: 'failed' },
];

export const failureCases: readonly ModelsCase[] = [
  ...REFUSALS.map(
    ({ kind, retryAfterMs }): ModelsCase => ({
      name: `rejects with ${kind} before any stream when the upstream does`,
      section: 'behaviour',
      async run({ stage }) {
        const one = await stage({
          kind: 'refuse',
          error: kind,
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        });
        const error = await catchRejection(soon('the refusal', one.provider.generate(requestTo(one), {})));
        expect(isProviderError(error) && error.kind).toBe(kind);
        if (retryAfterMs !== undefined) {
          expect(isProviderError(error) && error.retryAfterMs).toBe(retryAfterMs);
        }
      },
    }),
  ),
  {
    name: 'fails after the delivered text when an answer breaks off',
    section: 'behaviour',
    async run({ stage }) {
      const one = await stage({ kind: 'break', parts: PIECES.map(text) });
      const stream = await one.provider.generate(requestTo(one), {});
      const parts: ModelPart[] = [];
      const error = await catchRejection(
        soon(
          'the failure',
          (async () => {
            for await (const part of readParts(stream)) parts.push(part);
          })(),
        ),
      );
      expect(isProviderError(error)).toBe(true);
      expect(getText(parts)).toBe(PIECES.join(''));
      expect(parts.some(({ type }) => type === 'finish')).toBe(false);
    },
  },
];

/** The finish part may name the model that answered; the name is not empty. */
function reasonsIn(parts: readonly ModelPart[]): string[] {
  return parts.flatMap((part) => {
    if (part.type !== 'finish') return [];
    const { model } = part;
    if (model !== undefined) expect(model).toMatch(/\S/);
    return [part.reason];
  });
}
