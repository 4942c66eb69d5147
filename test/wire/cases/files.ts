import { expect } from 'vitest';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

const WISH = { file_name: 'résumé.txt', mime_type: 'text/plain', file_size: 5 };
const at = (ms: number) => new Date(NOW + ms).toISOString();

const listed = (more: object = {}) => ({
  owner_id: AN_ID,
  id: AN_ID,
  file_name: 'résumé.txt',
  mime_type: 'text/plain',
  file_size: 5,
  moderation_status: 'pending',
  created_at: AT_NOON,
  ...more,
});

const whole = (more: object = {}) =>
  listed({ download_url: null, download_url_expires_at: null, notes: null, ...more });

const announced = {
  id: AN_ID,
  upload_url: expect.stringMatching(/^\/api\/v1\/objects\?key=uploads%2F[0-9a-f]{24}&/) as unknown,
  upload_url_expires_at: at(600_000),
};

async function create(app: TestApp): Promise<string> {
  const { key } = await app.issue({ scopes: ['files:write'] });
  const answer = await app.ask('POST', '/api/v1/files', { body: WISH, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

async function save({ services, user }: TestApp): Promise<string> {
  const content = Buffer.from('12345');
  const { file } = await services.library.save(user.id, {
    name: 'résumé.txt',
    mimeType: 'text/plain',
    content,
  });
  return file?.id ?? '';
}

const ofFile =
  (make: (app: TestApp) => Promise<string>, body?: object) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    path: `/api/v1/files/${await make(app)}`,
    ...(body !== undefined && { body }),
  });

const unknown = (body?: object): WireCase => ({
  title: 'answers 404 for an unknown file',
  ...(body !== undefined && { ask: { body } }),
  ...refused('public', { status: 404, message: 'File not found' }),
});

const linked = {
  moderation_status: 'clean',
  download_url: expect.stringMatching(/^\/api\/v1\/objects\?key=files%2F/) as unknown,
  download_url_expires_at: at(900_000),
};

export const listFiles: readonly WireCase[] = [
  { title: 'lists no files at first', status: 200, body: { data: [], next_cursor: null }, everywhere: true },
  {
    title: 'lists the files of the caller',
    ask: async (app) => {
      await create(app);
      return { path: '/api/v1/files?search=SUM&limit=1' };
    },
    status: 200,
    body: { data: [listed()], next_cursor: null },
  },
  {
    title: 'rejects a limit that is too high',
    ask: { path: '/api/v1/files?limit=101' },
    ...refused('public', {
      status: 422,
      message: 'limit: expected a whole number from 1 to 100, got 3 characters of text',
    }),
  },
];

export const createFileUpload: readonly WireCase[] = [
  { title: 'returns an upload address', ask: { body: WISH }, status: 201, body: announced, everywhere: true },
  {
    title: 'rejects an empty file',
    ask: { body: { ...WISH, file_size: 0 } },
    ...refused('public', {
      status: 422,
      message: 'file_size: Too small: expected number to be >=1, got 0',
    }),
  },
  {
    title: 'rejects an unsupported type',
    ask: { body: { ...WISH, mime_type: 'application/x-msdownload' } },
    ...refused('public', { status: 400, message: 'mime_type: files of this type are not accepted' }),
  },
  {
    title: 'rejects a missing type',
    ask: { body: { ...WISH, mime_type: '../etc' } },
    ...refused('public', { status: 400, message: 'mime_type: files of this type are not accepted' }),
  },
  {
    title: 'rejects a file that is too large',
    app: () => ({ settings: { admin: { MaxFileSize: 4 } } }),
    ask: { body: WISH },
    ...refused('public', { status: 400, message: 'file_size: files may have at most 4 bytes' }),
  },
  {
    title: 'rejects a file beyond the storage quota',
    app: () => ({ settings: { files: { storageQuota: 4 } } }),
    ask: { body: WISH },
    ...refused('public', {
      status: 400,
      message: 'file_size: the storage quota has no room for a file of this size',
    }),
  },
];

export const getFile: readonly WireCase[] = [
  { title: 'returns a file', ask: ofFile(create), status: 200, body: whole(), everywhere: true },
  { title: 'returns a clean file with a link', ask: ofFile(save), status: 200, body: whole(linked) },
  unknown(),
];

export const updateFile: readonly WireCase[] = [
  {
    title: 'renames a file',
    ask: ofFile(create, { file_name: 'b.txt', notes: 'mine' }),
    status: 200,
    body: whole({ file_name: 'b.txt', notes: 'mine' }),
    everywhere: true,
  },
  {
    title: 'rejects a missing name',
    ask: ofFile(create, { file_name: '' }),
    ...refused('public', {
      status: 422,
      message: 'file_name: expected at least 1 character, got 0 characters of text',
    }),
  },
  unknown({ file_name: 'b.txt' }),
];

export const deleteFile: readonly WireCase[] = [
  { title: 'deletes a file', ask: ofFile(save), status: 204, body: '', everywhere: true },
  unknown(),
];
