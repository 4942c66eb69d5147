import type { GenerateRequest, ModelPart } from '@questline/core/ports';
import { expect } from 'vitest';
import { allParts, getText, type ModelStage, type ModelsCase, requestTo } from './subject.ts';

const FINISH: ModelPart = { type: 'finish', reason: 'stop' };
const ANSWER = { kind: 'answer', parts: [{ type: 'text', text: 'hello' }, FINISH] } as const;

const TOOLS = ['look', 'listen'].map((name) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
}));

/** A conversation with a tool call that must not be repeated. */
const AFTER_CALL: Pick<GenerateRequest, 'messages' | 'tools' | 'toolChoice'> = {
  tools: TOOLS,
  toolChoice: 'none',
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Look' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', toolUseId: 'call_1', toolName: 'look', content: 'seen', isError: false },
      ],
    },
  ],
};

/** Values that providers send only on request. */
const SINGLE_FIELDS = [
  ['topP', 0.5],
  ['topK', 20],
  ['stop', ['END']],
  ['seed', 7],
  ['toolChoice', 'required'],
  ['parallelToolCalls', false],
] as const;

function requestCase(
  name: string,
  run: (ask: (fields: Partial<GenerateRequest>) => Promise<Record<string, unknown>>) => Promise<void>,
): ModelsCase {
  return {
    name,
    section: 'behaviour',
    async run({ stage }) {
      const one = await stage(ANSWER);
      await run(async (fields) => {
        const parts = await allParts(one, undefined, { ...requestTo(one), ...fields });
        expect(getText(parts)).toBe('hello');
        return { ...received(one) };
      });
    },
  };
}

/** The last request at the upstream; empty if the stage does not report it. */
function received(stage: ModelStage): NonNullable<ReturnType<NonNullable<ModelStage['received']>>> {
  return stage.received?.() ?? {};
}

/** Compares only fields that the upstream has. */
function expectCarried(seen: Record<string, unknown>, expected: Record<string, unknown>): void {
  const places = Object.entries(expected).filter(([field]) => field in seen);
  expect(Object.fromEntries(places.map(([field]) => [field, seen[field]]))).toEqual(
    Object.fromEntries(places),
  );
}

export const requestCases: readonly ModelsCase[] = [
  requestCase('tools stay in a request that forbids their use', async (ask) => {
    expectCarried(await ask(AFTER_CALL), { toolNames: ['look', 'listen'], toolChoice: 'none' });
  }),
  requestCase('the choice of a tool reaches the upstream', async (ask) => {
    // `auto` is every provider's default.
    for (const toolChoice of ['required', { name: 'listen' }] as const) {
      expectCarried(await ask({ tools: TOOLS, toolChoice }), { toolChoice });
    }
    expectCarried(await ask({ tools: TOOLS, parallelToolCalls: false }), { parallelToolCalls: false });
  }),
  requestCase('sampling reaches the upstream where it has a place for it', async (ask) => {
    const fields = { topP: 0.5, topK: 20, seed: 7, stop: ['END', '###'] };
    expectCarried(await ask(fields), fields);
  }),
  {
    name: 'a field that is named as ignored does not reach the upstream',
    section: 'behaviour',
    async run({ stage }) {
      const one = await stage(ANSWER);
      const { ignores } = one.provider;
      if (ignores === undefined || one.received === undefined) return;
      for (const [field, value] of SINGLE_FIELDS) {
        const request: GenerateRequest = { ...requestTo(one), tools: TOOLS, [field]: value };
        await allParts(one, undefined, request);
        const isNamed = ignores.call(one.provider, request).includes(field);
        if (isNamed) expect([field, received(one)[field]]).toEqual([field, undefined]);
      }
      expect(ignores.call(one.provider, requestTo(one))).toEqual([]);
    },
  },
  requestCase('the key of a prompt cache is sent, unless caching is off', async (ask) => {
    expectCarried(await ask({ promptCache: { mode: 'auto', key: 'prefix-1' } }), { cacheKey: 'prefix-1' });
    expectCarried(await ask({ promptCache: { mode: 'off', key: 'prefix-1' } }), { cacheKey: undefined });
  }),
  requestCase('a call with every field at once is answered', async (ask) => {
    await ask({
      ...AFTER_CALL,
      parallelToolCalls: true,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stop: ['END'],
      seed: 1,
      reasoningEffort: 'low',
      promptCache: { mode: 'auto', ttl: '5m', key: 'k' },
    });
  }),
  {
    name: 'reports progress of tool calls that adds up to the calls',
    section: 'behaviour',
    async run({ stage }) {
      const parts = await allParts(
        await stage({
          kind: 'answer',
          parts: [
            { type: 'tool_use', id: 'call_1', name: 'look', arguments: '{"at":"caf\u00e9 \u{1f30d}"}' },
            { type: 'tool_use', id: 'call_2', name: 'listen', arguments: '{}' },
            { type: 'finish', reason: 'tool_use' },
          ],
        }),
      );
      const calls = parts.flatMap((part) => (part.type === 'tool_use' ? [part] : []));
      const progress = new Map<number, { id?: string; name?: string; text: string }>();
      for (const part of parts) {
        if (part.type !== 'tool_use_delta') continue;
        const known = progress.get(part.index);
        // Calls have indexes from 0, and their first piece has the name.
        if (known === undefined) expect([part.index, typeof part.name]).toEqual([progress.size, 'string']);
        const { id, name } = known ?? part;
        const text = (known?.text ?? '') + part.arguments;
        progress.set(part.index, { ...(id && { id }), ...(name && { name }), text });
      }
      if (progress.size === 0) return;
      expect([...progress.values()].map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
      for (const [place, { id, text }] of [...progress.values()].entries()) {
        if (id !== undefined && id !== '') expect(id).toBe(calls[place]?.id);
        expect(JSON.parse(text)).toEqual(JSON.parse(calls[place]?.arguments ?? ''));
      }
    },
  },
  {
    name: 'separates reasoning from text, in blocks with a type',
    section: 'behaviour',
    async run({ stage }) {
      const parts = await allParts(
        await stage({
          kind: 'answer',
          parts: [
            { type: 'thinking_delta', text: 'Hm, na\u00efve.' },
            { type: 'text', text: 'hello' },
            FINISH,
          ],
        }),
      );
      expect(getText(parts)).toBe('hello');
      const shown = parts.map((part) => (part.type === 'thinking_delta' ? part.text : '')).join('');
      expect(['', 'Hm, na\u00efve.']).toContain(shown);
      for (const part of parts) if (part.type === 'thinking') expect(part.block.type).toMatch(/\S/);
    },
  },
];
