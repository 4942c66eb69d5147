import { createDocumentExtractor } from '@questline/documents';
import { describe, expect, it } from 'vitest';
import { makePdf } from '../../packages/documents/test/make.ts';
import { createChatWorld } from '../support/chat.ts';
import { pngOf, zipOf } from '../support/samples.ts';

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const PNG = pngOf(3, 2);

const WORD = zipOf([
  {
    name: 'word/document.xml',
    content: Buffer.from(
      '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Grüße</w:t></w:r></w:p></w:body></w:document>',
    ),
  },
]);

async function setUp(options: Parameters<typeof createChatWorld>[0] = {}) {
  const world = await createChatWorld({ extractors: [createDocumentExtractor()], ...options });
  const save = async (content: Uint8Array | string, mimeType: string, name = 'file') => {
    const wish = { name, mimeType, content: Buffer.from(content) };
    return (await world.services.library.save(world.user.id, wish)).file?.id ?? '';
  };
  /** What the model was given with a message, and what the quest tells of it. */
  const ask = async (...fileIds: string[]) => {
    const { body } = await world.chat({ message: 'Look', fileIds, wait: true });
    const { attachmentDelivery, attachmentNotices } = await world.poll(body.id);
    const given = world.calls.at(-1)?.request.messages.at(-1)?.content.slice(0, -1);
    return { given, attachmentDelivery, attachmentNotices };
  };
  return { world, save, ask };
}

const document = (name: string, text: string) => ({
  type: 'document',
  mediaType: 'text/plain',
  name,
  data: Buffer.from(text).toString('base64'),
});

describe('files given to a chat', () => {
  it.each([
    ['text/plain', 'a.txt', 'Hello', 'Hello'],
    ['text/markdown', 'a.md', '# Hello', '# Hello'],
    ['text/csv', 'a.csv', 'a,b\n1,2', 'a,b\n1,2'],
    ['application/json', 'a.json', '{"a":1}', 'a: 1'],
    ['text/html', 'a.html', '<p>Hello</p><script>x()</script>', 'Hello'],
    [DOCX, 'a.docx', WORD, 'Grüße'],
    ['application/pdf', 'a.pdf', makePdf(['One page', 'and another']), 'One page\n\nand another'],
  ])('of the type %s reach the model as their text', async (mimeType, name, content, text) => {
    const { save, ask } = await setUp();
    const { given, attachmentDelivery } = await ask(await save(content, mimeType, name));
    expect(given).toEqual([document(name, text)]);
    expect(attachmentDelivery).toMatchObject({ requested: 1, fullyDelivered: true });
  });

  it('reach a model that sees as pictures', async () => {
    const { save, ask } = await setUp({
      settings: { admin: { DefaultAPIModel: 'scripted' }, models: { scripted: { supportsVision: true } } },
    });
    expect((await ask(await save(PNG, 'image/png'))).given).toEqual([
      { type: 'image', mediaType: 'image/png', data: PNG.toString('base64') },
    ]);
  });

  it('that the model cannot take are dropped, and the quest says which', async () => {
    const { save, ask } = await setUp();
    const dropped = [
      await save(PNG, 'image/png'),
      await save(Buffer.from([1, 2]), 'video/mp4'),
      await save('   ', 'text/plain'),
      await save('no archive', DOCX, 'a.docx'),
      await save('no pages', 'application/pdf', 'a.pdf'),
    ];
    const taken = await save('Hello', 'text/plain', 'a.txt');
    const { given, attachmentDelivery, attachmentNotices } = await ask(...dropped, taken);
    expect(given).toEqual([document('a.txt', 'Hello')]);
    expect(attachmentDelivery).toEqual({
      requested: 6,
      delivered: 1,
      fullyDelivered: false,
      dropped: 5,
      droppedIds: dropped,
    });
    expect(attachmentNotices).toEqual(['5 of 6 attached files could not be given to Scripted.']);
  });

  it('that are longer than the model can read are cut, and say so', async () => {
    const { save, ask } = await setUp();
    const { given } = await ask(await save('words '.repeat(2_000_000), 'text/plain'));
    const [first] = given ?? [];
    const text = first?.type === 'document' ? Buffer.from(first.data, 'base64').toString() : '';
    expect(text.length).toBeLessThan(3_000_000);
    expect(text).toMatch(/^words .*\[The rest of this file was left out: it is too long\.\]$/s);
  });

  it("that are somebody else's are unknown", async () => {
    const { world } = await setUp();
    const other = await world.addUser('eve@example.com');
    const { file } = await world.services.library.save(other.id, {
      name: 'a',
      mimeType: 'text/plain',
      content: Buffer.from('secret'),
    });
    const { status, body } = await world.chat({ message: 'Look', fileIds: [file?.id] });
    expect([status, body.error]).toEqual([404, 'File not found']);
    const linked = await world.json('POST', '/api/v1/sessions', {
      body: { name: 'a', knowledgeIds: [file?.id] },
    });
    expect([linked.status, linked.body.error]).toEqual([404, 'File not found']);
  });
});
