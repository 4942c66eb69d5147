import { describe, expect, it } from 'vitest';
import type { GenerateRequest, ModelInfo, ModelProvider } from '../ports/models.ts';
import { keyedProvider } from './keyed-provider.ts';

const VERBS = ['embed', 'image', 'speech', 'soundEffect', 'music', 'transcribe'] as const;
const JOBS = ['video', 'musicJobs'] as const;
const STEPS = ['submit', 'poll', 'fetch', 'cancel'] as const;

type Call = readonly [verb: string, request: unknown, options: unknown];

const shared = [{ id: 'shared' }] as unknown as readonly ModelInfo[];
const own = [{ id: 'own' }] as unknown as readonly ModelInfo[];

/** A provider that does everything, and records its calls. */
function createProvider(isCancellable = true) {
  const calls: Call[] = [];
  const note = (verb: string) => async (request: unknown, options: unknown) => {
    calls.push([verb, request, options]);
    return `result of ${verb}`;
  };
  const steps = STEPS.filter((step) => isCancellable || step !== 'cancel');
  const provider = {
    id: 'acme',
    models: () => shared,
    modelsForOwnKey: () => own,
    generate: note('generate'),
    ...Object.fromEntries(VERBS.map((verb) => [verb, note(verb)])),
    ...Object.fromEntries(
      JOBS.map((kind) => [kind, Object.fromEntries(steps.map((step) => [step, note(`${kind}.${step}`)]))]),
    ),
  } as unknown as ModelProvider;
  return { calls, provider };
}

type Verb = (request: unknown, options: object) => Promise<unknown>;

describe('provider with the key of a user', () => {
  it('passes the key, the request and the other options to every call', async () => {
    const { calls, provider } = createProvider();
    let asked = 0;
    const keyed = keyedProvider(provider, () => {
      asked += 1;
      return `key ${asked}`;
    });
    const verbs = keyed as unknown as Record<string, Verb>;
    const jobs = keyed as unknown as Record<string, Record<string, Verb>>;
    const { signal } = new AbortController();
    const wanted: Call[] = [];
    const use = async (name: string, verb: Verb | undefined) => {
      const request = { of: name };
      expect(await verb?.(request, { signal, timeoutMs: 5 })).toBe(`result of ${name}`);
      wanted.push([name, request, { signal, timeoutMs: 5, apiKey: `key ${asked}` }]);
      expect(asked).toBe(wanted.length);
    };
    for (const name of ['generate', ...VERBS]) await use(name, verbs[name]);
    for (const kind of JOBS) {
      for (const step of STEPS) await use(`${kind}.${step}`, jobs[kind]?.[step]);
    }
    expect(calls).toEqual(wanted);
  });

  it('does what the provider does, and no more', () => {
    const { id, models, generate } = createProvider().provider;
    const keyed = keyedProvider({ id, models, generate }, () => 'key');
    expect(Object.keys(keyed)).toEqual(['id', 'models', 'generate']);
    expect(keyed.models()).toBe(shared);
    const jobs = keyedProvider(createProvider(false).provider, () => 'key').video;
    expect(Object.keys(jobs ?? {})).toEqual(['submit', 'poll', 'fetch']);
  });

  it('lists the models of keys of users, and rejects where the key cannot be read', async () => {
    const { provider, calls } = createProvider();
    const keyed = keyedProvider(provider, () => {
      throw new Error('stored under another key');
    });
    expect(keyed).toMatchObject({ id: 'acme' });
    expect(keyed.models()).toBe(own);
    await expect(keyed.embed?.({ model: 'm', inputs: [] }, {})).rejects.toThrow('under another key');
    await expect(keyed.video?.poll('1', {})).rejects.toThrow('under another key');
    expect(calls).toEqual([]);
  });

  it('says which fields the provider ignores, as a method of the provider', () => {
    const provider = {
      ...createProvider().provider,
      field: 'temperature',
      ignores(this: { field: string }, request: GenerateRequest) {
        return [`${this.field} of ${request.model}`];
      },
    } as unknown as ModelProvider;
    const keyed = keyedProvider(provider, () => 'key');
    expect(keyed.ignores?.({ model: 'm' } as GenerateRequest)).toEqual(['temperature of m']);
  });
});
