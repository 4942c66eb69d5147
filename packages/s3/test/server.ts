import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { AwsClient } from 'aws4fetch';
import type { S3Options } from '../src/index.ts';

const KEYS = { accessKeyId: 'test:tester', secretAccessKey: 'testing', region: 'us-east-1' };
const LOOPBACK = 'http://127.0.0.1:58090';

/**
 * The S3-compatible server of the tests, with a separate bucket: `QUESTLINE_TEST_S3_URL`, else the one on
 * loopback. @returns undefined without a server, which is a failure in CI.
 */
export async function findServer(): Promise<S3Options | undefined> {
  const given = process.env.QUESTLINE_TEST_S3_URL;
  const endpoint = given ?? LOOPBACK;
  if (given === undefined && !(await answers(new URL(endpoint)))) {
    if (process.env.CI === 'true') throw new Error(`no S3-compatible server answers at ${endpoint}`);
    return undefined;
  }
  const options = { ...KEYS, endpoint, bucket: `questline-${randomBytes(6).toString('hex')}` };
  const made = await new AwsClient({ ...KEYS, service: 's3' }).fetch(`${endpoint}/${options.bucket}`, {
    method: 'PUT',
  });
  if (!made.ok) throw new Error(`the S3-compatible server made no bucket: ${made.status}`);
  return options;
}

/** The current content of the bucket, oldest name first. */
export async function getContents({ endpoint, bucket, ...keys }: S3Options): Promise<Map<string, Buffer>> {
  const aws = new AwsClient({ ...keys, service: 's3' });
  const list = await (await aws.fetch(`${endpoint}/${bucket}?list-type=2`)).text();
  const names = [...list.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, name = '']) => name);
  const contents = new Map<string, Buffer>();
  for (const name of names) {
    const object = await aws.fetch(`${endpoint}/${bucket}/${name}`);
    // Objects that were moved meanwhile are absent.
    if (object.ok) contents.set(name, Buffer.from(await object.arrayBuffer()));
  }
  return contents;
}

function answers({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
