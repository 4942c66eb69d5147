import { expect, it } from 'vitest';
import { createTestApp } from '../support/test-app.ts';

it.each([
  ['agent', 'EnableAgents', 'Agents are switched off'],
  ['artifact', 'EnableArtifacts', 'Artifacts are switched off'],
])('an %s is not shown for sharing while %s is false', async (type, setting, message) => {
  const get = async (isOn: boolean) => {
    const app = await createTestApp({ settings: { admin: { [setting]: isOn } } });
    const answer = await app.ask('GET', `/api/${type}/${'0'.repeat(24)}`, { credential: await app.token() });
    return { status: answer.status, body: await answer.json() };
  };
  expect(await get(false)).toMatchObject({ status: 403, body: { error: { message } } });
  expect(await get(true)).toMatchObject({ status: 404 });
});
