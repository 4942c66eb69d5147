import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
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
  /**
   * Stores new secrets, readable by the owner only. Does nothing without new secrets.
   * @throws SecretsCreated if another process has stored secrets since.
   */
  save(): void;
  /** @throws SecretsCreated if new secrets are not needed any more, because another process has stored them since. */
  checkNew(): void;
}

/** Another process has created the secrets at the same time: find them again. */
export class SecretsCreated extends Error {
  override readonly name = 'SecretsCreated';
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
    checkNew() {
      const now = made.length === 0 ? undefined : readKept(path);
      if (made.some((name) => now?.[name] !== undefined)) throw createdElsewhere(path);
    },
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
    if (isNew) create(path, head + lines);
    else write(path, 'a', `\n${lines}`);
  } catch (error) {
    // Of several concurrent first starts, one creates the secrets and the others use them.
    if (isNew && getCode(error) === 'EEXIST') throw createdElsewhere(path);
    throw new CliError([`STORAGE_DIR: ${path} cannot be written (${getCode(error)})`]);
  }
}

/** Exclusive, and complete from the moment it exists. */
function create(path: string, text: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  write(draft, 'wx', text);
  try {
    linkSync(draft, path);
  } catch (error) {
    if (getCode(error) === 'EEXIST') throw error;
    // A file system without hard links.
    copyFileSync(draft, path, constants.COPYFILE_EXCL);
  } finally {
    rmSync(draft);
  }
}

function write(path: string, flags: 'a' | 'wx', text: string): void {
  const file = openSync(path, flags, 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function createdElsewhere(path: string): SecretsCreated {
  return new SecretsCreated(`another process has created ${path}`);
}
