import type { RunningServer } from './server.ts';

/** The cost of the start. */
export interface StartFigures {
  /** Time since the process began. */
  readonly readyMs: number;
  readonly memoryMiB: number;
}

/** The lines printed after the start. */
export function formatBanner(
  server: RunningServer,
  version: string,
  { readyMs, memoryMiB }: StartFigures,
): string {
  const lines = [
    `Questline ${version} listens on ${server.url}`,
    '',
    `  Console        ${server.url}/`,
    `  API reference  ${server.url}/api/v1/docs`,
    `  OpenAI API     ${server.url}/openai/v1`,
    `  Anthropic API  ${server.url}/anthropic`,
    `  MCP server     ${server.url}/mcp`,
    `  Data           ${server.place}`,
    `  Ready after ${(readyMs / 1000).toFixed(1)} s, using ${memoryMiB} MiB of memory`,
    '',
  ];
  if (server.setupCode !== undefined) {
    lines.push(
      '  There is no account yet. The first account becomes the administrator and needs this setup code:',
      '',
      `    ${server.setupCode}`,
      '',
    );
  }
  if (server.chatModels === 0) {
    lines.push(
      '  There are 0 chat models, because no provider has a key. Set ANTHROPIC_API_KEY, OPENAI_API_KEY,',
      '  GEMINI_API_KEY or XAI_API_KEY, or OPENAI_BASE_URL with OPENAI_MODELS, and start again.',
      '',
    );
  }
  if (server.demo !== undefined) {
    const { email, key, balance, model } = server.demo;
    const offline = ' from an offline demo model (set OPENAI_API_KEY to use a real one)';
    lines.push(
      `  Demo mode: one account with ${balance} credits, and an API key that each start replaces:`,
      '',
      `    ${key}`,
      '',
      `  Stream an answer${model.startsWith('demo-') ? offline : ` from ${model}`}:`,
      '',
      curlLine(server.url, key, model),
      '',
      '  Use any client of the OpenAI API:',
      '',
      `    export OPENAI_BASE_URL=${server.url}/openai/v1`,
      `    export OPENAI_API_KEY=${key}`,
      '',
      '  Use any client of the Anthropic API:',
      '',
      `    export ANTHROPIC_BASE_URL=${server.url}/anthropic`,
      `    export ANTHROPIC_AUTH_TOKEN=${key}`,
      '',
      '  Use any MCP client, such as Claude Code:',
      '',
      `    claude mcp add --transport http questline ${server.url}/mcp --header "Authorization: Bearer ${key}"`,
      '',
      `  To use the console, sign in as ${email}; the code is printed here.`,
      '',
    );
  }
  lines.push('  Press Ctrl+C to stop.', '');
  return `${lines.join('\n')}\n`;
}

/** One line, ready to paste into a POSIX shell. */
function curlLine(url: string, key: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'What can you do?' }] });
  return `curl -N ${url}/api/ai/v1/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
}
