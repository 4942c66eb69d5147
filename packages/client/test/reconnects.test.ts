import { setImmediate as turn } from 'node:timers/promises';
import { follow } from '@questline/client';
import { getQuestEvents } from '@questline/client/operations';
import { describe, expect, it, vi } from 'vitest';
import { createScriptedClient, eventResponse, json } from './support.ts';

const input = { params: { id: 'q' } };
const EVENT = 'data: {"type":"text","text":"a"}\n\n';
const END = 'data: {"type":"end","state":{}}\n\n';
const offline = (count: number): TypeError[] => Array.from({ length: count }, () => new TypeError('offline'));

async function take<T>(all: AsyncIterable<T>): Promise<number> {
  let count = 0;
  for await (const _ of all) count += 1;
  return count;
}

describe('the connection to events', () => {
  it('goes on after the event that the reader has, if the stream has no ids', async () => {
    const { client, sent } = createScriptedClient([eventResponse(EVENT), eventResponse(END)]);
    expect(await take(follow(client, getQuestEvents, input, { after: '3' }))).toBe(2);
    expect(sent.map(({ headers }) => headers.get('last-event-id'))).toEqual(['3', '3']);
  });

  it('may fail ten times after each event', async () => {
    const { client, waited } = createScriptedClient(
      [...offline(10), eventResponse(EVENT), ...offline(9), eventResponse(END)],
      { retries: 0 },
    );
    expect(await take(follow(client, getQuestEvents, input))).toBe(2);
    expect(waited.slice(10, 12)).toEqual([500, 1000]);
    expect(waited).toHaveLength(20);
  });

  it('is made again at once after a stream that ends without its last event', async () => {
    const { client, waited } = createScriptedClient([
      eventResponse(`${EVENT}data: [DONE]\n\n`),
      new Response(null, { status: 204 }),
    ]);
    expect(await take(follow(client, getQuestEvents, input))).toBe(1);
    expect(waited).toEqual([]);
  });

  it('is made again after the wait', async () => {
    let goOn: (() => void) | undefined;
    const { client, sent } = createScriptedClient([json({}, 502), eventResponse(END)], {
      retries: 0,
      wait: () =>
        new Promise<void>((resolve) => {
          goOn = resolve;
        }),
    });
    const reading = take(follow(client, getQuestEvents, input));
    await vi.waitFor(() => expect(goOn).not.toBeUndefined());
    await turn();
    expect(sent).toHaveLength(1);
    goOn?.();
    expect(await reading).toBe(1);
  });
});
