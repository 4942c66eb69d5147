import { createLog, findSecrets, readConfiguration, startServer } from '@questline/server';

/*
 * The self-hosted server on SQLite and a folder, as it is deployed. It sends its address and its mails to the
 * parent.
 */

const configuration = readConfiguration(process.env);
const secrets = findSecrets(configuration.storageDir, configuration.secrets);
const log = createLog({ secrets: Object.values(secrets.values), destination: process.stdout });
const server = await startServer({
  configuration,
  secrets,
  log,
  demo: true,
  host: '127.0.0.1',
  print: (text) => process.send?.({ print: text }),
});
process.once('disconnect', () => process.exit(1));
process.send?.({ url: server.url, email: server.demo?.email });
