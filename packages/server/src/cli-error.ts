/** An error that the user of the command line can fix: printed as plain lines, without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly issues: readonly string[];
  /** The exit code: 1 for a setting, 2 for the command line itself. */
  readonly exitCode: 1 | 2;

  constructor(issues: readonly string[], exitCode: 1 | 2 = 1) {
    super(issues.join('\n'));
    this.issues = issues;
    this.exitCode = exitCode;
  }
}
