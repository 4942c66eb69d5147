import type { GrantCrash, GrantOrder } from './protocol.ts';
import { openGrantWorkspace } from './workspace.ts';

/** Grants credit, and kills itself at the given point. */
async function grant({ address, account, key, crash }: GrantOrder): Promise<void> {
  const arrive = (point: GrantCrash): void => {
    if (point === crash) process.kill(process.pid, 'SIGKILL');
  };
  const { services, close } = openGrantWorkspace(address, {
    ledger: (ledger) => ({
      ...ledger,
      async grant(...args) {
        arrive('before-grant');
        const isNew = await ledger.grant(...args);
        arrive('after-grant');
        return isNew;
      },
    }),
  });
  await services.ledger.grant({ account, amount: 5_000_000, key, reason: `payment ${key}` });
  await close();
  process.disconnect();
}

process.once('message', grant);
