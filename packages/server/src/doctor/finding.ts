import { Mistake } from '../mistake.ts';

/** What one look has found. */
export interface Finding {
  /** What was looked at: `database`. */
  readonly subject: string;
  readonly state: 'good' | 'warning' | 'wrong';
  /** In words; what is wrong names its variable. */
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Something looked at in several steps, none of which changes anything. */
export type Look = () => Promise<readonly Finding[]>;

/** Turns what a start would stop at into findings. */
export async function findings(
  subject: string,
  look: () => Promise<string | Finding>,
  advice?: string,
): Promise<readonly Finding[]> {
  try {
    const found = await look();
    return [typeof found === 'string' ? { subject, state: 'good', message: found } : found];
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return error.faults.map((message) => ({
      subject,
      state: 'wrong',
      message,
      ...(advice !== undefined && { advice }),
    }));
  }
}
