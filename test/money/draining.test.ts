import { describe, expect, it } from 'vitest';
import { createScriptedProvider, getEvents, type ModelCall } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';

const BODY = {
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
};

/** Starts a completion and reads its first ten characters. `rest` reads the remaining stream. */
async function openStream() {
  const provider = createScriptedProvider((call) => call.say({ type: 'text', text: 'abcdefghij' }));
  const app = await createTestApp({ models: [provider], credits: 10 });
  const response = await app.ask('POST', '/api/ai/v1/completions', { body: BODY });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = async (until: (text: string) => boolean): Promise<string> => {
    let text = '';
    while (reader !== undefined && !until(text)) {
      const { done, value = '' } = await reader.read();
      if (done) break;
      text += value;
    }
    return text;
  };
  await read((text) => text.includes('abcdefghij'));
  const rest = async (): Promise<unknown[]> => getEvents(await read(() => false));
  return { app, response, rest, call: provider.calls[0] as ModelCall };
}

describe('drain of completions', () => {
  it('lets a stream end and completes after it', async () => {
    const { app, rest, call } = await openStream();
    const drained = app.api.drain(10_000);
    call.say({ type: 'usage', usage: { input: 4, output: 4 } }, { type: 'finish', reason: 'stop' });
    call.end();
    expect(await rest()).toEqual([
      expect.objectContaining({ credits: { used: 0.08, usdCost: 0.0008 }, stopReason: 'stop' }),
      '[DONE]',
    ]);
    await drained;
    expect(app.incidents).toEqual([]);
  });

  it('ends a slow stream with an error event and settles its output', async () => {
    const { app, response, rest, call } = await openStream();
    const drained = app.api.drain(10_000);
    await app.clock.advance(9_999);
    expect(call.stopped).toBe(false);
    await app.clock.advance(1);
    expect(await rest()).toEqual([
      {
        type: 'error',
        message: 'The service is about to restart. Try again shortly.',
        requestId: response.headers.get('x-request-id'),
        usage: { inputTokens: 4, outputTokens: 4 },
        credits: { used: 0.08, usdCost: 0.0008 },
      },
      '[DONE]',
    ]);
    await drained;
    expect(call.stopped).toBe(true);
    // Four input tokens and ceil(10 / 2.5) output tokens, at 0.01 each.
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: 9_920_000, held: 0 });
    expect(app.incidents).toEqual([]);
  });

  it('does not wait when configured not to', async () => {
    const { app, rest } = await openStream();
    const closed = app.api.close();
    expect((await rest()).at(-1)).toBe('[DONE]');
    await closed;
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0 });
  });

  it('rejects new calls at once', async () => {
    const { app } = await openStream();
    void app.api.drain(10_000);
    const refused = await app.ask('POST', '/api/ai/v1/completions', { body: BODY });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
  });
});
