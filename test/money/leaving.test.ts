import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Charge, ModelPart } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider } from '../support/model.ts';
import { MOUNTS, type MountedHost } from '../support/mounts.ts';
import { createWorld, type World } from '../support/world.ts';

const CHUNKS = 8;
const WORD = 'word!';

const BODY = JSON.stringify({
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
});

/** Asks for a completion on a raw connection, to be able to leave it at any moment. */
async function ask(port: number, key: string): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    `POST /api/ai/v1/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
  );
  return { socket, text: () => received };
}

/** Lets the event loop turn until something holds; the test's own timeout is the bound. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turn();
}

async function chargesOf(world: World): Promise<readonly Charge[]> {
  return world.ledger.charges({ account: world.account }, 1000);
}

/** Input: 4 tokens; output: two for each word of 5 characters. 0.01 credits a token. */
const costOf = (words: number): number => (words === 0 ? 0 : 40_000 + words * 20_000);

describe.each(MOUNTS)('leaving a completion, on $name', ({ mount }) => {
  it('settles exactly once for what was made, 200 times, and leaves no hold open', {
    timeout: 60_000,
  }, async () => {
    const provider = createScriptedProvider();
    const world = await createWorld({
      models: [provider],
      key: { requestsPerMinute: 10_000, requestsPerDay: 10_000 },
    });
    const host: MountedHost = await mount(world.api);
    let expected = 0;
    try {
      for (let round = 0; round < 200; round++) {
        const words = round % (CHUNKS + 1);
        const { socket, text } = await ask(host.port, world.key);
        await until(() => provider.calls.length === round + 1);
        const call = provider.calls[round];
        if (call === undefined) throw new Error('no call');
        const part: ModelPart = { type: 'text', text: WORD };
        for (let word = 1; word <= words; word++) {
          call.say(part);
          await until(() => text().split(WORD).length > word);
        }
        socket.destroy();
        await call.whenStopped;
        await until(async () => (await world.ledger.balance(world.account)).held === 0);
        expected += costOf(words);
      }
      const charges = await chargesOf(world);
      expect(charges).toHaveLength(200);
      expect(charges.filter(({ status }) => status === 'reserved')).toEqual([]);
      expect(charges.filter(({ status }) => status === 'released')).toHaveLength(
        Array.from({ length: 200 }, (_, round) => round).filter((round) => round % (CHUNKS + 1) === 0).length,
      );
      const { posted, held } = await world.ledger.balance(world.account);
      expect({ spent: 1_000_000_000 - posted, held }).toEqual({ spent: expected, held: 0 });
      // One entry a settlement: nobody was charged twice.
      const entries = await world.ledger.entries(world.account, { limit: 1000 });
      expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(
        charges.filter(({ status }) => status === 'settled').length,
      );
      expect(world.clock.pending).toBe(0);
    } finally {
      await host.close();
    }
  });
});
