import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

export interface LogReading {
  readonly lines: number;
  /** Where a secret stands, without it. */
  readonly leaks: string[];
  /** Lines of errors and worse. */
  readonly errors: string[];
  /** Answers that were the server's fault. */
  readonly faults: number;
}

/** Long secrets are looked for at every place; short ones, the codes, where they stand alone: ids hold any six digits. */
const LONG = 16;

/** Reads everything a server has logged. */
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
