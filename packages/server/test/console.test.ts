import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createOpenAIUpstream } from '@questline/testing/upstreams';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { callOnce, createMailTools } from '../../../test/support/approvals.ts';
import { createScriptedProvider } from '../../../test/support/model.ts';
import { approvalsRound } from './approvals-round.ts';
import { hasBrowser } from './browser.ts';
import { budgetsRound } from './budgets-round.ts';
import { choicesRound } from './choices-round.ts';
import { HOST_SESSIONS, hostRound, inHost } from './console-host.ts';
import { everyPage } from './console-pages.ts';
import { agentsRound, composerRound, diagramsRound, heldModels, recordedModels } from './console-talk.ts';
import { deviceRound } from './device-round.ts';
import { inThisProcess } from './in-process.ts';
import {
  DESKTOP,
  inWindow,
  keyboardJourney,
  newcomersJourney,
  openPage,
  riverModels,
  root,
  signUp,
} from './journey.ts';
import { administratorsRound } from './round.ts';
import { ownThingsRound, sharedRound } from './sharing-round.ts';
import { filmsRound, videoModels } from './videos.ts';
import { createReceiver, webhooksRound } from './webhooks-round.ts';
import { hasServices, inFolder, onServices } from './workplaces.ts';

// Processes, a browser and screenshots are slow on a busy machine.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

/** Maximum compressed bytes that every visit loads. */
const MAX_SIZE = 100_000;
const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 800 };

const hasEverything = hasBrowser() && (await hasServices());

/** A provider with a key, until the test ends. */
async function rivers() {
  const { script, finishFirst } = riverModels();
  const upstream = await createOpenAIUpstream({ script });
  onTestFinished(() => upstream.close());
  const models = {
    OPENAI_API_KEY: 'sk-test-0123456789abcdef',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_PROTOCOL: 'responses',
  };
  return { models, finishFirst };
}

describe.skipIf(!hasBrowser())('console in a browser', () => {
  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '--silent', 'build:app', '-w', '@questline/console'], {
      cwd: root,
    });
  });

  it('stays small and loads nothing from other origins', () => {
    const folder = join(root, 'packages/console/dist/app');
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    const imported = /(?:from|import)\s*"\.\/([^"]+)"/g;
    const first = new Set(['index.html', 'console.css', 'icon.svg', 'console.js']);
    for (const name of first) for (const [, chunk = ''] of read(name).matchAll(imported)) first.add(chunk);
    const sum = [...first].reduce((total, name) => total + gzipSync(read(name)).length, 0);
    console.log(`the console: ${Math.round(sum / 1000)} kB compressed`);
    expect(sum).toBeLessThan(MAX_SIZE);
    for (const file of ['index.html', 'diagram.html', 'console.css']) {
      expect(read(file)).not.toMatch(/(?:https?:)?\/\/[\w-]+\.\w/);
    }
  });

  for (const { name, set, open } of [
    { name: 'a folder', set: 'folder', open: inFolder },
    { name: 'PostgreSQL, Redis, S3 and SMTP', set: 'services', open: onServices },
  ]) {
    it.skipIf(open === onServices && !hasEverything)(
      `guides a new user from the code to an answer, a key, a file and the usage, on ${name}`,
      async () => {
        const { models, finishFirst } = await rivers();
        const workplace = await open(models);
        await inWindow(DESKTOP, workplace, (window) => newcomersJourney(window, workplace, finishFirst, set));
      },
    );
  }

  it('works without a mouse, from sign-in to an answer and a key', async () => {
    const { models, finishFirst } = await rivers();
    finishFirst();
    const workplace = await inFolder(models);
    await inWindow(DESKTOP, workplace, (window) => keyboardJourney(window, workplace));
  });

  it('supports its features on every page: agents, data lakes, settings, users, invites', async () => {
    const workplace = await inFolder((await rivers()).models);
    await inWindow(DESKTOP, workplace, (window) => administratorsRound(window, workplace));
  });

  it('creates and plays a video, and cancels another one', async () => {
    const workplace = await inThisProcess({ models: videoModels() });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) => filmsRound(window, workplace));
  });

  it('shows an invite code once when no encryption key is set', async () => {
    const workplace = await inThisProcess({ models: videoModels() });
    await inWindow(DESKTOP, { running: { output: () => '' } }, async (window) => {
      const { page, complaints } = window;
      await signUp(window, workplace);
      await openPage(page, 'Invites');
      await page.getByRole('button', { name: 'Create invites' }).click();
      await page.locator('code', { hasText: /^\w{20}$/ }).waitFor();
      await page.reload();
      await page.locator('code', { hasText: 'not stored' }).waitFor();
      expect(complaints).toEqual([]);
    });
  });

  it('stays signed in when a model provider is rejected, and signs out when its own token is', async () => {
    const workplace = await inThisProcess({ models: videoModels() });
    await inWindow(DESKTOP, { running: { output: () => '' } }, async (window) => {
      const { page } = window;
      await signUp(window, workplace);
      const refused = (more: Readonly<Record<string, string>>) => ({
        status: 401,
        contentType: 'application/json',
        headers: more,
        body: JSON.stringify({ error: 'Refused by a proxy' }),
      });
      await page.route('**/api/v1/usage', (route) => route.fulfill(refused({})));
      await openPage(page, 'Usage');
      await page.getByRole('alert').getByText('Refused by a proxy').waitFor();
      await page.getByRole('heading', { name: 'Usage' }).waitFor();
      await page.route('**/api/v1/files**', (route) =>
        route.fulfill(refused({ 'WWW-Authenticate': 'Bearer' })),
      );
      await page.getByRole('link', { name: 'Files' }).click();
      await page.getByLabel('E-mail address').waitFor();
    });
  });

  it('signs in a program by its code, before and after the user is signed in', async () => {
    const workplace = await inThisProcess({ models: videoModels() });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) => deviceRound(window, workplace));
  });

  it('keeps model, tools, text and focus during a conversation, and text typed while an answer arrives', async () => {
    const { models, finish } = heldModels();
    const workplace = await inThisProcess({ models });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) =>
      composerRound(window, workplace, finish),
    );
  });

  it('calls the agents that the user chooses', async () => {
    const { models, requests } = recordedModels();
    const workplace = await inThisProcess({ models });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) =>
      agentsRound(window, workplace, requests),
    );
  });

  it('asks before a tool call that needs approval', async () => {
    const { sent, tools } = createMailTools();
    const models = createScriptedProvider(callOnce());
    const workplace = await inThisProcess({ models, tools: [tools], secretEncryptionKey: 'b'.repeat(64) });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) =>
      approvalsRound(window, workplace, sent),
    );
  });

  it('lists shared resources with their permission, opens and leaves them', async () => {
    const workplace = await inThisProcess({ models: videoModels() });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) => sharedRound(window, workplace));
  });

  it('changes the profile, the state of an artifact and the files of a data lake', async () => {
    const workplace = await inThisProcess({ models: videoModels() });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) => ownThingsRound(window, workplace));
  });

  it('keeps choices that the user makes while an earlier one is being saved', async () => {
    const workplace = await inThisProcess({ models: videoModels() });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) => choicesRound(window, workplace));
  });

  it('creates, tests, rotates, disables, replays and deletes webhooks of a user and an organization', async () => {
    const { receiver, sender } = createReceiver();
    const workplace = await inThisProcess({ models: videoModels(), webhooks: sender });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) =>
      webhooksRound(window, workplace, receiver),
    );
  });

  it('creates, changes and deletes budgets of a user, an organization and everyone', async () => {
    const workplace = await inThisProcess({ models: videoModels() });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) => budgetsRound(window, workplace));
  });

  it('draws every kind of diagram in a frame of its own, and shows a faulty one as it is', async () => {
    const workplace = await inThisProcess({ models: videoModels() });
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) => diagramsRound(window, workplace));
  });

  for (const size of [WIDE, PHONE]) {
    it(`shows every page at ${size.width} pixels, light and dark, without accessibility violations`, async () => {
      const workplace = await inThisProcess({
        models: videoModels(),
        secretEncryptionKey: 'b'.repeat(64),
      });
      await inWindow(size, { running: { output: () => '' } }, (window) => everyPage(window, workplace, size));
    });
  }

  for (const [name, session] of HOST_SESSIONS) {
    it(`uses the host's session: ${name}`, async () => {
      const workplace = await inHost(session);
      await inWindow(DESKTOP, { running: { output: () => '' } }, (window) => hostRound(window, workplace));
    });
  }
});
