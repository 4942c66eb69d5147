import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { run } from '../src/cli/run.ts';
import { emptyFolder, outcome, questline, startLines } from './command.ts';
import { signUp, statusFor } from './newcomer.ts';

// Every test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';

/** The JSON output of a command. */
async function asJson<T>(cwd: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await outcome([...args, '--json'], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^[^\n]+\n$/);
  return JSON.parse(stdout) as T;
}

/** Runs the command in this process. */
async function runHere(args: readonly string[], folder: string) {
  const reported = { stdout: '', stderr: '' };
  const code = await run(args, {
    environment: {},
    folder,
    print: (text) => {
      reported.stdout += text;
    },
    complain: (text) => {
      reported.stderr += text;
    },
    onShutdownSignal: () => () => undefined,
  });
  return { code, ...reported };
}

/** A running server detects the change within two seconds; waits for it also on a busy machine. */
async function untilRefused(url: string, credential: string): Promise<void> {
  const refused = { timeout: 120_000, interval: 50 };
  await expect.poll(() => statusFor(url, credential), refused).toBe(401);
}

describe('administration commands on a running workspace', () => {
  it('creates API keys, shows each once, lists them without secrets and revokes them', async () => {
    const cwd = emptyFolder();
    const running = questline(['start', '--port', '0'], { cwd });
    const { url } = await startLines(running);
    await signUp(running, url, ADA);

    const made = await outcome(['keys', 'create', ADA, '--scopes', 'me:read,ai:chat', '--name', 'ci'], {
      cwd,
    });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const [key = '', reported] = made.stdout.split('\n');
    expect(key).toMatch(/^svc_live_[0-9A-Za-z]{43}$/);
    expect(reported).toMatch(/^Key [0-9a-f]{24} of ada@example\.com\. It is not shown again\.$/);
    expect(await statusFor(url, key)).toBe(200);

    interface Keys {
      readonly keys: readonly { readonly id: string; readonly status: string; readonly scopes: string[] }[];
    }
    const { keys } = await asJson<Keys>(cwd, 'keys', 'list', '--user', ADA);
    expect(keys).toMatchObject([{ name: 'ci', user: ADA, status: 'active', scopes: ['me:read', 'ai:chat'] }]);
    const table = await outcome(['keys', 'list'], { cwd });
    expect(table.stdout).toMatch(/^ID +PREFIX +OWNER +NAME[^\n]+\n[0-9a-f]{24} +svc_live_\w{7} +ada@/);
    for (const text of [JSON.stringify(keys), table.stdout]) expect(text).not.toContain(key.slice(0, 20));

    const [{ id } = { id: '' }] = keys;
    expect(await outcome(['keys', 'revoke', id], { cwd })).toMatchObject({ code: 0 });
    await untilRefused(url, key);
    expect((await asJson<Keys>(cwd, 'keys', 'list')).keys).toEqual([]);
    expect((await asJson<Keys>(cwd, 'keys', 'list', '--all')).keys).toMatchObject([
      { id, status: 'disabled' },
    ]);
  });

  it('lists, invites, bans, unbans and promotes accounts', async () => {
    const cwd = emptyFolder();
    const running = questline(['start', '--port', '0'], { cwd });
    const { url } = await startLines(running);
    const { accessToken: ada } = await signUp(running, url, ADA);
    expect((await signUp(running, url, 'x@example.com')).error?.code).toBe('REGISTRATION_CLOSED');

    interface Invites {
      readonly invites: readonly { readonly id: string; readonly code: string; readonly usesLeft: number }[];
    }
    const made = await asJson<Invites>(cwd, 'invites', 'create', '--count', '2', '--credits', '5');
    const [first, second] = made.invites;
    // The server can show invites that the command created.
    const codes = made.invites.map(({ code }) => code);
    expect((await asJson<Invites>(cwd, 'invites', 'list')).invites.map(({ code }) => code)).toEqual(codes);
    const shown = await fetch(`${url}/api/reg-invites`, { headers: { Authorization: `Bearer ${ada}` } });
    const { invites } = (await shown.json()) as Invites;
    expect(invites.map(({ code }) => code).sort()).toEqual([...codes].sort());
    // The name contains control characters that would clear the screen and reverse text.
    const bob = await signUp(running, url, BOB, {
      username: 'bob\u001b[2J\nroot\u202e',
      inviteCode: first?.code ?? '',
    });
    expect(bob.user?.isAdmin).toBe(false);
    const listed = await asJson<Invites>(cwd, 'invites', 'list');
    expect(listed.invites.map(({ usesLeft }) => usesLeft)).toEqual([0, 1]);
    expect((await outcome(['invites', 'delete', second?.id ?? ''], { cwd })).code).toBe(0);
    expect((await asJson<Invites>(cwd, 'invites', 'list')).invites).toHaveLength(1);

    const token = bob.accessToken ?? '';
    expect(await statusFor(url, token)).toBe(200);
    expect((await outcome(['users', 'disable', BOB], { cwd })).stdout).toBe('bob@example.com is disabled.\n');
    await untilRefused(url, token);
    await asJson(cwd, 'users', 'enable', BOB.toUpperCase());
    // Tokens from before stay invalid.
    expect(await statusFor(url, token)).toBe(401);
    await asJson(cwd, 'users', 'promote', bob.user?._id ?? '');
    const { users } = await asJson<{ users: object[] }>(cwd, 'users', 'list');
    expect(users).toMatchObject([
      { email: ADA, isAdmin: true, disabled: false },
      { email: BOB, isAdmin: true, disabled: false },
    ]);
    expect((await outcome(['users', 'list'], { cwd })).stdout).toMatch(
      /bob@example\.com +bob\ufffd\[2J\ufffdroot\ufffd +admin +active/,
    );
  });

  it('grants credits once per key, revokes and shows them', async () => {
    const cwd = emptyFolder();
    const running = questline(['start', '--port', '0'], { cwd });
    const { url } = await startLines(running);
    await signUp(running, url, ADA);
    const grant = (...more: string[]) => asJson<object>(cwd, 'credits', 'grant', ADA, ...more);
    expect(await grant('12.5', '--key', 'june')).toMatchObject({ granted: true, balance: 12.5 });
    expect(await grant('12.5', '--key', 'june')).toMatchObject({ granted: false, balance: 12.5 });
    expect(await grant('2', '--take')).toMatchObject({ granted: true, balance: 10.5 });
    expect((await outcome(['credits', 'balance', ADA], { cwd })).stdout).toBe(
      'ada@example.com can spend 10.5 credits; 0 are reserved.\n',
    );
  });
});

describe('administration command errors are one line and change nothing', () => {
  it('reports a missing workspace', async () => {
    const cwd = emptyFolder();
    for (const args of [
      ['users', 'list'],
      ['keys', 'create', ADA, '--preset', 'full'],
      ['credits', 'grant', ADA, '1'],
    ]) {
      const { code, stdout, stderr } = await outcome(args, { cwd });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(
        /^questline: STORAGE_DIR: .*questline\.db does not exist; run questline start .*\n$/,
      );
      expect(readdirSync(cwd)).toEqual([]);
    }
  });

  it('rejects another encryption key, which could not decrypt codes and would encrypt new ones differently', async () => {
    const cwd = emptyFolder();
    const running = questline(['start', '--port', '0'], { cwd });
    await startLines(running);
    const env = { SECRET_ENCRYPTION_KEY: 'c'.repeat(64) };
    const { code, stdout, stderr } = await outcome(['invites', 'create'], { cwd, env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^questline: SECRET_ENCRYPTION_KEY: differs from the key that this data was created with.*\n$/,
    );
    expect((await asJson<{ invites: object[] }>(cwd, 'invites', 'list')).invites).toEqual([]);
  });

  it('reports invalid arguments', async () => {
    const cwd = emptyFolder();
    const running = questline(['start', '--port', '0'], { cwd });
    const { url } = await startLines(running);
    await signUp(running, url, ADA);
    const cases: readonly (readonly [string[], number, RegExp])[] = [
      [['users', 'disable', 'unknown@example.com'], 1, /there is no account unknown@example\.com/],
      [['keys', 'revoke', 'abc'], 1, /there is no key abc/],
      [['invites', 'delete', 'abc'], 1, /there is no invite abc/],
      [['keys', 'create', ADA], 2, /missing scopes/],
      [['keys', 'create', ADA, '--preset', 'most'], 2, /--preset: expected one of read, readwrite, full/],
      [['keys', 'create', ADA, '--scopes', 'ai:chat,ai:fly'], 2, /--scopes: unknown scope ai:fly/],
      [['keys', 'create', ADA, '--scopes', 'embed:chat,me:read'], 2, /must be a key's only scope/],
      [['keys', 'create', ADA, '--scopes', 'qa:ingest'], 1, /qa:ingest cannot be given/],
      [
        ['keys', 'create', ADA, '--preset', 'read', '--expires', '2001-01-01'],
        2,
        /--expires: expected a time/,
      ],
      [['keys', 'create', '--preset', 'read'], 2, /keys create: missing argument EMAIL/],
      [['credits', 'grant', ADA, 'many'], 2, /CREDITS: expected a number above 0/],
      [['credits', 'grant', ADA, '0.0000001'], 2, /CREDITS: expected a number above 0/],
      [
        ['invites', 'create', '--count', '501'],
        2,
        /--count: expected a whole number from 1 to 500, got '501'/,
      ],
      [['users', 'list', 'now'], 2, /questline users list: unexpected argument 'now'/],
      [['users', 'promot', ADA], 2, /unknown command 'users promot'; known commands: users list, /],
    ];
    for (const [args, code, stderr] of cases) {
      const reported = await runHere(args, cwd);
      expect({ args, ...reported }).toEqual({
        args,
        code,
        stdout: '',
        stderr: expect.stringMatching(stderr),
      });
      expect(reported.stderr).toMatch(/^questline: [^\n]+\n$/);
    }
    expect(existsSync(join(cwd, 'data', 'demo.db'))).toBe(false);
  });
});
