import { setTimeout as pause } from 'node:timers/promises';
import { createConsole } from '@questline/console';
import type { Mountable } from '@questline/core';
import type { Realtime } from '@questline/realtime';
import { type Demo, prepareDemo } from './demo.ts';
import type { Configuration } from './environment/configuration.ts';
import { type Listener, listen } from './listener.ts';
import { attachRealtime } from './live.ts';
import type { Log } from './log.ts';
import { createRequests, type Requests } from './requests.ts';
import type { SecretsFile } from './secrets.ts';
import type { Metrics } from './watching/metrics.ts';
import { createOperations } from './watching/operations.ts';
import { createProbes } from './watching/probes.ts';
import { createReadiness, type Readiness } from './watching/readiness.ts';
import { tracingObservers } from './watching/tracing.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

/** So long a slow client, or a slow call, is waited for at the very end. */
const MOMENT_MS = 1000;

export interface ServerOptions {
  readonly configuration: Configuration;
  readonly secrets: SecretsFile;
  readonly log: Log;
  /** Default: every interface. */
  readonly host?: string | undefined;
  readonly demo?: boolean;
  /** Shows something to the person at the terminal: sign-in codes, without mail settings. Default: standard output. */
  readonly print?: (text: string) => void;
}

export interface RunningServer {
  /** Where it can be reached on this machine. */
  readonly url: string;
  /** Present when a demo was asked for. */
  readonly demo: Demo | undefined;
  /** Where everything is kept, in words. */
  readonly place: string;
  /**
   * Takes no new connections and no new work, waits up to `graceMs` for what is under way, and ends the rest. Calling it
   * again ends the waiting.
   */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts the self-hosted server.
 * @throws Mistake when the surroundings don't allow it.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { configuration, secrets, log, host, demo = false, print = toStdout } = options;
  const listener = await listen(configuration.port, host);
  try {
    const publicUrl = configuration.publicUrl ?? `http://${addressOf(host)}:${listener.port}`;
    const operations = createOperations();
    const metrics = await openMetrics(configuration);
    const workspace = await openWorkspace({
      configuration,
      secrets,
      publicUrl,
      log,
      demo,
      print,
      observers: [...(await tracingObservers()), operations.observer, ...(metrics ? [metrics.observer] : [])],
      onFailure: metrics?.failed,
    });
    const { services } = workspace;
    const readiness = createReadiness(workspace.questions, services.clock);
    const prepared = demo ? await prepareDemo(workspace.services) : undefined;
    await workspace.api.start();
    const live = configuration.realtime
      ? await attachRealtime(workspace.services, listener.server)
      : undefined;
    const requests = createRequests(
      inTurn(
        createProbes({
          readiness,
          ...(metrics !== undefined && {
            metrics: {
              token: configuration.metricsToken ?? '',
              read: () => metrics.scrape({ queue: services.queue, readiness }),
            },
          }),
        }),
        workspace.api,
        createConsole({ connectTo: elsewhere(configuration, publicUrl) }),
      ),
      { log, trustProxy: configuration.trustProxy, operations, watch: metrics?.requests },
    );
    listener.serve(requests.listener);
    return {
      url: `http://${addressOf(host)}:${listener.port}`,
      demo: prepared,
      place: workspace.place,
      stop: stopper({ listener, workspace, requests, live, readiness, metrics }),
    };
  } catch (error) {
    listener.destroy();
    await listener.drain();
    throw error;
  }
}

/** Where the addresses lead that the console's files go to and come from. */
function elsewhere({ s3 }: Configuration, publicUrl: string): string[] {
  return [publicUrl, ...(s3?.publicEndpoint === undefined ? [] : [s3.publicEndpoint])].map(
    (url) => new URL(url).origin,
  );
}

/** Loaded only when somebody is to read them. */
async function openMetrics({ metricsToken }: Configuration): Promise<Metrics | undefined> {
  if (metricsToken === undefined) return undefined;
  const { createMetrics } = await import('./watching/metrics.ts');
  return createMetrics();
}

/** The first one whose own a request is answers it. */
function inTurn(...mounted: readonly Mountable[]): Mountable {
  return {
    async handle(request) {
      for (const one of mounted) {
        const response = await one.handle(request);
        if (response !== undefined) return response;
      }
      return undefined;
    },
  };
}

/** Everything that runs, to be brought to an end. */
interface Parts {
  readonly listener: Listener;
  readonly workspace: Workspace;
  readonly requests: Requests;
  readonly live: Realtime | undefined;
  readonly readiness: Readiness;
  readonly metrics: Metrics | undefined;
}

function stopper({ listener, workspace, requests, live, readiness, metrics }: Parts): RunningServer['stop'] {
  let hurry = (): void => undefined;
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve;
  });
  let stopping: Promise<void> | undefined;

  const stop = async (graceMs: number): Promise<void> => {
    const timer = setTimeout(hurry, graceMs);
    readiness.drain();
    const answered = listener.drain();
    // Who looks on has nothing to finish here, and looks on elsewhere.
    const left = live?.close();
    await Promise.race([Promise.all([answered, left, workspace.api.drain(graceMs)]), hurried]);
    clearTimeout(timer);
    // Ends the streams that are still open; their last lines get a moment to leave.
    await workspace.api.close();
    await Promise.race([answered, moment()]);
    listener.destroy();
    // Calls that lost their client now give back what they hold: storage must still be there.
    await Promise.race([Promise.all([answered, requests.settled()]), moment()]);
    await workspace.close();
    metrics?.close();
  };
  return (graceMs) => {
    if (stopping !== undefined) hurry();
    stopping ??= stop(graceMs);
    return stopping;
  };
}

function toStdout(text: string): void {
  process.stdout.write(text);
}

/** Never keeps the process alive. */
function moment(): Promise<void> {
  return pause(MOMENT_MS, undefined, { ref: false });
}

function addressOf(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
