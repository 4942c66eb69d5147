import { setTimeout as pause } from 'node:timers/promises';
import { createAnthropicApi } from '@questline/anthropic';
import { createConsole } from '@questline/console';
import type { Mountable } from '@questline/core';
import { createMcpApi } from '@questline/mcp-server';
import { createOpenAIApi } from '@questline/openai';
import type { Realtime } from '@questline/realtime';
import { withCors } from './cors.ts';
import { type Demo, prepareDemo } from './demo.ts';
import type { Configuration } from './environment/configuration.ts';
import { type Listener, listen } from './listener.ts';
import { attachRealtime } from './live.ts';
import type { Log } from './log.ts';
import type { Metrics } from './observability/metrics.ts';
import { createOperations } from './observability/operations.ts';
import { createProbes } from './observability/probes.ts';
import { createReadiness, type Readiness } from './observability/readiness.ts';
import { tracingObservers } from './observability/tracing.ts';
import { createRequests, type Requests } from './requests.ts';
import type { SecretsFile } from './secrets.ts';
import { packageVersion } from './version.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

/** How long the shutdown waits for slow clients and slow calls, in milliseconds. */
const MOMENT_MS = 1000;

/** The paths of the other APIs. Clients of the vendors add `/v1`. */
const OPENAI_PATH = '/openai';
const ANTHROPIC_PATH = '/anthropic';
const MCP_PATH = '/mcp';

export interface ServerOptions {
  readonly configuration: Configuration;
  readonly secrets: SecretsFile;
  readonly log: Log;
  /** Default: all interfaces. */
  readonly host?: string | undefined;
  readonly demo?: boolean;
  /** Prints to the terminal: sign-in codes, without mail settings. Default: standard output. */
  readonly print?: (text: string) => void;
}

export interface RunningServer {
  /** The address on this machine. */
  readonly url: string;
  /** Present in demo mode. */
  readonly demo: Demo | undefined;
  /** Where data is stored, for people. */
  readonly place: string;
  /** The invite code of the first account. Undefined: not needed. */
  readonly setupCode: string | undefined;
  /** Models that answer chats now. */
  readonly chatModels: number;
  /**
   * Stops accepting connections and work, waits up to `graceMs` for open work, and aborts the rest. A second call stops the
   * waiting.
   */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts the self-hosted server.
 * @throws CliError when the environment does not allow it.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { configuration, secrets, log, host, demo = false, print = toStdout } = options;
  const listener = await listen(configuration.port, host);
  try {
    const publicUrl = configuration.publicUrl ?? `http://${getAddress(host)}:${listener.port}`;
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
    const apis = inTurn(
      workspace.api,
      createOpenAIApi(services, { basePath: OPENAI_PATH }),
      createAnthropicApi(services, { basePath: ANTHROPIC_PATH }),
      createMcpApi(services, {
        basePath: MCP_PATH,
        version: packageVersion(),
        ...(configuration.corsOrigins !== undefined && { allowedOrigins: configuration.corsOrigins }),
      }),
    );
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
        configuration.corsOrigins === undefined ? apis : withCors(apis, configuration.corsOrigins),
        createConsole({ api: workspace.api, connectTo: elsewhere(configuration, publicUrl) }),
      ),
      { log, trustProxy: configuration.trustProxy, operations, watch: metrics?.requests },
    );
    listener.serve(requests.listener);
    return {
      url: `http://${getAddress(host)}:${listener.port}`,
      demo: prepared,
      place: workspace.place,
      setupCode: workspace.setupCode,
      chatModels: services.catalogue.list().filter(({ info }) => info.type === 'text').length,
      stop: stopper({ listener, workspace, requests, live, readiness, metrics }),
    };
  } catch (error) {
    listener.destroy();
    await listener.drain();
    throw error;
  }
}

/** The origins that the console uploads files to and downloads files from. */
function elsewhere({ s3 }: Configuration, publicUrl: string): string[] {
  return [publicUrl, ...(s3?.publicEndpoint === undefined ? [] : [s3.publicEndpoint])].map(
    (url) => new URL(url).origin,
  );
}

/** Imported only when metrics are enabled. */
async function openMetrics({ metricsToken }: Configuration): Promise<Metrics | undefined> {
  if (metricsToken === undefined) return undefined;
  const { createMetrics } = await import('./observability/metrics.ts');
  return createMetrics();
}

/** The first handler that matches a request answers it. */
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

/** Everything that must be stopped. */
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
    // Live clients have nothing to finish here; they reconnect to another process.
    const left = live?.close();
    await Promise.race([Promise.all([answered, left, workspace.api.drain(graceMs)]), hurried]);
    clearTimeout(timer);
    // Aborts open streams, and gives their last lines a moment to be sent.
    await workspace.api.close();
    await Promise.race([answered, moment()]);
    listener.destroy();
    // Aborted calls release their credit holds now: storage must still be open.
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

/** Does not keep the process alive. */
function moment(): Promise<void> {
  return pause(MOMENT_MS, undefined, { ref: false });
}

function getAddress(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
