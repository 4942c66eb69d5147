import * as z from 'zod';

/** The protocols of web addresses. */
export const WEB = ['http:', 'https:'];

/** What the help and the documentation say about a variable, beyond its schema. */
export interface About {
  readonly meaning: string;
  /** The default in words, where it is not a value of the schema. */
  readonly fallback?: string;
}

/** A rate limit. */
export interface RateCeiling {
  readonly limit: number;
  readonly per: 'minute' | 'hour';
}

type Issue = Readonly<{ input?: unknown }>;

/** Adds the rejected value, for variables that hold no secret. */
function expected(what: string): { error: (issue: Issue) => string } {
  return { error: ({ input }) => `expected ${what}, got "${String(input)}"` };
}

/** Any text. */
export function text(about: About) {
  return z
    .string()
    .optional()
    .meta({ ...about });
}

/** Text that a pattern restricts. @param what is expected. `secret`: the value is not quoted. */
export function matching(pattern: RegExp, what: string, about: About) {
  return z
    .string()
    .regex(pattern, `expected ${what}`)
    .optional()
    .meta({ ...about });
}

export function flag(fallback: boolean, about: About) {
  return z
    .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], ...expected('true or false') })
    .default(fallback)
    .meta({ ...about });
}

function wholeNumber(min: number, max: number) {
  const wanted = expected(`a whole number from ${min} to ${max}`);
  return z
    .string()
    .regex(/^\d{1,15}$/, wanted)
    .transform(Number)
    .pipe(z.number().min(min, wanted).max(max, wanted));
}

export function whole(range: { min: number; max: number; fallback: number }, about: About) {
  return wholeNumber(range.min, range.max)
    .default(range.fallback)
    .meta({ ...about });
}

export function optionalWhole(range: { min: number; max: number }, about: About) {
  return wholeNumber(range.min, range.max)
    .optional()
    .meta({ ...about });
}

export function choice<const Choice extends string>(choices: readonly Choice[], about: About) {
  return z
    .enum(choices, expected(choices.join(' or ')))
    .optional()
    .meta({ ...about });
}

/** Calls per minute or hour, such as `600/minute`. */
export function rate(fallback: RateCeiling, about: About) {
  const wanted = expected('a number from 1 to 1000000 per minute or hour, such as 600/minute');
  return z
    .string()
    .regex(/^(?:[1-9]\d{0,5}|1000000)\/(?:minute|hour)$/, wanted)
    .transform((value): RateCeiling => {
      const [limit, per] = value.split('/');
      return { limit: Number(limit), per: per === 'hour' ? 'hour' : 'minute' };
    })
    .default(fallback)
    .meta({ ...about });
}

/** 64 hexadecimal characters, in lower case. */
export function hex(about: About) {
  return z
    .string()
    .refine((value) => findHexIssue(value) === undefined, {
      error: ({ input }) => findHexIssue(String(input)),
    })
    .toLowerCase()
    .optional()
    .meta({ ...about });
}

/** Why a text is not a valid secret. Mentions its length, never its characters. */
export function findHexIssue(value: string): string | undefined {
  if (/^[0-9a-f]{64}$/i.test(value)) return undefined;
  const got =
    value.length === 64 ? 'other characters' : `${value.length} character${value.length === 1 ? '' : 's'}`;
  return `expected 64 hexadecimal characters (0-9, a-f), got ${got}`;
}

/** A URL without a trailing slash. @param about `secret`: it may contain a password and is not quoted. */
export function url(protocols: readonly string[], { secret, ...about }: About & { readonly secret?: true }) {
  const wanted = `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
  return z
    .string()
    .refine(
      (value) => isUrl(value, protocols),
      secret === true ? { error: `expected ${wanted}` } : expected(wanted),
    )
    .transform((value) => value.replace(/\/+$/, ''))
    .optional()
    .meta({ ...about });
}

function isUrl(value: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocols.includes(protocol) && hostname !== '';
}

/**
 * Text in a form of its own. @param read returns undefined for another form. @param what is expected. `secret`: it may contain
 * a password and is not quoted.
 */
export function parsed<T>(
  read: (value: string) => T | undefined,
  what: string,
  { secret, ...about }: About & { readonly secret?: true },
) {
  return z
    .string()
    .transform((value, context): T => {
      const result = read(value);
      if (result !== undefined) return result;
      const got = secret === true ? '' : `, got "${value}"`;
      context.issues.push({ code: 'custom', message: `expected ${what}${got}`, input: value });
      return z.NEVER;
    })
    .optional()
    .meta({ ...about });
}
