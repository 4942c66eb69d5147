import { fileURLToPath } from 'node:url';
import type { Mountable } from '@questline/core';
import { createMcpApi } from '@questline/mcp-server';
import { describe, it } from 'vitest';
import { expectConformance } from '../support/conformance.ts';
import { saveFile } from '../support/lakes.ts';
import { serveWire } from '../support/vendor-wire.ts';
import { createMcpApp } from './support.ts';

const LETTER = {
  id: 'business-letter',
  name: 'Business letter',
  description: 'Use it to write a letter to a company.',
  instructions: 'Never more than one page.',
  listed: true,
};

describe('the conformance package of the protocol', () => {
  it.each(['2025-11-25', '2026-07-28'])(
    'finds only expected failures of the server at %s',
    async (revision) => {
      const app = await createMcpApp({ settings: { skills: [LETTER] } });
      // Some scenarios read the first resource of the list.
      await saveFile(app, 'Rain, at noon.');
      const api = createMcpApi(app.services, { allowedHosts: ['127.0.0.1'] });
      await expectConformance('server', {
        revision,
        baseline: fileURLToPath(new URL(`./conformance/server-${revision}.yml`, import.meta.url)),
        args: ['--url', await serveWire(withKey(api, app.key), '/mcp')],
      });
    },
  );
});

/** The package sends no credential of its own. */
function withKey(api: Mountable, key: string): Mountable {
  return {
    handle: ({ method, path, mountPath, query, headers, body, signal, remoteAddress, protocol }) =>
      api.handle({
        ...{ method, path, mountPath, query, body, signal, remoteAddress, protocol },
        headers: { ...headers, authorization: `Bearer ${key}` },
      }),
  };
}
