import { bannerOf } from '../banner.ts';
import { type Configuration, readConfiguration } from '../environment/configuration.ts';
import { withEnvFile } from '../environment/env-file.ts';
import { VARIABLES } from '../environment/variables.ts';
import { createLog } from '../log.ts';
import { findSecrets, type Secrets } from '../secrets.ts';
import { startServer } from '../server.ts';
import { packageVersion } from '../version.ts';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { table } from './help.ts';

/** How long open answers may take to end by themselves once the process is asked to end. */
const GRACE_MS = 10_000;
/** A first look opens no port to the network. */
const DEMO_HOST = '127.0.0.1';

export const start: Command = {
  name: 'start',
  summary: 'Start the server and keep it running until SIGINT or SIGTERM.',
  options: [
    {
      name: 'demo',
      meaning: 'offline models, an account with credit and an API key; listens on this machine only',
    },
    { name: 'port', value: 'N', meaning: 'where to listen, in place of PORT' },
    {
      name: 'host',
      value: 'ADDRESS',
      meaning: 'the address to listen on; without it every one, with --demo 127.0.0.1',
    },
    HELP,
  ],
  notes: `Environment, also from a file .env in the working folder:
${table(VARIABLES.map(({ name, fallback, meaning }) => [name, fallback === undefined ? meaning : `${meaning} (${fallback})`]))}`,

  async run(given, { environment, folder, print, onEnd }) {
    const port = given.get('port');
    const settings = withEnvFile(environment, folder);
    const configuration = readConfiguration(
      typeof port === 'string' ? { ...settings, PORT: port } : settings,
      folder,
    );
    const secrets = findSecrets(configuration.storageDir, configuration.secrets);
    const early: string[] = [];
    let write = (line: string): void => void early.push(line);
    const log = createLog({
      secrets: confidential(configuration, secrets.values),
      // What a person is looking for comes first.
      destination: { write: (line) => write(line) },
    });
    const demo = given.has('demo');
    const host = given.get('host');
    const server = await startServer({
      configuration,
      secrets,
      log,
      demo,
      print: (text) => write(text),
      host: typeof host === 'string' ? host : demo ? DEMO_HOST : undefined,
    });
    // Since the process began.
    const readyMs = Math.round(performance.now());
    const memoryMiB = Math.round(process.memoryUsage.rss() / 2 ** 20);
    print(bannerOf(server, packageVersion(), { readyMs, memoryMiB }) + early.join(''));
    write = print;
    log.info({ url: server.url, readyMs, memoryMiB }, 'started');
    if (secrets.made.length > 0) log.info({ file: secrets.path, secrets: secrets.made }, 'made secrets');
    if (secrets.exposed) log.warn({ file: secrets.path }, 'others can read the secrets; use chmod 600');

    await new Promise<void>((resolve, reject) => {
      const stopListening = onEnd(() => {
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
  const { providerKeys, mail, databaseUrl, redisUrl, metricsToken, s3 } = configuration;
  const passwords = [databaseUrl, redisUrl].map((url) =>
    url === undefined ? undefined : new URL(url).password,
  );
  return [
    ...Object.values(secrets),
    ...providerKeys.values(),
    ...[mail?.password, databaseUrl, redisUrl, metricsToken, s3?.secretAccessKey, ...passwords].filter(
      (value) => value !== undefined,
    ),
  ];
}
