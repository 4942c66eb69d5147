import fc from 'fast-check';
import { describe, it } from 'vitest';
import { BODIES, text } from './fuzz-bodies.ts';
import { check, createTarget, RUNS } from './fuzz-target.ts';

describe('generated requests over the OpenAI wire', () => {
  it.each(Object.entries(BODIES))(
    'are answered by %s without a 5xx, with errors of its shape',
    async (path, body) => {
      const { app, send } = await createTarget();
      await fc.assert(
        fc.asyncProperty(body, async (value) => {
          await check(app, send('POST', path, JSON.stringify(value), 'application/json'));
        }),
        { numRuns: RUNS },
      );
    },
  );

  it.each(['/images/edits', '/audio/transcriptions', '/files'])(
    'are accepted by %s as broken forms without a 5xx',
    async (path) => {
      const { app, send } = await createTarget();
      const form = fc.array(
        fc.tuple(
          fc.constantFrom(
            'file',
            'purpose',
            'image',
            'image[]',
            'mask',
            'model',
            'prompt',
            'n',
            'response_format',
          ),
          fc.oneof(text, fc.constantFrom('painter', 'listener-sounds', '1', 'json', 'user_data')),
          fc.boolean(),
        ),
        { maxLength: 6 },
      );
      await fc.assert(
        fc.asyncProperty(form, async (fields) => {
          const data = new FormData();
          for (const [name, value, isFile] of fields) {
            if (isFile) data.append(name, new Blob([value], { type: 'image/png' }), 'a.mp3');
            else data.append(name, value);
          }
          await check(app, send('POST', path, data));
        }),
        { numRuns: RUNS },
      );
      await check(app, send('POST', path, '{}', 'application/json'));
      await check(app, send('POST', path, 'no boundary', 'multipart/form-data'));
      await check(app, send('POST', path, '--x\r\n', 'multipart/form-data; boundary=x'));
    },
  );
});
