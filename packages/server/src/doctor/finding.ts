import { CliError } from '../cli-error.ts';

/** The result of one check. */
export interface Finding {
  /** The subject of the check: `database`. */
  readonly subject: string;
  readonly state: 'good' | 'warning' | 'wrong';
  /** The result in words; a failure names its variable. */
  readonly message: string;
  /** The suggested fix. */
  readonly advice?: string;
}

/** A check of several steps. It changes nothing. */
export type Check = () => Promise<readonly Finding[]>;

/** Converts the issues that would stop a start into findings. */
export async function findings(
  subject: string,
  check: () => Promise<string | Finding>,
  advice?: string,
): Promise<readonly Finding[]> {
  try {
    const found = await check();
    return [typeof found === 'string' ? { subject, state: 'good', message: found } : found];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return error.issues.map((message) => ({
      subject,
      state: 'wrong',
      message,
      ...(advice !== undefined && { advice }),
    }));
  }
}
