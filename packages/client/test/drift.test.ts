import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as operations from '@questline/client/operations';
import { describe, expect, it } from 'vitest';
import { CLIENT_FILE, createClientFile } from '../../../scripts/client.ts';
import { createTestApp } from '../../../test/support/test-app.ts';

const ROOT = join(import.meta.dirname, '../../..');

describe('operations.ts', () => {
  it('is up to date with `npm run reference`', async () => {
    const committed = readFileSync(join(ROOT, CLIENT_FILE), 'utf8');
    expect(committed === (await createClientFile()), 'Run: npm run reference').toBe(true);
  });

  it('has every operation of the api, with what the contract declares', async () => {
    const { api } = await createTestApp({
      settings: { docsBundle: async () => '', voices: [], whatsNew: async () => [] },
    });
    const declared = api.routes.map(
      ({ operation: { id, method, path, auth, idempotent, bodyType, output } }) => ({
        id,
        method,
        path,
        ...(auth === 'none' && { open: true }),
        // The client creates no key for a stream: the server would store each answer.
        ...(idempotent === true && output[200]?.contentType !== 'text/event-stream' && { idempotent: true }),
        ...(bodyType === 'multipart' && { isForm: true }),
      }),
    );
    const generated = Object.values(operations).map((operation) => ({ ...operation, page: undefined }));
    const byId = (a: { id: string }, b: { id: string }): number => a.id.localeCompare(b.id);
    expect(generated.sort(byId)).toEqual(declared.sort(byId));
    await api.close();
  });

  it('has no operation with the name of a member of the client', () => {
    for (const name of ['call', 'send', 'wait', 'then']) expect(operations).not.toHaveProperty(name);
  });

  it('knows how each list with pages goes on', () => {
    const pages = Object.values(operations).flatMap((operation) =>
      'page' in operation ? [[operation.id, operation.page.by, operation.page.entries]] : [],
    );
    expect(pages.length).toBeGreaterThan(35);
    expect(pages).toContainEqual(['listSessions', 'cursor', 'data']);
    expect(pages).toContainEqual(['listMessages', 'page', 'messages']);
    expect(pages).toContainEqual(['listApplicationSessions', 'pagination[page]', 'data']);
    expect(pages).toContainEqual(['listApplicationArtifacts', 'offset', 'artifacts']);
  });
});
