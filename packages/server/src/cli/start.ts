import { formatBanner } from '../banner.ts';
import { findExposure } from '../doctor/exposure.ts';
import { type Configuration, getDatabaseUrls, readConfiguration } from '../environment/configuration.ts';
import { withEnvFile } from '../environment/env-file.ts';
import { VARIABLES } from '../environment/variables.ts';
import { createLog } from '../log.ts';
import { findSecrets, type Secrets, SecretsCreated } from '../secrets.ts';
import { startServer } from '../server.ts';
import { packageVersion } from '../version.ts';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { table } from './help.ts';

/** How long open responses may take to finish after a shutdown signal. */
const GRACE_MS = 10_000;
/** The demo listens on this machine only. */
const DEMO_HOST = '127.0.0.1';

export const start: Command = {
  name: 'start',
  summary: 'Start the server and run it until SIGINT or SIGTERM.',
  options: [
    {
      name: 'demo',
      meaning:
        'demo mode: offline models, an account with credit and an API key; listens on this machine only',
    },
    { name: 'port', value: 'N', meaning: 'port to listen on; overrides PORT' },
    {
      name: 'host',
      value: 'ADDRESS',
      meaning: 'address to listen on; default: every address, with --demo 127.0.0.1',
    },
    HELP,
  ],
  notes: `Environment variables, also read from a file .env in the working folder:
${table(VARIABLES.map(({ name, fallback, meaning }) => [name, fallback === undefined ? meaning : `${meaning} (${fallback})`]))}`,

  async run(given, { environment, folder, print, onShutdownSignal }) {
    const port = given.get('port');
    const settings = withEnvFile(environment, folder);
    const configuration = readConfiguration(
      typeof port === 'string' ? { ...settings, PORT: port } : settings,
      folder,
    );
    const demo = given.has('demo');
    const host = given.get('host');
    const address = typeof host === 'string' ? host : demo ? DEMO_HOST : undefined;
    const early: string[] = [];
    let write = (line: string): void => void early.push(line);
    const open = async () => {
      const secrets = findSecrets(configuration.storageDir, configuration.secrets);
      const log = createLog({
        secrets: confidential(configuration, secrets.values),
        // The lines that users look for come first.
        destination: { write: (line) => write(line) },
      });
      const print = (text: string): void => write(text);
      const server = await startServer({ configuration, secrets, log, demo, print, host: address });
      return { secrets, log, server };
    };
    const { secrets, log, server } = await open().catch((error: unknown) => {
      if (!(error instanceof SecretsCreated)) throw error;
      return open();
    });
    // Time since the process began.
    const readyMs = Math.round(performance.now());
    const memoryMiB = Math.round(process.memoryUsage.rss() / 2 ** 20);
    print(formatBanner(server, packageVersion(), { readyMs, memoryMiB }) + early.join(''));
    write = print;
    log.info({ url: server.url, readyMs, memoryMiB }, 'started');
    if (secrets.made.length > 0) log.info({ file: secrets.path, secrets: secrets.made }, 'created secrets');
    if (secrets.exposed)
      log.warn({ file: secrets.path }, 'the file of secrets is readable by other users; run chmod 600');

    for (const { message, advice } of findExposure(configuration, address)) log.warn({ advice }, message);

    await new Promise<void>((resolve, reject) => {
      const stopListening = onShutdownSignal(() => {
        log.info('stopping');
        server.stop(GRACE_MS).then(() => {
          stopListening();
          resolve();
        }, reject);
      });
    });
    log.info('stopped');
  },
};

/** Every value that must never be logged. */
function confidential(configuration: Configuration, secrets: Secrets): string[] {
  const { providerKeys, braveApiKey, mail, redisUrl, metricsToken, s3 } = configuration;
  const addresses = [...getDatabaseUrls(configuration), ...(redisUrl === undefined ? [] : [redisUrl])];
  return [
    ...Object.values(secrets),
    ...providerKeys.values(),
    ...addresses.flatMap((url) => [url, new URL(url).password]),
    ...[braveApiKey, mail?.password, metricsToken, s3?.secretAccessKey].filter(
      (value) => value !== undefined,
    ),
  ];
}
