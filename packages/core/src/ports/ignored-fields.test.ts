import { describe, expect, it } from 'vitest';
import { findIgnoredFields } from './ignored-fields.ts';
import type { GenerateRequest } from './models.ts';

const TOOL = { name: 't', description: 'x'.repeat(100), parameters: { type: 'object', properties: {} } };
const REQUEST: GenerateRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'long' }] }],
  maxTokens: 5,
  promptCache: { mode: 'off' },
};
const find = (request: Partial<GenerateRequest>, toBody: (given: GenerateRequest) => unknown = () => ({})) =>
  findIgnoredFields({ ...REQUEST, ...request }, toBody);

describe('ignored fields of a request', () => {
  it.each<[Partial<GenerateRequest>, readonly string[]]>([
    [{}, []],
    [{ temperature: 0, topP: 0.5, topK: 1, seed: 0 }, ['temperature', 'topP', 'topK', 'seed']],
    [{ temperature: undefined as never }, []],
    [{ reasoningEffort: 'none' }, []],
    [{ reasoningEffort: 'low' }, ['reasoningEffort']],
    [{ toolChoice: 'none', parallelToolCalls: false }, []],
    [{ toolChoice: 'none', parallelToolCalls: false, tools: [] }, []],
    [{ toolChoice: 'none', parallelToolCalls: false, tools: [TOOL] }, ['toolChoice', 'parallelToolCalls']],
    [{ toolChoice: 'auto', parallelToolCalls: true, tools: [TOOL] }, []],
    [{ stop: ['a'] }, ['stop']],
    [
      { thinking: { budgetTokens: 5 } as never, responseFormat: { type: 'json' } as never },
      ['thinking', 'responseFormat'],
    ],
  ])('are those of %j that leave the body as it is', (request, fields) => {
    expect(find(request)).toEqual(fields);
  });

  it('are not those that change the body', () => {
    const toBody = ({ temperature }: GenerateRequest) => ({ temperature });
    expect(find({ temperature: 1, seed: 2 }, toBody)).toEqual(['seed']);
  });

  it('are the stops if the vendor leaves out one of them', () => {
    const first = ({ stop = [] }: GenerateRequest) => ({ stop: stop[0] });
    const all = ({ stop }: GenerateRequest) => ({ stop });
    const stop = ['a', 'b'];
    expect([find({ stop }, first), find({ stop }, all), find({ stop: ['a'] }, first)]).toEqual([
      ['stop'],
      [],
      [],
    ]);
  });

  it('are found with a short conversation and short tools, once for each question', () => {
    const seen: GenerateRequest[] = [];
    const toBody = (given: GenerateRequest) => {
      seen.push(given);
      return given;
    };
    expect(find({ seed: 1, tools: [TOOL] }, toBody)).toEqual([]);
    const short = {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [{ name: 't', description: '', parameters: { type: 'object' } }],
    };
    expect(seen).toMatchObject([{ ...short, seed: 1 }, short]);
    expect(seen[1]).not.toHaveProperty('seed');
    seen.length = 0;
    find({}, toBody);
    expect(seen).toEqual([]);
    find({ seed: 1 }, toBody);
    expect(seen[0]).not.toHaveProperty('tools');
  });
});
