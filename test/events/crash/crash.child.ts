import { appendFileSync } from 'node:fs';
import { toFetchHandler } from '@questline/core';
import { EVENT_OUTBOX, QUESTS } from '@questline/core/internal';
import type { CrashPoint, Order } from './protocol.ts';
import { openWorkspace } from './workspace.ts';

/**
 * Sends requests to itself and kills itself at the given point; otherwise it ends when all events are
 * delivered.
 */
async function serve({ address, key, file, calls, crash }: Order): Promise<void> {
  const arrive = (point: CrashPoint, operation: string | undefined): void => {
    const isOrdered = operation === (crash?.operation === 'chat' ? 'sendChatMessage' : 'createCompletion');
    if (point === crash?.point && isOrdered) process.kill(process.pid, 'SIGKILL');
  };
  const { services, api, close } = openWorkspace(address, {
    async onEvent(event) {
      const operation = event.type === 'charge.settled' ? event.data.operation : undefined;
      arrive('before-delivery', operation);
      appendFileSync(file, `${JSON.stringify(event)}\n`);
      arrive('after-delivery', operation);
    },
    ledger: (ledger) => ({
      ...ledger,
      async settle(...args) {
        arrive('before-settle', args[3]?.operation);
        const settlement = await ledger.settle(...args);
        arrive('after-settle', args[3]?.operation);
        return settlement;
      },
    }),
    onError: (error) => process.send?.({ error: String(error) }),
  });
  await api.start();
  const handle = toFetchHandler(api);
  const ask = async (path: string, body: object): Promise<void> => {
    const request = new Request(`http://questline.test${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    await (await handle(request))?.text();
  };
  for (let call = 0; call < calls; call += 1) {
    await ask('/api/chat', { message: 'Hi', wait: true });
    const messages = [{ role: 'user', content: 'Hi' }];
    await ask('/api/ai/v1/completions', { model: 'scripted', messages });
  }
  // The parent ends the process if this never happens.
  const outbox = services.store.collection(EVENT_OUTBOX);
  const quests = services.store.collection(QUESTS);
  const isIdle = async (): Promise<boolean> => {
    // A quest whose process was killed before it was enqueued has no job until the sweep.
    const live = await quests.count({ status: { in: ['pending', 'running'] } });
    const { ready, delayed, leased } = await services.queue.counts();
    // Read last: the last job may have added an event.
    return live + ready + delayed + leased + (await outbox.count({})) === 0;
  };
  while (!(await isIdle())) await new Promise((resolve) => setTimeout(resolve, 20));
  await api.close();
  await close();
  process.disconnect();
}

process.once('message', serve);
