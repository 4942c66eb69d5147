import { spawn } from 'node:child_process';

/** Maximum time of a command. */
const TIMEOUT_MS = 180_000;

export interface ShellOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command line. @returns its output. @throws Error with its output if it fails. */
export async function shell(command: string, { cwd, env = process.env }: ShellOptions): Promise<string> {
  const child = spawn(command, {
    cwd,
    env,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`${command} ended with ${code}\n${output}`);
  return output;
}
