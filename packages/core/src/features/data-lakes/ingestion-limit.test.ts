import { expect, it } from 'vitest';
import { openIngestion } from '../../../test/lake-ingestion.ts';

it('ingests at most 20,000 chunks of a file', async () => {
  // Two such lines are too long for a chunk.
  const text = `${'字'.repeat(201)}\n`.repeat(20_001);
  const opened = await openIngestion({ outcome: { status: 'read', text } });
  await opened.run();
  const error = 'The file exceeds the maximum text of a data lake.';
  expect(await opened.getState()).toMatchObject({ status: 'failed', error });
});
