import { HOME_SHARD, readReplicas, readShards } from './forms.ts';
import { SECRETS, type SecretName } from './variables.ts';

/** The variables that are set, trimmed. */
export type Given = Readonly<Record<string, string | undefined>>;

const OF_SERVER = [
  'OPENAI_PROTOCOL',
  'OPENAI_MODELS',
  'OPENAI_CONTEXT_WINDOW',
  'OPENAI_TOOLS',
  'OPENAI_PRICES',
  'OPENAI_MAX_TOKENS_PARAMETER',
];
const OF_BUCKET = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];
const MAIL_SIGN_IN = ['MAIL_USERNAME', 'MAIL_PASSWORD'];

/** The issues of variables that depend on each other. */
export function findConflicts(given: Given): string[] {
  return [
    ...equalSecrets(given),
    ...missingOf(given, MAIL_SIGN_IN, 'set both MAIL_USERNAME and MAIL_PASSWORD'),
    ...missingOf(given, OF_BUCKET, `set all of ${OF_BUCKET.join(', ')}`),
    ...serverIssues(given),
    ...databaseIssues(given),
  ];
}

function databaseIssues({
  DATABASE_URL: url,
  DATABASE_SHARDS: shards,
  DATABASE_REPLICAS: replicas,
}: Given): string[] {
  if (url === undefined) {
    return Object.entries({ DATABASE_SHARDS: shards, DATABASE_REPLICAS: replicas }).flatMap(
      ([name, value]) => (value === undefined ? [] : [`${name}: requires DATABASE_URL`]),
    );
  }
  const known = { [HOME_SHARD]: url, ...readShards(shards ?? '') };
  return Object.keys(readReplicas(replicas ?? '') ?? {})
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => `DATABASE_REPLICAS: ${name} is not in DATABASE_SHARDS`);
}

/** All variables of a group, or none of them. */
function missingOf(given: Given, names: readonly string[], advice: string): string[] {
  const missing = names.filter((name) => given[name] === undefined);
  return missing.length === names.length ? [] : missing.map((name) => `${name}: missing; ${advice}`);
}

function serverIssues(given: Given): string[] {
  if (given.OPENAI_BASE_URL === undefined) {
    return OF_SERVER.filter((name) => given[name] !== undefined).map(
      (name) => `${name}: requires OPENAI_BASE_URL`,
    );
  }
  return given.OPENAI_PROTOCOL === 'responses' && given.OPENAI_MODELS === 'list'
    ? ['OPENAI_MODELS: with OPENAI_PROTOCOL=responses, name the models']
    : [];
}

/** Secrets must differ: one that leaks must not reveal another. */
export function equalSecrets(secrets: Readonly<Partial<Record<SecretName, string | undefined>>>): string[] {
  const values = SECRETS.map((name) => secrets[name]?.toLowerCase());
  return SECRETS.flatMap((name, index) => {
    const twin = SECRETS.slice(0, index).find((_, other) => values[other] === values[index]);
    return values[index] === undefined || twin === undefined
      ? []
      : [`${name}: is the same as ${twin}; every secret must be different`];
  });
}
