import type { RunningServer } from './server.ts';

/** What the start has taken. */
export interface StartFigures {
  /** Since the process began. */
  readonly readyMs: number;
  readonly memoryMiB: number;
}

/** The first lines a person sees. */
export function bannerOf(
  server: RunningServer,
  version: string,
  { readyMs, memoryMiB }: StartFigures,
): string {
  const lines = [
    `Questline ${version} listens on ${server.url}`,
    '',
    `  Console        ${server.url}/`,
    `  API reference  ${server.url}/api/v1/docs`,
    `  Everything is kept in ${server.place}`,
    `  Ready after ${(readyMs / 1000).toFixed(1)} s, with ${memoryMiB} MiB of memory`,
    '',
  ];
  if (server.demo !== undefined) {
    const { email, key, balance, model } = server.demo;
    const offline = ' from an offline model; with OPENAI_API_KEY set, from a real one';
    lines.push(
      `  This is a demo: one account with ${balance} credits, and an API key that every start replaces:`,
      '',
      `    ${key}`,
      '',
      `  Stream an answer${model.startsWith('demo-') ? offline : ` from ${model}`}:`,
      '',
      curlLine(server.url, key, model),
      '',
      `  To use the console, sign in as ${email}; the code is shown here.`,
      '',
    );
  }
  lines.push('  Ctrl+C stops it.', '');
  return `${lines.join('\n')}\n`;
}

/** One line, to be pasted into a POSIX shell. */
function curlLine(url: string, key: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'What can you do?' }] });
  return `curl -N ${url}/api/ai/v1/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
}
