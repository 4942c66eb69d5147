export { CliError } from './cli-error.ts';
export type { Demo } from './demo.ts';
export {
  type Configuration,
  type MailConfiguration,
  type ProviderName,
  readConfiguration,
} from './environment/configuration.ts';
export { SECRETS, type SecretName } from './environment/variables.ts';
export { createLog, type Log } from './log.ts';
export { findSecrets, type Secrets, type SecretsFile } from './secrets.ts';
export { type RunningServer, type ServerOptions, startServer } from './server.ts';
