import { type Moment, openWorkspace } from './workspace.ts';

/** The process that is killed: ingests files and, at the given moment, stops and reports it. */
async function work({ path, moment }: { path: string; moment?: Moment }): Promise<void> {
  const stuck = moment && { at: moment, onReached: () => process.send?.('reached') };
  const { api } = await openWorkspace(path, (error) => process.send?.({ error: String(error) }), stuck);
  await api.start();
}

process.once('message', work);
process.once('disconnect', () => process.exit());
