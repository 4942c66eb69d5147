import type { FilesReader } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createChatWorld } from '../support/chat.ts';

const PICTURE = 'a'.repeat(24);
const MOVIE = 'b'.repeat(24);
const SCANNING = 'c'.repeat(24);

const LARGE = 'A'.repeat(20 * 2 ** 20);

const files: FilesReader = {
  async find(_userId, id) {
    if (![PICTURE, MOVIE, SCANNING].includes(id)) return undefined;
    return { id, name: 'file', mimeType: 'image/png', isClean: id !== SCANNING };
  },
  async content(_userId, id) {
    return id === PICTURE ? [{ type: 'image', mediaType: 'image/png', data: 'AA==' }] : undefined;
  },
};

const setUp = () => createChatWorld({ services: (services) => ({ ...services, files }) });

describe('attached files', () => {
  it('are given to the model; what it cannot take is told', async () => {
    const world = await setUp();
    const { body } = await world.chat({
      message: 'Look',
      fileIds: [PICTURE, MOVIE],
      wait: true,
    });
    expect(world.calls[0]?.request.messages.at(-1)?.content).toEqual([
      { type: 'image', mediaType: 'image/png', data: 'AA==' },
      { type: 'text', text: 'Look' },
    ]);
    expect(await world.poll(body.id)).toMatchObject({
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

  it('that are named twice are read and given once', async () => {
    let reads = 0;
    const counting: FilesReader = {
      ...files,
      content(...asked) {
        reads += 1;
        return files.content(...asked);
      },
    };
    const world = await createChatWorld({ services: (services) => ({ ...services, files: counting }) });
    const { body } = await world.chat({ message: '', fileIds: Array(50).fill(PICTURE), wait: true });
    expect(reads).toBe(1);
    expect(world.calls[0]?.request.messages.at(-1)?.content).toHaveLength(1);
    expect((await world.poll(body.id)).attachmentDelivery).toMatchObject({ requested: 1, delivered: 1 });
  });

  it('that are too much together are left out from the first one that does not fit, unread', async () => {
    const ids = Array.from({ length: 10 }, (_, at) => String(at).repeat(24));
    const read: string[] = [];
    const large: FilesReader = {
      find: async (_userId, id) => ({ id, name: 'file', mimeType: 'image/png', isClean: true }),
      async content(_userId, id) {
        read.push(id);
        return [{ type: 'image', mediaType: 'image/png', data: LARGE }];
      },
    };
    const world = await createChatWorld({ services: (services) => ({ ...services, files: large }) });
    const { body } = await world.chat({ message: '', fileIds: ids, wait: true });
    expect(read).toHaveLength(4);
    expect(world.calls[0]?.request.messages.at(-1)?.content).toHaveLength(3);
    expect((await world.poll(body.id)).attachmentDelivery).toMatchObject({
      requested: 10,
      delivered: 3,
      droppedIds: ids.slice(3),
    });
  });

  it('that are all taken leave no notice', async () => {
    const world = await setUp();
    const { body } = await world.chat({ message: '', fileIds: [PICTURE], wait: true });
    const quest = await world.poll(body.id);
    expect(quest.attachmentDelivery).toMatchObject({ fullyDelivered: true, droppedIds: [] });
    expect(quest).not.toHaveProperty('attachmentNotices');
  });

  it('that are not clean are refused', async () => {
    const world = await setUp();
    const { status, body } = await world.chat({ message: 'Look', fileIds: [SCANNING] });
    expect([status, body.errorCode]).toEqual([422, 'unsupported_input']);
  });
});
