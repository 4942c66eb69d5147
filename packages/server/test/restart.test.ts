import { describe, expect, it, vi } from 'vitest';
import { emptyFolder, questline, type Running, startLines } from './command.ts';
import { signUp } from './newcomer.ts';

// Processes are started, and a lease of a minute must lapse.
vi.setConfig({ testTimeout: 600_000 });

const QUESTS = 24;
/** Takes the offline model about two seconds to say; a tenth of it, a moment that even a busy machine has at SIGTERM. */
const WORDS = 200;
const START = ['start', '--demo', '--port', '0'];

/** Somebody at a server. */
interface Desk {
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

/** A server with work on its hands: some of it running, the rest waiting. */
async function underWay(cwd: string, words: number, isTime: (quests: readonly Quest[]) => boolean) {
  const running = questline(START, { cwd });
  const { url } = await startLines(running);
  // Not the printed key: it is another one at every start, and may not look as often.
  const { accessToken: token = '' } = await signUp(running, url, 'demo@example.com');
  const desk = { url, token };
  const accepted = await Promise.all(Array.from({ length: QUESTS }, () => ask(desk, words)));
  const ids = accepted.map(({ id }) => id);
  await expect
    .poll(async () => isTime(await questsOf(desk, ids)), { timeout: 120_000, interval: 100 })
    .toBe(true);
  return { running, ids, token };
}

describe('questline start, restarted on the same folder', () => {
  it('finishes what was accepted and running at SIGTERM, whole, and charges once for each', async () => {
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

  it('brings everything to an end after kill -9, whenever that came, and charges nothing twice', async () => {
    const moments: readonly (readonly [string, (quests: readonly Quest[]) => boolean])[] = [
      ['as soon as it was accepted', () => true],
      ['while some of it runs', someRun],
      ['when some of it is done', (quests) => quests.some(({ status }) => status === 'done')],
    ];
    // Side by side: most of the time goes into waiting for leases.
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

/** Or ran already, for whoever looks late. */
function someRun(quests: readonly Quest[]): boolean {
  return quests.some(({ status, reply }) => status !== 'pending' && reply !== null);
}

/** Starts again, and waits until every quest has come to its end. */
async function finished(cwd: string, ids: readonly string[], token: string) {
  const { url } = await startLines(questline(START, { cwd }));
  const desk = { url, token };
  const open = async () => {
    const quests = await questsOf(desk, ids);
    return quests.filter(({ status }) => status !== 'done' && status !== 'stopped').length;
  };
  await expect.poll(open, { timeout: 300_000, interval: 500 }).toBe(0);
  // The money follows the answer.
  const reserved = async () => (await get<Usage>(desk, '/api/v1/usage')).credits.reserved;
  await expect.poll(reserved, { timeout: 120_000, interval: 500 }).toBe(0);
  return { quests: await questsOf(desk, ids), usage: await get<Usage>(desk, '/api/v1/usage') };
}

function settled({ recent }: Usage) {
  return recent.filter(({ operation, status }) => operation === 'sendChatMessage' && status === 'settled');
}

/** What is gone is what was charged. */
function expectConserved({ credits, recent }: Usage): void {
  const charged = recent.reduce((sum, one) => sum + one.credits, 0);
  expect(1000 - credits.balance).toBeCloseTo(charged, 6);
  expect(charged).toBeGreaterThan(0);
}

async function kill(running: Running): Promise<void> {
  running.signal('SIGKILL');
  expect((await running.ended).signal).toBe('SIGKILL');
}

async function ask({ url, token }: Desk, words: number): Promise<Quest> {
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

function questsOf(desk: Desk, ids: readonly string[]): Promise<Quest[]> {
  return Promise.all(ids.map((id) => get<Quest>(desk, `/api/v1/quests/${id}`)));
}

async function get<T>({ url, token }: Desk, path: string): Promise<T> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
}
