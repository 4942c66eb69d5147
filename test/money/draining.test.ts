import { describe, expect, it } from 'vitest';
import { createScriptedProvider, eventsOf, type ModelCall } from '../support/model.ts';
import { createWorld } from '../support/world.ts';

const BODY = {
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
};

/** A completion under way: its first ten characters have arrived. `rest` reads what follows. */
async function openStream() {
  const provider = createScriptedProvider((call) => call.say({ type: 'text', text: 'abcdefghij' }));
  const world = await createWorld({ models: [provider], credits: 10 });
  const response = await world.ask('POST', '/api/ai/v1/completions', { body: BODY });
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
  const rest = async (): Promise<unknown[]> => eventsOf(await read(() => false));
  return { world, response, rest, call: provider.calls[0] as ModelCall };
}

describe('draining', () => {
  it('lets a stream end by itself, and is done as soon as it has', async () => {
    const { world, rest, call } = await openStream();
    const drained = world.api.drain(10_000);
    call.say({ type: 'usage', usage: { input: 4, output: 4 } }, { type: 'finish', reason: 'stop' });
    call.end();
    expect(await rest()).toEqual([
      expect.objectContaining({ credits: { used: 0.08, usdCost: 0.0008 }, stopReason: 'stop' }),
      '[DONE]',
    ]);
    await drained;
    expect(world.incidents).toEqual([]);
  });

  it('ends a stream that takes too long with an error event, and settles what it made', async () => {
    const { world, response, rest, call } = await openStream();
    const drained = world.api.drain(10_000);
    await world.clock.advance(9_999);
    expect(call.stopped).toBe(false);
    await world.clock.advance(1);
    expect(await rest()).toEqual([
      {
        type: 'error',
        message: 'The service is about to restart. Try again shortly.',
        requestId: response.headers.get('x-request-id'),
      },
      '[DONE]',
    ]);
    await drained;
    expect(call.stopped).toBe(true);
    // Four tokens of input and ceil(10 / 2.5) of output, at 0.01 each.
    expect(await world.ledger.balance(world.account)).toMatchObject({ posted: 9_920_000, held: 0 });
    expect(world.incidents).toEqual([]);
  });

  it('does not wait when it is told not to', async () => {
    const { world, rest } = await openStream();
    const closed = world.api.close();
    expect((await rest()).at(-1)).toBe('[DONE]');
    await closed;
    expect(await world.ledger.balance(world.account)).toMatchObject({ held: 0 });
  });

  it('refuses new calls at once', async () => {
    const { world } = await openStream();
    void world.api.drain(10_000);
    const refused = await world.ask('POST', '/api/ai/v1/completions', { body: BODY });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
  });
});
