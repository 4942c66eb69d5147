/** Something the person at the command line can put right: shown as plain lines, never with a stack. */
export class Mistake extends Error {
  override readonly name = 'Mistake';
  readonly faults: readonly string[];
  /** What the process ends with: 1 for a setting, 2 for the command line itself. */
  readonly exitCode: 1 | 2;

  constructor(faults: readonly string[], exitCode: 1 | 2 = 1) {
    super(faults.join('\n'));
    this.faults = faults;
    this.exitCode = exitCode;
  }
}
