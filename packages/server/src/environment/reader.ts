/** The environment, as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads variables by kind. What is wrong is collected, so that one look shows everything; values are only quoted where they are no secret. */
export interface Reader {
  readonly faults: string[];
  text(name: string): string | undefined;
  flag(name: string, fallback: boolean): boolean;
  whole(name: string, range: { min: number; max: number }, fallback: number): number;
  /** 64 hexadecimal characters, in lower case. */
  hex(name: string): string | undefined;
  /** Without a slash at its end. `secret`: it may hold a password, so it is not quoted. */
  url(name: string, about: { protocols: readonly string[]; secret: boolean }): string | undefined;
}

export function createReader(environment: Environment): Reader {
  const faults: string[] = [];
  const text = (name: string): string | undefined => environment[name]?.trim() || undefined;

  return {
    faults,
    text,

    flag(name, fallback) {
      const value = text(name)?.toLowerCase();
      if (value === undefined) return fallback;
      if (value === 'true' || value === '1') return true;
      if (value !== 'false' && value !== '0') faults.push(`${name}: expected true or false, got "${value}"`);
      return false;
    },

    whole(name, { min, max }, fallback) {
      const value = text(name);
      if (value === undefined) return fallback;
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      faults.push(`${name}: expected a whole number from ${min} to ${max}, got "${value}"`);
      return fallback;
    },

    hex(name) {
      const value = text(name);
      const fault = value === undefined ? undefined : hexFault(value);
      if (fault !== undefined) faults.push(`${name}: ${fault}`);
      return value?.toLowerCase();
    },

    url(name, { protocols, secret }) {
      const value = text(name);
      if (value === undefined) return undefined;
      const parsed = URL.canParse(value) ? new URL(value) : undefined;
      if (parsed !== undefined && protocols.includes(parsed.protocol) && parsed.hostname !== '') {
        return value.replace(/\/+$/, '');
      }
      const wanted = protocols.map((protocol) => `${protocol}//`).join(' or ');
      faults.push(`${name}: expected a URL that begins with ${wanted}${secret ? '' : `, got "${value}"`}`);
      return undefined;
    },
  };
}

/** What keeps a text from being a secret. Tells lengths, never characters. */
export function hexFault(value: string): string | undefined {
  if (/^[0-9a-f]{64}$/i.test(value)) return undefined;
  const got =
    value.length === 64
      ? 'other characters among them'
      : `${value.length} character${value.length === 1 ? '' : 's'}`;
  return `expected 64 hexadecimal characters (0-9, a-f), got ${got}`;
}
