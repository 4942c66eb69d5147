import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { equalSecrets } from './environment/configuration.ts';
import { hexFault } from './environment/reader.ts';
import { SECRETS, type SecretName } from './environment/variables.ts';
import { Mistake } from './mistake.ts';
import { checkFolder, codeOf, makeFolder } from './storage/folder.ts';

export type Secrets = Readonly<Record<SecretName, string>>;

/** The three secrets, from the environment, from the file an earlier start left, or new. */
export interface SecretsFile {
  readonly path: string;
  readonly values: Secrets;
  /** Those made just now: nobody knows them before `save`. */
  readonly made: readonly SecretName[];
  /** The file can be read by others than its owner. */
  readonly exposed: boolean;
  /** Writes the new ones down, for the owner only. Nothing happens when none were made. */
  save(): void;
}

const FILE = 'secrets.env';

/**
 * Finds the secrets, and makes those that neither the environment nor the folder has. It writes nothing.
 * @throws Mistake naming the variable when the file holds something else, or the folder cannot be used.
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
  const faults: string[] = [];
  for (const name of SECRETS) {
    const value = given[name] ?? kept?.[name]?.trim().toLowerCase();
    const fault = value === undefined ? undefined : hexFault(value);
    if (fault !== undefined) faults.push(`${name}: ${fault} in ${path}`);
    if (value === undefined) made.push(name);
    values[name] = value ?? randomBytes(32).toString('hex');
  }
  faults.push(...equalSecrets(values));
  if (faults.length > 0) throw new Mistake(faults);
  return {
    path,
    values,
    made,
    exposed: kept !== undefined && (statSync(path).mode & 0o077) !== 0,
    save: () => append(path, made, values, kept === undefined),
  };
}

/** One of them, where it is known already. It makes and writes nothing. */
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
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw new Mistake([`STORAGE_DIR: ${path} cannot be read (${codeOf(error)})`]);
  }
}

function append(path: string, made: readonly SecretName[], values: Secrets, isNew: boolean): void {
  if (made.length === 0) return;
  const head =
    '# Made by the first start. Keep this file: what SECRET_ENCRYPTION_KEY has encrypted is lost without it.\n';
  const lines = made.map((name) => `${name}=${values[name]}\n`).join('');
  try {
    makeFolder(dirname(path));
    // Exclusive when new: of two starts at once, one makes the secrets and the other one stops.
    const file = openSync(path, isNew ? 'wx' : 'a', 0o600);
    try {
      writeSync(file, isNew ? head + lines : `\n${lines}`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new Mistake([`STORAGE_DIR: ${path} cannot be written (${codeOf(error)})`]);
  }
}
