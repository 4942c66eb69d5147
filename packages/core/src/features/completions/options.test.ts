import { describe, expect, it } from 'vitest';
import { type ModelOptions, readModelOptions } from './options.ts';

/** Both spellings, and four values. */
const SPELLINGS = [
  ['topP', 'top_p', [0.1, 0.2, 0.3, 0.4]],
  ['topK', 'top_k', [1, 2, 3, 4]],
  ['toolChoice', 'tool_choice', ['auto', 'none', 'required', { name: 'look' }]],
  ['parallelToolCalls', 'parallel_tool_calls', [false, true, false, true]],
  ['reasoningEffort', 'reasoning_effort', ['none', 'low', 'medium', 'high']],
] as const;

const NONE: ModelOptions = {
  topP: undefined,
  topK: undefined,
  stop: undefined,
  seed: undefined,
  toolChoice: undefined,
  parallelToolCalls: undefined,
  reasoningEffort: undefined,
};

describe('an option of a completion', () => {
  it.each(SPELLINGS)('is read in the order of its places: %s, %s', (camel, snake, values) => {
    const [first, second, third, fourth] = values;
    const top = { [camel]: first, [snake]: second };
    const options = { [camel]: third, [snake]: fourth };
    expect(readModelOptions(top, options)).toEqual({ ...NONE, [camel]: first });
    expect(readModelOptions({ [snake]: second }, options)).toEqual({ ...NONE, [camel]: second });
    expect(readModelOptions({}, options)).toEqual({ ...NONE, [camel]: third });
    expect(readModelOptions({}, { [snake]: fourth })).toEqual({ ...NONE, [camel]: fourth });
  });

  it('is absent from a request without it', () => {
    expect(readModelOptions({}, {})).toEqual(NONE);
  });

  it.each([
    ['seed', 0, 1, 0, 1],
    ['stop', 'END', 'FIN', ['END'], ['FIN']],
    ['stop', ['END'], ['FIN', 'STOP'], ['END'], ['FIN', 'STOP']],
  ] as const)('has one spelling, at two levels: %s', (name, top, below, expectedTop, expectedBelow) => {
    expect(readModelOptions({ [name]: top }, { [name]: below })).toEqual({ ...NONE, [name]: expectedTop });
    expect(readModelOptions({}, { [name]: below })).toEqual({ ...NONE, [name]: expectedBelow });
  });
});
