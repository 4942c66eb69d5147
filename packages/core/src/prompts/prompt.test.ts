import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../credits/estimates.ts';
import { builtInPrompt, composePrompt, type PromptContext, type PromptPart } from './prompt.ts';

const CONTEXT = {
  ...{ userId: 'ada', message: 'Hi', sentAt: 0, promptMode: undefined, features: undefined },
  ...{ session: { ownerId: 'ada' } as PromptContext['session'], systemPrompt: undefined },
} satisfies PromptContext;

const part = (source: PromptPart['source'], text: string, more: Partial<PromptPart> = {}): PromptPart => ({
  ...{ source, name: source, text },
  ...more,
});

const compose = (parts: readonly PromptPart[], tokenLimit = 1000, context: Partial<PromptContext> = {}) =>
  composePrompt([() => parts], { ...CONTEXT, ...context }, tokenLimit);

/** Each part with the reason why it is left out. */
const reasons = ({ details }: Awaited<ReturnType<typeof compose>>) =>
  details.map(({ name, exclusionReason }) => [name, exclusionReason]);

describe('system prompt', () => {
  it('has its parts by source, those of the turn last, without empty ones', async () => {
    const prompt = await composePrompt(
      [
        () => [part('caller', 'C'), part('session', '  \n'), part('user', 'memory', { perTurn: true })],
        async () => [part('hardcoded', 'base'), part('session', 'S')],
      ],
      CONTEXT,
      1000,
    );
    expect(prompt).toMatchObject({
      text: 'base\n\nS\n\nC\n\nmemory',
      systemText: 'base\n\nS\n\nC',
      turnText: 'memory',
    });
    expect(prompt.details.map(({ source }) => source)).toEqual(['hardcoded', 'session', 'caller', 'user']);
  });

  it('has the text of the request before all parts of the turn', async () => {
    const { text } = await compose([part('hardcoded', 'now', { perTurn: true }), part('caller', 'C')]);
    expect(text).toBe('C\n\nnow');
  });

  it('counts its parts so that they add up to the estimate of the whole text', async () => {
    const { text, tokens, details } = await compose([part('hardcoded', 'abc'), part('caller', 'defg')]);
    expect(tokens).toBe(estimateTokens(text.length));
    expect(details.reduce((sum, { tokenCount }) => sum + tokenCount, 0)).toBe(tokens);
  });

  it('counts a separator with the part after it, 2.5 characters to a token', async () => {
    const { text, tokens, details } = await compose([
      part('hardcoded', 'a'.repeat(5)),
      part('session', 'b'.repeat(8)),
      part('caller', 'c'.repeat(8)),
    ]);
    expect([text.length, tokens, details]).toEqual([
      25,
      10,
      [
        { source: 'hardcoded', name: 'hardcoded', tokenCount: 2, wasIncluded: true },
        { source: 'session', name: 'session', tokenCount: 4, wasIncluded: true },
        { source: 'caller', name: 'caller', tokenCount: 4, wasIncluded: true },
      ],
    ]);
  });

  it('names agents and sources of the parts that it has', async () => {
    const of = (id: string) => ({
      agent: { id, name: id } as NonNullable<PromptPart['agent']>,
      citation: { file_id: id, file_name: id },
    });
    const prompt = await compose([
      part('user', 'kept', of('a')),
      part('session', 'left', { ...of('b'), leftOut: 'disabled' }),
      part('caller', 'C'),
    ]);
    expect(prompt).toMatchObject({ systemText: 'kept\n\nC', turnText: '' });
    expect([prompt.agents, prompt.citations]).toEqual([
      [{ id: 'a', name: 'a' }],
      [{ file_id: 'a', file_name: 'a' }],
    ]);
  });

  it('leaves out what its source left out, with the count of its tokens', async () => {
    const prompt = await compose([part('session', 'left', { leftOut: 'disabled' }), part('caller', 'C')]);
    expect(prompt.text).toBe('C');
    const [left] = prompt.details;
    expect(left).toMatchObject({
      wasIncluded: false,
      exclusionReason: 'disabled',
      tokenCount: estimateTokens(4),
    });
  });

  it('has the text of the request alone in the raw mode, and says why others are left out', async () => {
    const prompt = await compose([part('hardcoded', 'base'), part('caller', 'C')], 1000, {
      promptMode: 'raw',
    });
    expect([prompt.text, reasons(prompt)]).toEqual([
      'C',
      [
        ['hardcoded', 'disabled'],
        ['caller', undefined],
      ],
    ]);
  });

  it('repeats no text, and prefers that of the request', async () => {
    const prompt = await compose([
      part('session', ' Be brief. '),
      part('user', 'Be brief.'),
      part('caller', 'Be brief.'),
    ]);
    expect([prompt.text, reasons(prompt)]).toEqual([
      'Be brief.',
      [
        ['user', 'duplicate'],
        ['session', 'duplicate'],
        ['caller', undefined],
      ],
    ]);
  });

  it('repeats no text that was first written with spaces around it', async () => {
    const prompt = await compose([part('user', ' Be brief. '), part('session', 'Be brief.')]);
    expect(reasons(prompt)).toEqual([
      ['user', undefined],
      ['session', 'duplicate'],
    ]);
  });

  it('takes 2.5 characters per token of the limit, for the text of the request first', async () => {
    // With its separator each part has 10 characters: 20 fit into 8 tokens.
    const parts = [
      part('hardcoded', 'a'.repeat(8)),
      part('session', 'b'.repeat(8)),
      part('caller', 'c'.repeat(8)),
    ];
    expect(reasons(await compose(parts, 8))).toEqual([
      ['hardcoded', undefined],
      ['session', 'token_limit'],
      ['caller', undefined],
    ]);
    expect(reasons(await compose(parts, 12))).toEqual([
      ['hardcoded', undefined],
      ['session', undefined],
      ['caller', undefined],
    ]);
    expect((await compose(parts, 11)).text).toBe(`${'a'.repeat(8)}\n\n${'c'.repeat(8)}`);
  });

  it('shows the name of a private part to the user, and its text to the model only', async () => {
    const prompt = await compose([
      part('admin', 'secret', { isPrivate: true, name: 'workspace' }),
      part('caller', 'C'),
    ]);
    expect([prompt.text, prompt.shownText]).toEqual(['secret\n\nC', '[not shown: workspace]\n\nC']);
    expect(prompt.details.map((detail) => 'withheld' in detail)).toEqual([true, false]);
    const { details } = await compose([part('admin', 'secret', { isPrivate: true, leftOut: 'disabled' })]);
    expect(details).toMatchObject([{ wasIncluded: false, withheld: true }]);
  });

  it.each([
    ['ada', false],
    ['grace', true],
  ])('withholds the text of a session from a user who is not its owner: %s', async (userId, isPrivate) => {
    const session = { ownerId: 'ada', systemPromptText: 'S' } as PromptContext['session'];
    const asked = { promptMode: 'surface', systemPrompt: 'C' } as const;
    const parts = await builtInPrompt('host')({ ...CONTEXT, userId, session, ...asked });
    expect(parts.map(({ name, isPrivate: isHidden }) => [name, isHidden])).toEqual([
      ['base', undefined],
      ['mode:surface', undefined],
      ['workspace', true],
      ['session', isPrivate],
      ['systemPrompt', undefined],
    ]);
    expect(parts.at(-1)).toEqual({ source: 'caller', name: 'systemPrompt', text: 'C' });
  });
});
