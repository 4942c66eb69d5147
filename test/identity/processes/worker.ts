import { type Address, openWorkspace } from './workspace.ts';

/** Runs in a process of its own: asks with every key it is sent and answers the status, until it is told to end. */
async function serve(address: Address): Promise<void> {
  const workspace = await openWorkspace(address);
  process.on('message', async ({ key }: { key?: string }) => {
    if (key !== undefined) {
      process.send?.(await workspace.ask(key));
      return;
    }
    await workspace.close();
    process.disconnect();
  });
  process.send?.('ready');
}

process.once('message', serve);
