import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

export interface LogReading {
  readonly lines: number;
  /** Position of a secret, without its text. */
  readonly leaks: string[];
  /** Lines of level error and above. */
  readonly errors: string[];
  /** Responses with status 5xx. */
  readonly faults: number;
}

/**
 * Long secrets are searched anywhere; codes only as whole words, because IDs may contain the same six digits.
 */
const LONG = 16;

/** Reads the complete log of a server. */
export async function readLog(path: string, secrets: ReadonlySet<string>): Promise<LogReading> {
  const long = new Map<string, string[]>();
  const codes = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < LONG) codes.add(secret);
    else long.set(secret.slice(0, LONG), [...(long.get(secret.slice(0, LONG)) ?? []), secret]);
  }
  const hasSecret = (line: string): boolean => {
    for (let at = 0; at + LONG <= line.length; at += 1) {
      const known = long.get(line.slice(at, at + LONG));
      if (known?.some((secret) => line.startsWith(secret, at))) return true;
    }
    return line.match(/(?<!\w)\d{6}(?!\w)/g)?.some((digits) => codes.has(digits)) ?? false;
  };

  const reading = { lines: 0, leaks: [] as string[], errors: [] as string[], faults: 0 };
  for await (const line of createInterface({ input: createReadStream(path) })) {
    reading.lines += 1;
    if (hasSecret(line)) reading.leaks.push(`line ${reading.lines}: ${line.slice(0, 30)}`);
    if (/"level":"(?:error|fatal)"/.test(line) || !line.startsWith('{'))
      reading.errors.push(line.slice(0, 400));
    if (/"status":5\d\d/.test(line)) reading.faults += 1;
  }
  return reading;
}
