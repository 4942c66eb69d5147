import type { ModelContent } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { createTestFilesReader } from '../support/files-reader.ts';

const PICTURE = 'a'.repeat(24);
const MOVIE = 'b'.repeat(24);
const SCANNING = 'c'.repeat(24);

const LARGE = 'A'.repeat(20 * 2 ** 20);

const find = (id: string) =>
  [PICTURE, MOVIE, SCANNING].includes(id)
    ? { id, name: 'file', mimeType: 'image/png', isClean: id !== SCANNING }
    : undefined;

const content = (id: string): readonly ModelContent[] | undefined =>
  id === PICTURE ? [{ type: 'image', mediaType: 'image/png', data: 'AA==' }] : undefined;

const files = createTestFilesReader({ find, content });

const setUp = () => createChatApp({ services: (services) => ({ ...services, files }) });

describe('attached files', () => {
  it('reach the model, and unsupported ones are reported', async () => {
    const app = await setUp();
    const { body } = await app.chat({
      message: 'Look',
      fileIds: [PICTURE, MOVIE],
      wait: true,
    });
    expect(app.calls[0]?.request.messages.at(-1)?.content).toEqual([
      { type: 'image', mediaType: 'image/png', data: 'AA==' },
      { type: 'text', text: 'Look' },
    ]);
    expect(await app.poll(body.id)).toMatchObject({
      attachmentDelivery: {
        requested: 2,
        delivered: 1,
        fullyDelivered: false,
        dropped: 1,
        droppedIds: [MOVIE],
      },
      attachmentNotices: ['1 of 2 attached files could not be given to Scripted.'],
    });
  });

  it('are read and sent once when they are named twice', async () => {
    let reads = 0;
    const counting = createTestFilesReader({
      find,
      content(id) {
        reads += 1;
        return content(id);
      },
    });
    const app = await createChatApp({ services: (services) => ({ ...services, files: counting }) });
    const { body } = await app.chat({ message: '', fileIds: Array(50).fill(PICTURE), wait: true });
    expect(reads).toBe(1);
    expect(app.calls[0]?.request.messages.at(-1)?.content).toHaveLength(1);
    expect((await app.poll(body.id)).attachmentDelivery).toMatchObject({ requested: 1, delivered: 1 });
  });

  it('are omitted without being read, starting with the first one that exceeds the limit', async () => {
    const ids = Array.from({ length: 10 }, (_, at) => String(at).repeat(24));
    const read: string[] = [];
    const large = createTestFilesReader({
      find: (id) => ({ id, name: 'file', mimeType: 'image/png', isClean: true }),
      content(id) {
        read.push(id);
        return [{ type: 'image', mediaType: 'image/png', data: LARGE }];
      },
    });
    const app = await createChatApp({ services: (services) => ({ ...services, files: large }) });
    const { body } = await app.chat({ message: '', fileIds: ids, wait: true });
    expect(read).toHaveLength(4);
    expect(app.calls[0]?.request.messages.at(-1)?.content).toHaveLength(3);
    expect((await app.poll(body.id)).attachmentDelivery).toMatchObject({
      requested: 10,
      delivered: 3,
      droppedIds: ids.slice(3),
    });
  });

  it('cause no notice when all are accepted', async () => {
    const app = await setUp();
    const { body } = await app.chat({ message: '', fileIds: [PICTURE], wait: true });
    const quest = await app.poll(body.id);
    expect(quest.attachmentDelivery).toMatchObject({ fullyDelivered: true, droppedIds: [] });
    expect(quest).not.toHaveProperty('attachmentNotices');
  });

  it('are rejected unless their check found them clean', async () => {
    const app = await setUp();
    const { status, body } = await app.chat({ message: 'Look', fileIds: [SCANNING] });
    expect([status, body.errorCode]).toEqual([422, 'unsupported_input']);
  });
});
