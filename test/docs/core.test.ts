import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from './program.ts';

describe('packages/core/README.md', () => {
  it('shows a program that answers the example request', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../packages/core/README.md'), 'utf8');
    const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
    const [, body = ''] = /-d '([^']+)'/.exec(page) ?? [];
    const program = await runProgram(code);
    const [, key = ''] = /x-api-key: (\S+)/.exec(program.output()) ?? [];
    const response = await fetch(`${program.url}/api/ai/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body,
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('Hello');
  });
});
