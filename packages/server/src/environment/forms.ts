import {
  MAX_NEWEST,
  type NewestSettings,
  RETENTION_KINDS,
  type RetentionSettings,
} from '@questline/core/internal';

/* The forms of variables that hold several values. Each reader returns undefined for another form. */

/** `list`, or distinct names separated by commas. */
export function readNames(value: string): 'list' | readonly string[] | undefined {
  if (value === 'list') return 'list';
  const names = splitList(value, ',');
  return names.includes('') || new Set(names).size < names.length ? undefined : names;
}

/** `INPUT/OUTPUT` in USD per million tokens. */
export function readPrices(value: string): { readonly input: number; readonly output: number } | undefined {
  const [, input, output] = /^(\d+(?:\.\d+)?)\s*\/\s*(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  return input === undefined || output === undefined
    ? undefined
    : { input: Number(input), output: Number(output) };
}

/** `MODEL=FALLBACK,FALLBACK`, several of them separated by semicolons. */
export function readFallbacks(value: string): Readonly<Record<string, readonly string[]>> | undefined {
  const fallbacks = new Map<string, readonly string[]>();
  for (const entry of splitList(value, ';')) {
    const [model = '', list = '', ...rest] = splitList(entry, '=');
    const names = splitList(list, ',');
    if (model === '' || rest.length > 0 || names.includes('') || fallbacks.has(model)) return undefined;
    if (names.includes(model) || new Set(names).size < names.length) return undefined;
    fallbacks.set(model, names);
  }
  return Object.fromEntries(fallbacks);
}

/** `NAME=URL`, several of them separated by spaces: databases by name. */
export function readShards(value: string): Readonly<Record<string, string>> | undefined {
  const shards = new Map<string, string>();
  for (const entry of value.split(/\s+/)) {
    const [, name = '', url = ''] = /^([a-z][a-z0-9_-]{0,30})=(postgres(?:ql)?:\/\/.+)$/.exec(entry) ?? [];
    if (name === '' || name === HOME_SHARD || shards.has(name) || !URL.canParse(url)) return undefined;
    shards.set(name, url);
  }
  return Object.fromEntries(shards);
}

/** `URL` or `NAME=URL`, several of them separated by spaces: replicas by the name of their database. */
export function readReplicas(value: string): Readonly<Record<string, readonly string[]>> | undefined {
  const replicas = new Map<string, readonly string[]>();
  for (const entry of value.split(/\s+/)) {
    const [, name = HOME_SHARD, url = ''] =
      /^(?:([a-z][a-z0-9_-]{0,30})=)?(postgres(?:ql)?:\/\/.+)$/.exec(entry) ?? [];
    if (!URL.canParse(url)) return undefined;
    replicas.set(name, [...(replicas.get(name) ?? []), url]);
  }
  return Object.fromEntries(replicas);
}

/** The database of DATABASE_URL, as a shard. */
export const HOME_SHARD = 'home';

/** `KIND=DAYS`, several of them separated by commas. */
export function readRetention(value: string): RetentionSettings | undefined {
  return readNumbers(value, RETENTION_KINDS, 36_500);
}

/** `KIND=NUMBER`, several of them separated by commas. */
export function readNewest(value: string): NewestSettings | undefined {
  return readNumbers(value, RETENTION_KINDS, MAX_NEWEST);
}

function readNumbers<K extends string>(
  value: string,
  kinds: readonly K[],
  max: number,
): Partial<Record<K, number>> | undefined {
  const numbers: Partial<Record<K, number>> = {};
  for (const entry of splitList(value, ',')) {
    const [, name, digits] = /^(\w+)\s*=\s*(\d{1,5})$/.exec(entry) ?? [];
    const kind = kinds.find((one) => one === name);
    const number = Number(digits);
    if (kind === undefined || numbers[kind] !== undefined || number < 1 || number > max) return undefined;
    numbers[kind] = number;
  }
  return numbers;
}

/** `*`, or origins separated by commas, as browsers send them. */
export function readOrigins(value: string): '*' | readonly string[] | undefined {
  if (value === '*') return '*';
  const origins = splitList(value, ',').map((origin) => origin.replace(/\/$/, ''));
  return origins.every(isOrigin) ? origins : undefined;
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

function splitList(value: string, separator: string): string[] {
  return value.split(separator).map((part) => part.trim());
}
