import { createDocumentExtractor } from '@questline/documents';
import { describe, expect, it } from 'vitest';
import { makePdf } from '../../packages/documents/test/make.ts';
import { createChatApp } from '../support/chat.ts';
import { encodePng, encodeZip } from '../support/samples.ts';

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const PNG = encodePng(3, 2);

const WORD = encodeZip([
  {
    name: 'word/document.xml',
    content: Buffer.from(
      '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Grüße</w:t></w:r></w:p></w:body></w:document>',
    ),
  },
]);

async function setUp(options: Parameters<typeof createChatApp>[0] = {}) {
  const app = await createChatApp({ extractors: [createDocumentExtractor()], ...options });
  const save = async (content: Uint8Array | string, mimeType: string, name = 'file') => {
    const input = { name, mimeType, content: Buffer.from(content) };
    return (await app.services.library.save(app.user.id, input)).file?.id ?? '';
  };
  /** The model input of a message and the notices of its quest. */
  const ask = async (...fileIds: string[]) => {
    const { body } = await app.chat({ message: 'Look', fileIds, wait: true });
    const { attachmentDelivery, attachmentNotices } = await app.poll(body.id);
    const given = app.calls.at(-1)?.request.messages.at(-1)?.content.slice(0, -1);
    return { given, attachmentDelivery, attachmentNotices };
  };
  return { app, save, ask };
}

const document = (name: string, text: string) => ({
  type: 'document',
  mediaType: 'text/plain',
  name,
  data: Buffer.from(text).toString('base64'),
});

describe('files attached to a chat', () => {
  it.each([
    ['text/plain', 'a.txt', 'Hello', 'Hello'],
    ['text/markdown', 'a.md', '# Hello', '# Hello'],
    ['text/csv', 'a.csv', 'a,b\n1,2', 'a,b\n1,2'],
    ['application/json', 'a.json', '{"a":1}', 'a: 1'],
    ['text/x-python', 'a.py', 'print(1)', 'print(1)'],
    ['application/x-yaml', 'a.yaml', 'a: 1', 'a: 1'],
    ['video/mp2t', 'a.ts', 'export const a = 1;', 'export const a = 1;'],
    ['text/csv', 'a.csv', Buffer.from('Größe', 'latin1'), 'Größe'],
    ['text/html', 'a.html', '<p>Hello</p><script>x()</script>', 'Hello'],
    [DOCX, 'a.docx', WORD, 'Grüße'],
    ['application/pdf', 'a.pdf', makePdf(['One page', 'and another']), 'One page\n\nand another'],
  ])('reach the model as text when their type is %s', async (mimeType, name, content, text) => {
    const { save, ask } = await setUp();
    const { given, attachmentDelivery } = await ask(await save(content, mimeType, name));
    expect(given).toEqual([document(name, text)]);
    expect(attachmentDelivery).toMatchObject({ requested: 1, fullyDelivered: true });
  });

  it('reach a model with vision as images', async () => {
    const { save, ask } = await setUp({
      settings: { admin: { DefaultAPIModel: 'scripted' }, models: { scripted: { supportsVision: true } } },
    });
    expect((await ask(await save(PNG, 'image/png'))).given).toEqual([
      { type: 'image', mediaType: 'image/png', data: PNG.toString('base64') },
    ]);
  });

  it('are dropped when the model does not support them, and the quest names them', async () => {
    const { save, ask } = await setUp();
    const dropped = [
      await save(PNG, 'image/png'),
      await save(Buffer.from([1, 2]), 'video/mp4'),
      await save(Buffer.from([0x47, 0x40, 0, 0x10]), 'video/mp2t', 'a.ts'),
      await save('   ', 'text/plain'),
      await save('no archive', DOCX, 'a.docx'),
      await save('no pages', 'application/pdf', 'a.pdf'),
    ];
    const taken = await save('Hello', 'text/plain', 'a.txt');
    const { given, attachmentDelivery, attachmentNotices } = await ask(...dropped, taken);
    expect(given).toEqual([document('a.txt', 'Hello')]);
    expect(attachmentDelivery).toEqual({
      requested: 7,
      delivered: 1,
      fullyDelivered: false,
      dropped: 6,
      droppedIds: dropped,
    });
    expect(attachmentNotices).toEqual(['6 of 7 attached files could not be given to Scripted.']);
  });

  it('are truncated with a notice when they exceed the context of the model', async () => {
    const { save, ask } = await setUp();
    const { given } = await ask(await save('words '.repeat(2_000_000), 'text/plain'));
    const [first] = given ?? [];
    const text = first?.type === 'document' ? Buffer.from(first.data, 'base64').toString() : '';
    expect(text.length).toBeLessThan(3_000_000);
    expect(text).toMatch(/^words .*\[The rest of this file was left out: it is too long\.\]$/s);
  });

  it('are unknown when they belong to another user', async () => {
    const { app } = await setUp();
    const other = await app.addUser('eve@example.com');
    const { file } = await app.services.library.save(other.id, {
      name: 'a',
      mimeType: 'text/plain',
      content: Buffer.from('secret'),
    });
    const { status, body } = await app.chat({ message: 'Look', fileIds: [file?.id] });
    expect([status, body.error]).toEqual([404, 'File not found']);
    const linked = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'a', knowledgeIds: [file?.id] },
    });
    expect([linked.status, linked.body.error]).toEqual([404, `File ${file?.id} not found`]);
  });
});
