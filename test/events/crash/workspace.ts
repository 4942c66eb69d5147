import { createApi, createServices, type EventHandler, type Services } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { CreditLedger } from '@questline/core/ports';
import { createSqlPorts } from '@questline/sql';
import { connect } from '../../../packages/sql/test/connect.ts';
import type { EngineAddress } from '../../../packages/sql/test/engines.ts';
import { createScriptedProvider } from '../../support/model.ts';

/** Lease of a job: without a heartbeat for this time, another worker takes over. */
const LEASE_MS = 400;

export interface WorkspaceOptions {
  readonly onEvent: EventHandler;
  readonly ledger?: (ledger: CreditLedger) => CreditLedger;
  readonly onError?: (error: unknown) => void;
}

/** A complete service on one database, as each process opens it. */
export function openWorkspace(
  address: EngineAddress,
  { onEvent, ledger = (given) => given, onError }: WorkspaceOptions,
) {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const { database, close } = connect(address);
  const ports = createSqlPorts(database, { clock, ids });
  let words = 0;
  const models = createScriptedProvider((call) => {
    words += 1;
    call.say({ type: 'text', text: 'word '.repeat(words) });
    call.say({ type: 'usage', usage: { input: 7, output: words } }, { type: 'finish', reason: 'stop' });
    call.end();
  });
  const services: Services = createServices(
    { ...ports, ledger: ledger(ports.ledger), models: [models], clock, ids },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { DefaultAPIModel: 'scripted' },
      worker: { leaseMs: LEASE_MS, pollMs: 50 },
      onEvent,
      ...(onError !== undefined && { onError: ({ error }) => onError(error) }),
    },
  );
  return { services, api: createApi(services, { worker: false }), close };
}
