import { createApi, createServices } from '@questline/core';
import { createIds } from '@questline/core/memory';
import type { Clock, JobQueue, WebhookSender } from '@questline/core/ports';
import { createSqlPorts } from '@questline/sql';
import { connect } from '../../../packages/sql/test/connect.ts';
import type { EngineAddress } from '../../../packages/sql/test/engines.ts';
import { createScriptedProvider } from '../../support/model.ts';
import type { FastTime } from './protocol.ts';

/** Lease in real milliseconds: without a heartbeat for this time, another worker takes over. */
const LEASE_MS = 400;
const POLL_MS = 50;

export function createFastClock({ epoch, since, speed }: FastTime): Clock {
  return {
    now: () => epoch + (Date.now() - since) * speed,
    timer(ms, callback) {
      const timer = setTimeout(callback, Math.max(1, ms / speed));
      return () => clearTimeout(timer);
    },
  };
}

/** A service with webhooks on one database, as each process opens it. */
export function openWorkspace(
  { address, time }: { readonly address: EngineAddress; readonly time: FastTime },
  options: {
    readonly sender: WebhookSender;
    readonly queue?: (queue: JobQueue) => JobQueue;
    readonly onError: (error: unknown) => void;
  },
) {
  const clock = createFastClock(time);
  const ids = createIds({ clock });
  const { database, close } = connect(address);
  const ports = createSqlPorts(database, { clock, ids });
  const services = createServices(
    {
      ...ports,
      queue: options.queue?.(ports.queue) ?? ports.queue,
      webhooks: options.sender,
      models: [createScriptedProvider()],
      clock,
      ids,
    },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { enforceCredits: false },
      worker: { leaseMs: LEASE_MS * time.speed, pollMs: POLL_MS * time.speed },
      onError: ({ error }) => options.onError(error),
    },
  );
  return { services, api: createApi(services, { worker: false }), clock, close };
}
