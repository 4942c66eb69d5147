import { EVENT_OUTBOX, QUESTS, WEBHOOK_DELIVERIES } from '@questline/core/internal';
import { createWebhookSender } from '@questline/providers/web';
import type { Crash, Order } from './protocol.ts';
import { openWorkspace } from './workspace.ts';

const AT_ONCE = 8;
/** Timeout of a receiver that never answers, in accelerated time. */
const TIMEOUT_MS = 10_000;

/** Ends jobs, and kills itself at the given point; otherwise it ends when everything is delivered. */
async function work(order: Order): Promise<void> {
  let arrivals = 0;
  let isClosing = false;
  const arrive = (point: Crash['point']): void => {
    if (point !== order.crash?.point) return;
    arrivals += 1;
    if (arrivals === order.crash.count) process.kill(process.pid, 'SIGKILL');
  };
  const post = createWebhookSender({ isAllowedAddress: () => true });
  const { services, api, clock, close } = openWorkspace(order, {
    onError(error) {
      if (!isClosing) process.send?.({ error: String(error) });
    },
    queue: (queue) => ({
      ...queue,
      async enqueue(job, ...options) {
        if (job.kind === 'deliver-event') arrive('after-commit');
        return queue.enqueue(job, ...options);
      },
    }),
    sender: {
      isAllowed: (url) => post.isAllowed(url),
      async send(request, options) {
        if (request.url.endsWith('/slow')) {
          await new Promise<void>((resolve) => void clock.timer(TIMEOUT_MS, resolve));
          return { outcome: 'failed', reason: 'timeout' };
        }
        arrive('before-send');
        const outcome = await post.send(request, options);
        if (outcome.outcome === 'answered' && outcome.status === 204) arrive('after-send');
        return outcome;
      },
    },
  });
  const { store, ids } = services;
  const quests = store.collection(QUESTS);
  await api.start();

  let left = order.jobs;
  const endJobs = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const id = ids.next();
      const now = clock.now();
      await quests.insert({
        ...{ id, kind: 'chat', sessionId: ids.next(), ownerId: order.userId, status: 'running' },
        ...{ type: 'message', createdAt: now, updatedAt: now },
        request: { payer: { account: `user:${order.userId}` } as never, requestId: id },
      });
      await quests.update(id, { status: 'done', updatedAt: clock.now() });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, endJobs));

  // The parent ends the process if this never happens.
  const outbox = store.collection(EVENT_OUTBOX);
  const deliveries = store.collection(WEBHOOK_DELIVERIES);
  const isDone = async (): Promise<boolean> =>
    (await outbox.count({})) === 0 &&
    (await deliveries.count({ webhookId: order.webhookId, status: { not: 'delivered' } })) === 0;
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 50));
  isClosing = true;
  await api.close();
  await close();
  process.disconnect();
}

process.once('message', work);
