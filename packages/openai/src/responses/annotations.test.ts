import type { AnswerSource } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { findAnnotations } from './annotations.ts';

const page = (url: string, title = 'A'): AnswerSource => ({ type: 'page', url, title }) as AnswerSource;
const file = (name: string): AnswerSource =>
  ({ type: 'file', fileId: `id of ${name}`, name, score: 1, text: '' }) as AnswerSource;
const SOURCES = [
  page('https://a.example/b'),
  page('https://a.example/c_(d)', 'C'),
  page('https://a.example/e.', 'E'),
  file('r.pdf'),
];
const cite = (url: string, title: string, start_index: number, end_index: number) => ({
  type: 'url_citation',
  url,
  title,
  start_index,
  end_index,
});

describe('citations of a text', () => {
  it.each<[string, object[]]>([
    ['See [A](https://a.example/b).', [cite('https://a.example/b', 'A', 4, 28)]],
    ['See https://a.example/b, and more', [cite('https://a.example/b', 'A', 4, 23)]],
    ['(https://a.example/b)!', [cite('https://a.example/b', 'A', 1, 20)]],
    ['[C](https://a.example/c_(d))', [cite('https://a.example/c_(d)', 'C', 0, 28)]],
    ['https://a.example/c_(d)', [cite('https://a.example/c_(d)', 'C', 0, 23)]],
    ['https://a.example/e.', [cite('https://a.example/e.', 'E', 0, 20)]],
    [
      'by [r.pdf] and [r.pdf]',
      [
        { type: 'file_citation', file_id: 'id of r.pdf', filename: 'r.pdf', index: 3 },
        { type: 'file_citation', file_id: 'id of r.pdf', filename: 'r.pdf', index: 15 },
      ],
    ],
    ['[r.pdf](https://a.example/b)', [cite('https://a.example/b', 'A', 0, 28)]],
    ['[r.pdf](https://other.example) [other] https://other.example r.pdf', []],
    ['', []],
  ])('are found: %s', (text, annotations) => {
    expect(findAnnotations(text, SOURCES)).toEqual(annotations);
  });

  it('are at most 200, and none without sources', () => {
    const text = '[r.pdf] '.repeat(201);
    expect(findAnnotations(text, SOURCES)).toHaveLength(200);
    expect(findAnnotations(text, [])).toEqual([]);
  });
});
