import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Charge, ModelPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider } from '../support/model.ts';
import { MOUNTS, type MountedHost } from '../support/mounts.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const CHUNKS = 8;
const WORD = 'word!';

const BODY = JSON.stringify({
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
});

/** Requests a completion on a raw connection, which can be closed at any moment. */
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

/** Yields to the event loop until the condition holds; the test timeout is the bound. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turn();
}

async function getCharges(app: TestApp): Promise<readonly Charge[]> {
  return app.ledger.charges({ account: app.account }, 1000);
}

/**
 * Input: 4 tokens, charged once the provider accepts; output: two tokens per word of 5 characters. 0.01
 * credits per token.
 */
const getCost = (words: number): number => 40_000 + words * 20_000;

describe.each(MOUNTS)('cancelled completions on $name', ({ mount }) => {
  it('are settled exactly once for their output in 200 attempts and leave no open hold', {
    timeout: 60_000,
  }, async () => {
    const provider = createScriptedProvider();
    const app = await createTestApp({
      models: [provider],
      key: { requestsPerMinute: 10_000, requestsPerDay: 10_000 },
    });
    const host: MountedHost = await mount(app.api);
    let expected = 0;
    try {
      for (let round = 0; round < 200; round++) {
        const words = round % (CHUNKS + 1);
        const { socket, text } = await ask(host.port, app.key);
        await until(() => provider.calls.length === round + 1);
        const call = provider.calls[round];
        if (call === undefined) throw new Error('the model was not called');
        const part: ModelPart = { type: 'text', text: WORD };
        for (let word = 1; word <= words; word++) {
          call.say(part);
          await until(() => text().split(WORD).length > word);
        }
        socket.destroy();
        await call.whenStopped;
        await until(async () => (await app.ledger.balance(app.account)).held === 0);
        expected += getCost(words);
      }
      const charges = await getCharges(app);
      expect(charges).toHaveLength(200);
      expect(charges.filter(({ status }) => status !== 'settled')).toEqual([]);
      const { posted, held } = await app.ledger.balance(app.account);
      expect({ spent: 1_000_000_000 - posted, held }).toEqual({ spent: expected, held: 0 });
      // One entry per settlement: none was charged twice.
      const entries = await app.ledger.entries(app.account, { limit: 1000 });
      expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(
        charges.filter(({ status }) => status === 'settled').length,
      );
      expect(app.clock.pending).toBe(0);
    } finally {
      await host.close();
    }
  });
});
