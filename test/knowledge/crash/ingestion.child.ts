import { openWorkspace } from './workspace.ts';

/** The process that is killed: reads files in, until it is no more. */
async function work(path: string): Promise<void> {
  const { api } = await openWorkspace(path, (error) => process.send?.({ error: String(error) }));
  await api.start();
}

process.once('message', work);
process.once('disconnect', () => process.exit());
