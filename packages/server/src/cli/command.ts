import type { Argument, Given, Option } from './arguments.ts';

/** The parts of the process that a command may use. */
export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly print: (text: string) => void;
  /** Shows progress in place of the previous line; an empty line at the end. Absent: no terminal is attached. */
  readonly showProgress?: (line: string) => void;
  /** Calls back on SIGINT or SIGTERM. @returns a function that stops listening. */
  readonly onShutdownSignal: (listener: () => void) => () => void;
}

export interface Command {
  /** One word, or two: `keys create`. */
  readonly name: string;
  readonly summary: string;
  /** In order; all are required. */
  readonly arguments?: readonly Argument[];
  readonly options: readonly Option[];
  /** Additional help, printed below the options. */
  readonly notes: string;
  /** Resolves when the command is finished. @throws CliError */
  run(given: Given, surroundings: CommandContext): Promise<void>;
}
