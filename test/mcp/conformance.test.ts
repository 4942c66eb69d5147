import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, it, onTestFinished } from 'vitest';
import { expectConformance } from '../support/conformance.ts';
import { runScenario, type Scenario } from './conformance/scenario.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

describe('the conformance package of the protocol', () => {
  it.each(['2025-11-25', '2026-07-28'])(
    'finds only expected failures of the client at %s',
    async (revision) => {
      const command = `${process.execPath} ${at('./conformance/relay.mjs')} ${await serveScenarios()}`;
      await expectConformance('client', {
        revision,
        baseline: at(`./conformance/client-${revision}.yml`),
        args: ['--command', command, '--timeout', '100000'],
      });
    },
  );
});

/** Runs the scenarios in this process. @returns the address for the relays. */
async function serveScenarios(): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      try {
        await runScenario((await json(request)) as Scenario);
        response.end();
      } catch (error) {
        response.writeHead(500).end(String(error));
      }
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
