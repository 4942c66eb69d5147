import { createLog, findSecrets, readConfiguration, startServer } from '@questline/server';

/* The self-hosted server as deployed; it reports its state to the parent process. Its log is its standard output. */

/** The resources of the process after garbage collection. */
export interface Sample {
  /** Bytes. */
  readonly heap: number;
  readonly rss: number;
  /** Active resources by kind: sockets, timers, pipes. */
  readonly handles: Readonly<Record<string, number>>;
}

export type FromServer =
  | { readonly url: string; readonly demo: { readonly email: string; readonly key: string } }
  /** Printed for users: sign-in codes. */
  | { readonly print: string }
  | { readonly sample: Sample }
  | { readonly stoppedWithin: number };

const GRACE_MS = 10_000;

function tell(message: FromServer): void {
  process.send?.(message);
}

function sample(): Sample {
  // The second run frees what the finalizers of the first released.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const handles: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  return { heap: heapUsed, rss, handles };
}

const configuration = readConfiguration(process.env);
const secrets = findSecrets(configuration.storageDir, configuration.secrets);
const log = createLog({
  secrets: [...Object.values(secrets.values), configuration.metricsToken ?? ''],
  destination: process.stdout,
});
const server = await startServer({
  configuration,
  secrets,
  log,
  demo: true,
  host: '127.0.0.1',
  print: (text) => tell({ print: text }),
});

/** The parent process has exited. */
const abandoned = (): void => process.exit(1);
process.once('disconnect', abandoned);
process.on('message', (question) => {
  if (question === 'sample') return tell({ sample: sample() });
  if (question !== 'stop') return;
  const began = performance.now();
  void server.stop(GRACE_MS).then(() => {
    tell({ stoppedWithin: performance.now() - began });
    // From here on, only leaked resources keep the process alive.
    process.off('disconnect', abandoned);
    process.disconnect();
  });
});
tell({ url: server.url, demo: server.demo ?? { email: '', key: '' } });
