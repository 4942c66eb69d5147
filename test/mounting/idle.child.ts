import {
  createApi,
  createDemoProvider,
  createServices,
  createUser,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';

// Answers one chat; then nothing keeps the process alive.
const ports = { ...createMemoryPorts(), models: [createDemoProvider()] };
const services = createServices(ports, { jwtSecret: 'a'.repeat(64), admin: { enforceCredits: false } });
const handle = toFetchHandler(createApi(services));
const user = await createUser(services, { email: 'ann@example.com', username: 'ann' });
if (user === undefined) throw new Error('the address is taken');
const { key } = await issueApiKey(services, { userId: user.id, name: 'first', scopes: ['ai:chat'] });
const response = await handle(
  new Request('http://localhost/api/chat', {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: 'Hello', newConversation: true, wait: true }),
  }),
);
if (response === undefined) throw new Error('not a path of the api');
const { status } = (await response.json()) as { status: string };
console.log(status);
