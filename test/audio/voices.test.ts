import { describe, expect, it } from 'vitest';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

const ask = async (settings: TestAppOptions['settings'] = {}) => {
  const app = await createTestApp({ settings, key: { scopes: ['ai:generate'] } });
  return app.ask('GET', '/api/v1/voices');
};

describe('voices for speech', () => {
  it('are listed in the order of the host', async () => {
    const voices = [
      { id: 'amy', name: 'Amy', language: 'en' },
      { id: 'abe', name: 'Abe', provider: 'media' },
    ];
    expect(await (await ask({ voices })).json()).toEqual({ data: voices });
  });

  it('have no operation without any: the path belongs to the host', async () => {
    expect((await ask()).status).toBe((await ask({ voices: [] })).status);
    expect(await (await ask()).text()).toBe('not ours');
  });
});
