import type { ModelPart } from '@questline/core/ports';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

export const PATH = '/api/ai/v1/completions';
export const BODY = { model: 'scripted', messages: [{ role: 'user', content: 'Write' }], store: true };
export const END: readonly ModelPart[] = [
  { type: 'usage', usage: { input: 5, output: 9 } },
  { type: 'finish', reason: 'stop' },
];
export const say = (text: string) => ({ type: 'text', text }) as const;

/** An app with a model that the test answers for, and requests of stored completions. */
export async function begin(options: TestAppOptions = {}) {
  const provider = createScriptedProvider(() => undefined);
  const app = await createTestApp({ models: [provider], ...options });
  const ask = async (id = 'r-1', more: object = {}) => {
    const asking = app.ask('POST', PATH, { body: BODY, headers: { 'X-Request-ID': id }, ...more });
    await app.settle();
    return asking;
  };
  const follow = (id = 'r-1', more: object = {}) => app.ask('GET', `${PATH}/${id}/events`, more);
  const getCall = (): ModelCall => {
    const [call] = provider.calls;
    if (call === undefined) throw new Error('no call');
    return call;
  };
  /** Lets the writer write what it has. */
  const pass = async (ms = 100): Promise<void> => {
    await app.settle();
    await app.clock.advance(ms);
    await app.settle();
  };
  return { app, provider, ask, follow, getCall, pass };
}
