import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { CliError } from './cli-error.ts';
import { findHexIssue } from './environment/fields.ts';
import { equalSecrets } from './environment/rules.ts';
import { SECRETS, type SecretName } from './environment/variables.ts';
import { checkFolder, getCode, makeFolder } from './storage/folder.ts';

export type Secrets = Readonly<Record<SecretName, string>>;

/** The three secrets: from the environment, from the file of an earlier start, or new. */
export interface SecretsFile {
  readonly path: string;
  readonly values: Secrets;
  /** Newly created secrets; not stored until `save`. */
  readonly made: readonly SecretName[];
  /** Whether other users can read the file. */
  readonly exposed: boolean;
  /** Stores new secrets, readable by the owner only. Does nothing without new secrets. */
  save(): void;
}

const FILE = 'secrets.env';

/**
 * Finds the secrets, and creates those that are missing from both environment and folder. Writes nothing.
 * @throws CliError that names the variable when the file is invalid or the folder cannot be used.
 */
export function findSecrets(
  folder: string,
  given: Readonly<Partial<Record<SecretName, string>>>,
): SecretsFile {
  checkFolder(folder);
  const path = join(folder, FILE);
  const kept = readKept(path);
  const values = {} as Record<SecretName, string>;
  const made: SecretName[] = [];
  const issues: string[] = [];
  for (const name of SECRETS) {
    const value = given[name] ?? kept?.[name]?.trim().toLowerCase();
    const issue = value === undefined ? undefined : findHexIssue(value);
    if (issue !== undefined) issues.push(`${name}: ${issue} in ${path}`);
    if (value === undefined) made.push(name);
    values[name] = value ?? randomBytes(32).toString('hex');
  }
  issues.push(...equalSecrets(values));
  if (issues.length > 0) throw new CliError(issues);
  return {
    path,
    values,
    made,
    exposed: kept !== undefined && (statSync(path).mode & 0o077) !== 0,
    save: () => append(path, made, values, kept === undefined),
  };
}

/** Finds one existing secret. Creates and writes nothing. */
export function knownSecret(
  folder: string,
  given: Readonly<Partial<Record<SecretName, string>>>,
  name: SecretName,
): string | undefined {
  return given[name] ?? readKept(join(folder, FILE))?.[name]?.trim().toLowerCase();
}

function readKept(path: string): Readonly<Record<string, string | undefined>> | undefined {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    if (getCode(error) === 'ENOENT' || getCode(error) === 'ENOTDIR') return undefined;
    throw new CliError([`STORAGE_DIR: ${path} cannot be read (${getCode(error)})`]);
  }
}

function append(path: string, made: readonly SecretName[], values: Secrets, isNew: boolean): void {
  if (made.length === 0) return;
  const head =
    '# Created by the first start. Keep this file: without it, data encrypted with SECRET_ENCRYPTION_KEY is lost.\n';
  const lines = made.map((name) => `${name}=${values[name]}\n`).join('');
  try {
    makeFolder(dirname(path));
    // Exclusive creation: of two concurrent first starts, one creates the secrets and the other fails.
    const file = openSync(path, isNew ? 'wx' : 'a', 0o600);
    try {
      writeSync(file, isNew ? head + lines : `\n${lines}`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new CliError([`STORAGE_DIR: ${path} cannot be written (${getCode(error)})`]);
  }
}
