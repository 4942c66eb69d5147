import { extractorSuite, realTime } from '@questline/testing';
import { createDocumentExtractor } from '../src/index.ts';
import { makeTinyBomb } from './hostile.ts';
import { makePdf, makeWord } from './make.ts';

const PDF = { mimeType: 'application/pdf', name: 'a' };
const WORD = {
  mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  name: 'a',
};
const heavy = { type: PDF, bytes: makeTinyBomb(64).bytes };

extractorSuite({
  name: 'child processes',
  create: async () => {
    const extractor = createDocumentExtractor({ maxDecodedBytes: 16 * 2 ** 20 });
    return {
      extractor,
      samples: [
        { type: PDF, bytes: makePdf(['One page']), text: 'One page' },
        { type: WORD, bytes: makeWord(['A paragraph']), text: 'A paragraph' },
        { type: { mimeType: 'text/html', name: 'a' }, bytes: Buffer.from('<p>A line'), text: 'A line' },
      ],
      broken: { type: WORD, bytes: Buffer.from('no archive') },
      heavy,
      time: realTime(),
      close: async () => extractor.close?.(),
    };
  },
});
