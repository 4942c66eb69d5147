import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '@questline/testing';
import { expect } from 'vitest';

/** A client that sends requests to the server at `url` and records the IDs of the answers. */
export type Client = (url: string, ids: Set<string>) => Promise<void>;

export function createClient(key: string, random: Random): Client {
  const post = async (address: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(address, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const { id, quest_id, error } = (await answer.json()) as {
      id?: string;
      quest_id?: string;
      error?: string;
    };
    const known = id ?? quest_id;
    if (known === undefined) throw new Error(`${answer.status} ${error}`);
    return known;
  };

  return async (url, ids) => {
    const start = async (path: string, body: object, headers?: Record<string, string>): Promise<string> => {
      const id = await post(url + path, body, headers);
      ids.add(id);
      return id;
    };
    const chat = (body: object, headers?: Record<string, string>): Promise<string> =>
      start('/api/chat', { message: 'Hi', ...body }, headers);
    const newSession = (): Promise<string> => post(`${url}/api/v1/sessions`, { name: 'Work' });
    const run = async (message: string): Promise<string> =>
      start('/api/v1/agent-executions', { session_id: await newSession(), message });
    const picture = { model: 'painter', prompt: 'A red panda' };

    switch (random.below(14)) {
      case 0:
        return void (await chat({ wait: true }));
      case 1:
        return void (await chat({ message: 'roll', enableTools: true }));
      case 2:
        return void (await chat({ model: 'flaky' }));
      case 3: {
        const headers = { 'Idempotency-Key': String(random.below(1e9)) };
        const [one, two] = await Promise.all([chat({}, headers), chat({}, headers)]);
        expect(one).toBe(two);
        return;
      }
      case 4: {
        const id = await chat({});
        await sleep(random.below(200));
        await post(`${url}/api/v1/quests/${id}/cancel`, {});
        return;
      }
      case 5:
        return void (await run('Hi'));
      case 6:
        return void (await run('roll'));
      case 7: {
        const id = await run('roll');
        await sleep(random.below(200));
        await post(`${url}/api/v1/agent-executions/${id}/cancel`, {});
        return;
      }
      case 8:
        return void (await start('/api/v1/image-generations', { ...picture, n: 1 + random.below(3) }));
      case 9: {
        // Half of the requests name a file that does not exist: the quest reports it.
        const image = random.chance(0.5) ? 'f'.repeat(24) : 'https://example.com/panda.png';
        const edit = { ...picture, sessionId: await newSession(), image };
        return void (await start('/api/v1/image-edits', edit));
      }
      case 10:
        return void (await chat({ message: 'divide', enableQuestMaster: true }));
      case 11:
      case 12:
        return void (await chat({ message: `remember ${getWord(random)}`, enableMementos: true }));
      default:
        return void (await chat({}));
    }
  };
}

/** Five letters and digits: mementos are compared by similarity, so two words must rarely be equal. */
function getWord(random: Random): string {
  return (36 ** 4 + random.below(35 * 36 ** 4)).toString(36);
}
