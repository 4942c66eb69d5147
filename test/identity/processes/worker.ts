import { type Address, openWorkspace } from './workspace.ts';

/**
 * Runs in a separate process: sends a request with each received key and returns the status, until its parent
 * ends it.
 */
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
