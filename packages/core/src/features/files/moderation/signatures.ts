import type { Inspection } from './verdicts.ts';

/** The harmless test file for virus scanners (EICAR, 2003). Assembled at run time, so that scanners accept this source. */
const TEST_VIRUS = Buffer.from(
  ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR', '-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join(''),
  'latin1',
);

/** Detects it anywhere in the file, across chunk borders. */
export const findTestVirus: Inspection = async (file, { signal }) => {
  const most = TEST_VIRUS.length - 1;
  let held = Buffer.alloc(0);
  for await (const bytes of file.stream()) {
    signal?.throwIfAborted();
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const seam = Buffer.concat([held, chunk.subarray(0, most)]);
    if (chunk.includes(TEST_VIRUS) || seam.includes(TEST_VIRUS)) return 'the EICAR test file';
    held = Buffer.from(chunk.length >= most ? chunk.subarray(-most) : seam.subarray(-most));
  }
  return undefined;
};
