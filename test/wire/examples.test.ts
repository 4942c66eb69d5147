import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Operation } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type Example, recordExample } from '../support/examples.ts';
import { createTestApp } from '../support/test-app.ts';

const FEATURES = join(import.meta.dirname, '../../packages/core/src/features');
const isRecording = process.env.QUESTLINE_RECORD_EXAMPLES === '1';

const { api } = await createTestApp();

/** The operations of each feature. The operations that return the documents have no examples. */
const features = new Map<string, Operation[]>();
for (const { operation, capability } of api.routes) {
  if (capability === 'description') continue;
  features.set(capability, [...(features.get(capability) ?? []), operation]);
}

describe('examples', () => {
  it.each([...features])(
    'of %s match the answers of the api',
    { timeout: 120_000 },
    async (feature, operations) => {
      const recorded: Record<string, Example> = {};
      for (const operation of operations) {
        const example = await recordExample(operation);
        expect(
          example,
          `${operation.id} needs a case in test/wire/cases that succeeds at its own path`,
        ).toBeDefined();
        if (example !== undefined) recorded[operation.id] = example;
      }
      const file = join(FEATURES, feature, 'examples.json');
      const text = `${JSON.stringify(recorded, null, 2)}\n`;
      if (isRecording) await writeFile(file, text);
      const committed = JSON.parse(await readFile(file, 'utf8')) as unknown;
      expect(
        committed,
        'The api answers differently from its examples. Run: npm run examples:record',
      ).toEqual(recorded);
    },
  );
});
