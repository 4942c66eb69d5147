import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { findServer } from '../../s3/test/server.ts';
import { emptyFolder, outcome } from './command.ts';

// Every test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const server = await findServer();

async function refused(env: Readonly<Record<string, string>>): Promise<string> {
  const cwd = emptyFolder();
  const { code, stdout, stderr } = await outcome(['start'], { cwd, env: { PORT: '0', ...env } });
  expect({ code, stdout, left: readdirSync(cwd) }).toEqual({ code: 1, stdout: '', left: [] });
  return stderr;
}

describe('startup with an unusable bucket', () => {
  it('stops without changes when the endpoint is unreachable', async () => {
    const away = createServer().listen(0, '127.0.0.1');
    await once(away, 'listening');
    const { port } = away.address() as AddressInfo;
    away.close();
    await once(away, 'close');
    const env = {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: 'files',
      S3_ACCESS_KEY_ID: 'questline',
      S3_SECRET_ACCESS_KEY: 'hush',
    };
    expect(await refused(env)).toBe(
      'questline: S3_ENDPOINT: connection refused, no server listens there (ECONNREFUSED)\n',
    );
  });

  if (server === undefined) {
    it.skip('(the rest is not run: no S3-compatible server on 127.0.0.1:58090)');
    return;
  }
  const { endpoint, bucket, accessKeyId, secretAccessKey, region } = server;
  const env = {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
    S3_REGION: region,
  };

  it('stops without changes when the bucket does not exist', async () => {
    expect(await refused({ ...env, S3_BUCKET: 'questline-not-there' })).toBe(
      'questline: S3_BUCKET: there is no bucket questline-not-there; create it first\n',
    );
  });

  it('stops without changes when the secret is wrong', async () => {
    expect(await refused({ ...env, S3_SECRET_ACCESS_KEY: 'hush' })).toMatch(
      /^questline: S3_ACCESS_KEY_ID: access to [\w-]+ is denied; check it and S3_SECRET_ACCESS_KEY\n$/,
    );
  });
});
