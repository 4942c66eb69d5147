import { describe, expect, it, vi } from 'vitest';
import { emptyFolder, questline, type Running, startLines } from './command.ts';
import { signUp } from './newcomer.ts';

// Starts processes, and waits for a lease of a minute to expire.
vi.setConfig({ testTimeout: 600_000 });

const QUESTS = 24;
/**
 * The offline model takes about two seconds for this text; a tenth of it is enough time for SIGTERM on a busy
 * machine.
 */
const WORDS = 200;
const START = ['start', '--demo', '--port', '0'];

/** A user of a server. */
interface Client {
  readonly url: string;
  readonly token: string;
}

interface Quest {
  readonly id: string;
  readonly status: string;
  readonly type: string;
  readonly reply: string | null;
}

interface Usage {
  readonly credits: { readonly balance: number; readonly reserved: number };
  readonly recent: readonly {
    readonly operation: string;
    readonly status: string;
    readonly credits: number;
  }[];
}

/** A server with running and waiting work. */
async function underWay(cwd: string, words: number, isTime: (quests: readonly Quest[]) => boolean) {
  const running = questline(START, { cwd });
  const { url } = await startLines(running);
  // Not the printed key: it changes at every start, and has a lower rate limit.
  const { accessToken: token = '' } = await signUp(running, url, 'demo@example.com');
  const client = { url, token };
  const accepted = await Promise.all(Array.from({ length: QUESTS }, () => ask(client, words)));
  const ids = accepted.map(({ id }) => id);
  await expect
    .poll(async () => isTime(await getQuests(client, ids)), { timeout: 120_000, interval: 100 })
    .toBe(true);
  return { running, ids, token };
}

describe('questline start, restarted on the same folder', () => {
  it('finishes accepted and running work completely after SIGTERM and charges once for each', async () => {
    const cwd = emptyFolder();
    const { running, ids, token } = await underWay(cwd, WORDS / 10, someRun);
    running.signal('SIGTERM');
    expect(await running.ended).toEqual({ code: 0, signal: null });
    const { quests, usage } = await finished(cwd, ids, token);
    for (const quest of quests) {
      expect(quest).toMatchObject({ status: 'done', type: 'message' });
      expect(quest.reply?.match(/word/g)?.length).toBeGreaterThanOrEqual(WORDS / 10);
    }
    expect(settled(usage)).toHaveLength(QUESTS);
    expectConserved(usage);
  });

  it('finishes all work after kill -9 at any moment and charges nothing twice', async () => {
    const moments: readonly (readonly [string, (quests: readonly Quest[]) => boolean])[] = [
      ['as soon as it was accepted', () => true],
      ['while some of it runs', someRun],
      ['when some of it is done', (quests) => quests.some(({ status }) => status === 'done')],
    ];
    // In parallel, because most of the time is spent waiting for leases.
    await Promise.all(
      moments.map(async ([moment, isTime]) => {
        const cwd = emptyFolder();
        const { running, ids, token } = await underWay(cwd, WORDS, isTime);
        await kill(running);
        const { quests, usage } = await finished(cwd, ids, token);
        const whole = quests.filter(({ reply }) => (reply?.match(/word/g)?.length ?? 0) >= WORDS).length;
        console.log(`killed ${moment}: ${whole} of ${QUESTS} answers whole, 0 lost`);
        expect(quests.map(({ status }) => status)).toEqual(ids.map(() => 'done'));
        expect(settled(usage).length).toBeLessThanOrEqual(QUESTS);
        expectConserved(usage);
      }),
    );
  });
});

/** Also accepts a quest that has ended when the poll is late. */
function someRun(quests: readonly Quest[]): boolean {
  return quests.some(({ status, reply }) => status !== 'pending' && reply !== null);
}

/** Restarts, and waits until every quest has ended. */
async function finished(cwd: string, ids: readonly string[], token: string) {
  const { url } = await startLines(questline(START, { cwd }));
  const client = { url, token };
  const open = async () => {
    const quests = await getQuests(client, ids);
    return quests.filter(({ status }) => status !== 'done' && status !== 'stopped').length;
  };
  await expect.poll(open, { timeout: 300_000, interval: 500 }).toBe(0);
  // The charge follows the answer.
  const reserved = async () => (await get<Usage>(client, '/api/v1/usage')).credits.reserved;
  await expect.poll(reserved, { timeout: 120_000, interval: 500 }).toBe(0);
  return { quests: await getQuests(client, ids), usage: await get<Usage>(client, '/api/v1/usage') };
}

function settled({ recent }: Usage) {
  return recent.filter(({ operation, status }) => operation === 'sendChatMessage' && status === 'settled');
}

/** The missing credits equal the charges. */
function expectConserved({ credits, recent }: Usage): void {
  const charged = recent.reduce((sum, one) => sum + one.credits, 0);
  expect(1000 - credits.balance).toBeCloseTo(charged, 6);
  expect(charged).toBeGreaterThan(0);
}

async function kill(running: Running): Promise<void> {
  running.signal('SIGKILL');
  expect((await running.ended).signal).toBe('SIGKILL');
}

async function ask({ url, token }: Client, words: number): Promise<Quest> {
  const answer = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      message: 'word '.repeat(words).trim(),
      model: 'demo-echo',
      newConversation: true,
    }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Quest;
}

function getQuests(client: Client, ids: readonly string[]): Promise<Quest[]> {
  return Promise.all(ids.map((id) => get<Quest>(client, `/api/v1/quests/${id}`)));
}

async function get<T>({ url, token }: Client, path: string): Promise<T> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
}
