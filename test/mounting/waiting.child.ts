import {
  createApi,
  createDemoProvider,
  createServices,
  createUser,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { createMemoryPorts, createSystemClock } from '@questline/core/memory';
import { forgetUser } from '@questline/core/personal-data';
import type { ModelProvider } from '@questline/core/ports';

// Waits for a turn whose model pauses: only timers of the system clock are left.
const demo = createDemoProvider({ clock: createSystemClock(), pauseMs: 5 });
let announce = (): void => undefined;
const asked = new Promise<void>((resolve) => {
  announce = resolve;
});
const provider: ModelProvider = {
  ...demo,
  generate(request, options) {
    announce();
    return demo.generate(request, options);
  },
};
const services = createServices(
  { ...createMemoryPorts(), models: [provider] },
  { jwtSecret: 'a'.repeat(64), admin: { enforceCredits: false } },
);
const api = createApi(services);
const handle = toFetchHandler(api);
const user = await createUser(services, { email: 'ann@example.com', username: 'ann' });
if (user === undefined) throw new Error('the address is taken');
const { key } = await issueApiKey(services, { userId: user.id, name: 'first', scopes: ['ai:chat'] });
const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
async function ask(path: string, body?: object): Promise<{ id: string; status: string }> {
  const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
  const response = await handle(new Request(`http://localhost${path}`, init));
  return response?.json() as Promise<{ id: string; status: string }>;
}

const { id } = await ask('/api/chat', { message: 'Hello', newConversation: true });
await asked;
async function shutDown(): Promise<void> {
  await api.drain();
  console.log((await ask(`/api/v1/quests/${id}`)).status);
  await api.close();
  console.log('closed');
}
async function forget(userId: string): Promise<void> {
  console.log(await forgetUser(services, { userId }));
}
// Not awaited, like in the listener of a signal.
void (process.argv[2] === 'forget' ? forget(user.id) : shutDown());
