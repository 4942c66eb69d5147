import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { AnyRecord } from '../../operations/personal-data.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import { TOOL_CREDENTIALS, type ToolCredentialRecord } from './credential-records.ts';
import { personalTools } from './personal.ts';

const CREDENTIAL = {
  id: 'c1',
  userId: 'ada',
  serverId: 'tracker',
} as Partial<ToolCredentialRecord> as ToolCredentialRecord;

async function eraseWith(toolRegistry: Partial<ToolRegistry>): Promise<readonly string[]> {
  const store = createMemoryStore();
  const credentials = store.collection(TOOL_CREDENTIALS);
  await credentials.insert(CREDENTIAL);
  await credentials.insert({ ...CREDENTIAL, id: 'c2', userId: 'bob' });
  const services = { store: delayed(store), toolRegistry: toolRegistry as ToolRegistry };
  const [own] = personalTools(services).erase ?? [];
  expect(own?.shape).toBe(TOOL_CREDENTIALS);
  await own?.erase({ ...CREDENTIAL } as AnyRecord, 'ada');
  return (await credentials.find({})).map(({ id }) => id);
}

it('revokes the token of a server before it is deleted', async () => {
  const acts: string[] = [];
  const disconnect: ToolRegistry['disconnect'] = async (userId, serverId) => {
    await new Promise(setImmediate);
    acts.push(`${userId} ${serverId}`);
  };
  expect(await eraseWith({ disconnect })).toEqual(['c2']);
  expect(acts).toEqual(['ada tracker']);
});

it('keeps the token that could not be revoked, for the next try', async () => {
  const disconnect = async () => {
    throw new Error('unreachable');
  };
  await expect(eraseWith({ disconnect })).rejects.toThrow('unreachable');
});

it('deletes the token where the registry cannot revoke', async () => {
  expect(await eraseWith({})).toEqual(['c2']);
});
