import { describe, expect, it } from 'vitest';
import { createScriptedProvider, SCRIPTED_MODEL } from '../../../../../../test/support/model.ts';
import { makeFile } from '../../../../test/checked-file.ts';
import type { FinishReason, ModelInfo } from '../../../ports/models.ts';
import { ExtractionError, type TextExtractor } from '../../../ports/text-extractor.ts';
import { createModelModerator } from './model.ts';

const TEXT = makeFile('hello', 'text/plain');

function setUp(
  answer: string,
  options: {
    model?: Partial<ModelInfo>;
    reason?: FinishReason;
    policy?: string;
    extractors?: readonly TextExtractor[];
  } = {},
) {
  const { model, reason = 'stop', ...others } = options;
  const provider = createScriptedProvider(
    (call) => {
      // Some pieces come together.
      call.say({ type: 'text', text: answer.slice(0, 3) });
      call.say({ type: 'text', text: answer.slice(3) }, { type: 'thinking', text: 'hm' } as never);
      call.say({ type: 'finish', reason } as never);
      call.end();
    },
    model === undefined ? [] : [{ ...SCRIPTED_MODEL, id: 'm', ...model }],
  );
  const moderator = createModelModerator({ provider, model: 'm', ...others });
  const check = async (file = TEXT, given?: { readonly signal: AbortSignal }) => moderator.check(file, given);
  return { provider, check, request: () => provider.calls.at(-1)?.request };
}

const ALLOWED = '{"allowed": true}';

describe('a model that moderates', () => {
  it('sees the policy, one file and the question', async () => {
    const { check, request } = setUp(ALLOWED, { policy: 'cats' });
    expect(await check()).toEqual({ isClean: true });
    const [system, user, ...others] = request()?.messages ?? [];
    expect(system).toMatchObject({ role: 'system', content: [{ type: 'text' }] });
    expect(JSON.stringify(system)).toContain('Forbidden content: cats.');
    const question = { type: 'text', text: 'Is this file allowed?' };
    expect(user).toEqual({ role: 'user', content: [{ type: 'text', text: 'hello' }, question] });
    expect(others).toEqual([]);
    expect(request()).toMatchObject({
      ...{ model: 'm', promptCache: { mode: 'off' }, temperature: 0, responseFormat: { type: 'json' } },
    });
  });

  it('has a policy of its own', async () => {
    const { check, request } = setUp(ALLOWED);
    await check();
    expect(JSON.stringify(request()?.messages[0])).toMatch(
      /Forbidden content: sexual content involving minors/,
    );
  });

  it('may think as much as it needs', async () => {
    const read = async (model?: Partial<ModelInfo>) => {
      const { check, request } = setUp(ALLOWED, model && { model });
      await check();
      return [request()?.maxTokens, request()?.reasoningEffort];
    };
    expect(await read()).toEqual([8392, undefined]);
    expect(await read({ supportsThinking: false })).toEqual([200, undefined]);
    expect(await read({ supportsThinking: true, reasoningEfforts: ['low'] })).toEqual([8392, 'low']);
    expect(await read({ id: 'other', providerModel: 'm', supportsThinking: false })).toEqual([
      200,
      undefined,
    ]);
    expect(await read({ id: 'm', providerModel: 'other', supportsThinking: false })).toEqual([
      8392,
      undefined,
    ]);
  });

  it('passes its signal on', async () => {
    const { check } = setUp(ALLOWED);
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(check(TEXT, { signal })).rejects.toThrow('stopped');
  });

  it.each(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])('sees pictures: %s', async (mediaType) => {
    const { check, request } = setUp(ALLOWED);
    await check(makeFile('picture', mediaType));
    const data = Buffer.from('picture').toString('base64');
    expect(request()?.messages[1]?.content[0]).toEqual({ type: 'image', mediaType, data });
  });

  it('sees pictures of at most ten mebibytes', async () => {
    const { check } = setUp(ALLOWED);
    const sized = (size: number) => ({ ...makeFile('picture', 'image/png'), size });
    expect(await check(sized(10 * 2 ** 20))).toEqual({ isClean: true });
    await expect(check(sized(10 * 2 ** 20 + 1))).rejects.toThrow('too large');
  });

  it.each(['text/html', 'application/json', 'application/a+xml'])(
    'sees the beginning of texts: %s',
    async (type) => {
      const { check, request } = setUp(ALLOWED);
      const file = makeFile('x'.repeat(70_000), type);
      await check(file);
      expect(file.reads).toEqual([[0, 65_536]]);
      expect(request()?.messages[1]?.content[0]).toEqual({ type: 'text', text: 'x'.repeat(65_536) });
    },
  );

  it.each(['image/tiff', 'image/png2', 'application/json2', 'video/mp4'])(
    'is not asked of %s',
    async (type) => {
      const { provider, check } = setUp('{"allowed": false}');
      expect(await check(makeFile('bytes', type))).toEqual({ isClean: true });
      expect(provider.calls).toEqual([]);
    },
  );
});

describe('a model that moderates documents', () => {
  const PDF = makeFile('%PDF', 'application/pdf');
  const reading = (extract: TextExtractor['extract']): TextExtractor => ({
    reads: ({ mimeType, name }) => mimeType === 'application/pdf' && name === 'file',
    extract,
  });

  it('sees the beginning of their text', async () => {
    const seen: unknown[] = [];
    const extractor = reading(async (bytes, type, options) => {
      seen.push([Buffer.from(bytes).toString(), type, options]);
      return { text: 'x'.repeat(70_000) };
    });
    const { check, request } = setUp(ALLOWED, { extractors: [extractor] });
    const { signal } = new AbortController();
    await check(PDF, { signal });
    await check({ ...PDF, owner: 'ada' });
    const type = { name: 'file', mimeType: 'application/pdf' };
    expect(seen).toEqual([
      ['%PDF', type, { signal }],
      ['%PDF', type, { owner: 'ada' }],
    ]);
    expect(request()?.messages[1]?.content[0]).toEqual({ type: 'text', text: 'x'.repeat(65_536) });
    await check(TEXT);
    expect(request()?.messages[1]?.content[0]).toEqual({ type: 'text', text: 'hello' });
  });

  it.each([
    ['a damaged one', new ExtractionError('unreadable', 'no')],
    ['one of another type', new TypeError('no')],
  ])('is not asked of %s', async (_, error) => {
    const { check, provider } = setUp(ALLOWED, { extractors: [reading(() => Promise.reject(error))] });
    expect(await check(PDF)).toEqual({ isClean: true });
    expect(provider.calls).toEqual([]);
  });

  it.each(['limit', 'unavailable'] as const)('allows none that is not read: %s', async (kind) => {
    const error = new ExtractionError(kind, 'too many pages');
    const { check } = setUp(ALLOWED, { extractors: [reading(() => Promise.reject(error))] });
    await expect(check(PDF)).rejects.toThrow('too many pages');
  });

  it('allows none whose check was stopped', async () => {
    const { check } = setUp(ALLOWED, { extractors: [reading(() => Promise.reject(new TypeError('no')))] });
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(check(PDF, { signal })).rejects.toThrow('stopped');
  });

  it('sees documents of at most a hundred mebibytes', async () => {
    const { check } = setUp(ALLOWED, { extractors: [reading(async () => ({ text: 'short' }))] });
    const sized = (size: number) => ({ ...PDF, size });
    expect(await check(sized(100 * 2 ** 20))).toEqual({ isClean: true });
    await expect(check(sized(100 * 2 ** 20 + 1))).rejects.toThrow('too large');
  });
});

describe('the verdict of a model', () => {
  it.each([
    [`Sure:\n${ALLOWED}`, { isClean: true }],
    ['{"allowed": false, "reason":\n"cats"}.', { isClean: false, reason: 'cats' }],
    ['{"allowed": false}', { isClean: false, reason: 'a model refused it' }],
    ['{"allowed": false, "reason": 7}', { isClean: false, reason: 'a model refused it' }],
    [`{"allowed": false, "reason": "${'x'.repeat(201)}"}`, { isClean: false, reason: 'x'.repeat(200) }],
  ])('is read from %s', async (answer, verdict) => {
    expect(await setUp(answer).check()).toEqual(verdict);
  });

  it.each(['', 'no', '{"allowed": "true"}', '{"allowed": 1}', '{}', '{"allowed": '])(
    'rejects the answer: %s',
    async (answer) => {
      await expect(setUp(answer).check()).rejects.toThrow();
    },
  );

  it('names a limit that was used up by thinking', async () => {
    await expect(setUp('', { reason: 'max_tokens' }).check()).rejects.toThrow('hidden reasoning');
    await expect(setUp('', { reason: 'stop' }).check()).rejects.not.toThrow('hidden reasoning');
    expect(await setUp(ALLOWED, { reason: 'max_tokens' }).check()).toEqual({ isClean: true });
    await expect(setUp('{"allowed": "x"}').check()).rejects.toThrow('the model gave no verdict');
  });
});
