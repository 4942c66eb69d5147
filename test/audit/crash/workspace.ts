import { createApi, createServices } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { Clock, CreditLedger } from '@questline/core/ports';
import { createSqlPorts } from '@questline/sql';
import { connect } from '../../../packages/sql/test/connect.ts';
import type { EngineAddress } from '../../../packages/sql/test/engines.ts';

export interface GrantWorkspaceOptions {
  readonly ledger?: (ledger: CreditLedger) => CreditLedger;
  /** Milliseconds that the clock is ahead. Default 0. */
  readonly ahead?: number;
  readonly onError?: (error: unknown) => void;
}

/** A complete service on one database, as each process opens it. */
export function openGrantWorkspace(
  address: EngineAddress,
  { ledger = (given) => given, ahead = 0, onError = () => undefined }: GrantWorkspaceOptions = {},
) {
  const system = createSystemClock();
  const clock: Clock = { ...system, now: () => system.now() + ahead };
  const ids = createIds({ clock });
  const { database, close } = connect(address);
  const ports = createSqlPorts(database, { clock, ids });
  const services = createServices(
    { ...ports, ledger: ledger(ports.ledger), models: [], clock, ids },
    { jwtSecret: 'a'.repeat(64), onError: ({ error }) => onError(error) },
  );
  return { services, api: createApi(services), database, close };
}
