import { createWebTools } from '@questline/providers/web';
import { describe, expect, it } from 'vitest';
import { here, serveText } from './web-site.ts';

const { fetchPage } = createWebTools(here);
const HTML = 'text/html';
/** "Zürich" in windows-1252, "日本" in Shift_JIS, and "Ж" in windows-1251. */
const ZURICH = [0x5a, 0xfc, 0x72, 0x69, 0x63, 0x68];
const JAPAN = [0x93, 0xfa, 0x96, 0x7b];
const ZHE = [0xc6];

const ascii = (text: string, rest: readonly number[]): Buffer =>
  Buffer.concat([Buffer.from(text, 'latin1'), Buffer.from(rest)]);

async function read(type: string | undefined, body: Uint8Array): Promise<string> {
  const { url } = await serveText(body, type === undefined ? {} : { 'content-type': type });
  return (await fetchPage(url, 0)).text;
}

describe('text of a page', () => {
  it.each<[string, string | undefined, Uint8Array, string]>([
    ['its type names', `${HTML}; charset=ISO-8859-1`, ascii('', ZURICH), 'Zürich'],
    ['its type names in quotes', 'text/plain;Charset = "Shift_JIS"', ascii('', JAPAN), '日本'],
    ['a meta element names', HTML, ascii('<META CHARSET=windows-1251>', ZHE), 'Ж'],
    [
      'a meta element names in place of the server',
      HTML,
      ascii('<meta content="text/html; charset=shift_jis" http-equiv="Content-Type">', JAPAN),
      '日本',
    ],
    [
      'a page without a type names',
      undefined,
      ascii('<!doctype html><meta charset=latin1>', ZURICH),
      'Zürich',
    ],
    [
      'its XML declaration names',
      'application/xml',
      ascii("<?xml version='1.0' encoding='latin1'?>", ZURICH),
      'Zürich',
    ],
    [
      'its type and not a meta element names',
      `${HTML}; charset=latin1`,
      ascii('<meta charset=utf-8>', ZURICH),
      'Zürich',
    ],
    [
      'its first meta element names',
      HTML,
      ascii('<meta charset=latin1><meta charset=utf-8>', ZURICH),
      'Zürich',
    ],
    ['the bytes of UTF-16 show', 'text/plain; charset=utf-8', Buffer.from('\ufeffŽ', 'utf16le'), 'Ž'],
    [
      'the bytes of UTF-16 show in the other order',
      'text/plain',
      Buffer.from('\ufeffŽ', 'utf16le').swap16(),
      'Ž',
    ],
  ])('is in the encoding that %s', async (_title, type, body, text) => {
    expect(await read(type, body)).toContain(text);
    expect(await read(type, body)).not.toContain('\ufffd');
  });

  it.each<[string, string, string]>([
    ['nothing names one', HTML, 'ü'],
    ['an unknown one is named', `${HTML}; charset=x-none`, 'ü'],
    ['it begins with the mark of UTF-8', `${HTML}`, '\ufeffü'],
    ['a meta element names UTF-16', HTML, '<meta charset=utf-16>ü'],
    ['a meta element for something else names one', HTML, '<meta name=a content="; charset=latin1">ü'],
    ['a meta element without a content names none', HTML, '<meta http-equiv=content-type>ü'],
    ['a meta element comes after the first 1024 bytes', HTML, `${' '.repeat(1024)}<meta charset=latin1>ü`],
    ['another element names one', HTML, '<a charset=latin1>ü</a>'],
  ])('is in UTF-8 where %s', async (_title, type, body) => {
    expect(await read(type, Buffer.from(body))).toBe('ü');
  });

  it.each([
    [[0xff, 0x41], 'ÿA'],
    [[0xfe, 0x41], 'þA'],
    [[0x41, 0xfe], 'Aþ'],
    [[0x41, 0xff], 'Aÿ'],
  ])('is not in UTF-16 because of one byte of its mark: %j', async (bytes, text) => {
    expect(await read('text/plain; charset=latin1', Uint8Array.from(bytes))).toBe(text);
  });

  it('of another type than HTML is not searched for a meta element', async () => {
    expect(await read('text/plain', Buffer.from('<meta charset=latin1>ü'))).toBe('<meta charset=latin1>ü');
  });
});
