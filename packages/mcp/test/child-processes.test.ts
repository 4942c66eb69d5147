import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../src/connection.ts';
import { createMcpTools, type McpTools, type McpToolsOptions } from '../src/index.ts';

const SCOPE = { userId: 'u', sessionId: 's', payer: { account: 'user:u', userId: 'u' } };
const CHILD = {
  id: 'child',
  command: process.execPath,
  args: [fileURLToPath(new URL('./child.mjs', import.meta.url))],
};

afterEach(() => {
  vi.unstubAllEnvs();
});

function create(more: object = {}): McpTools {
  const servers: McpToolsOptions['servers'] = [{ ...CHILD, ...more }];
  const tools = createMcpTools({ servers });
  onTestFinished(() => tools.close());
  return tools;
}

const run = async (tools: McpTools, name: string) => {
  const { signal } = new AbortController();
  const context = { ...SCOPE, callKey: 'k', requestId: 'r', signal };
  return (await tools.run({ tool: `child__${name}`, input: {} }, context)).content;
};

describe('a tool server in a child process', () => {
  it('has the folder and the variables of its options, and no others of the host', async () => {
    vi.stubEnv('SECRET_OF_HOST', 'secret');
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'questline-tools-')));
    onTestFinished(() => rm(folder, { recursive: true }));
    const tools = create({ env: { GIVEN: 'yes' }, cwd: folder });
    expect(JSON.parse(await run(tools, 'where'))).toEqual({ cwd: folder, given: 'yes' });
    expect(JSON.parse(await run(create(), 'where'))).toEqual({ cwd: process.cwd() });
  });

  it('is started again when it is needed after its end', async () => {
    const tools = create();
    const ownOf = async () => (await tools.list(SCOPE)).map(({ id }) => id).find((id) => id.includes('own_'));
    const first = await ownOf();
    expect(first).toBe(`child__own_${await run(tools, 'pid')}`);
    expect(await run(tools, 'leave')).toBe('bye');
    await vi.waitFor(async () => expect(await ownOf()).not.toBe(first), { timeout: 60_000 });
    expect(await ownOf()).toBe(`child__own_${await run(tools, 'pid')}`);
  });

  it('has ended when its connection is closed', async () => {
    const times = { connectTimeoutMs: 60_000, callTimeoutMs: 60_000, now: () => 0 };
    const credential = { headers: {}, authorization: undefined };
    const connection = await connect(CHILD, credential, times, () => undefined);
    const { content } = await connection.client.callTool({ name: 'pid', arguments: {} });
    const pid = Number((content[0] as { text: string }).text);
    expect([connection.isOpen, process.kill(pid, 0)]).toEqual([true, true]);
    const closing = connection.close();
    expect(connection.isOpen).toBe(false);
    await closing;
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
