import { createDemoProvider } from '@questline/core';
import type { ModelProvider } from '@questline/core/ports';
import { expect } from 'vitest';
import type { Window } from './browser.ts';
import { openPage, signUp } from './journey.ts';
import type { Workplace } from './workplaces.ts';

type ModelRequest = Parameters<ModelProvider['generate']>[0];
type Place = Pick<Workplace, 'url' | 'code'>;

/** Models whose answers are held until they are released. */
export function heldModels(): { readonly models: ModelProvider; finish(): void } {
  const demo = createDemoProvider();
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return {
    models: {
      ...demo,
      async generate(request, options) {
        await held;
        return demo.generate(request, options);
      },
    },
    finish: () => finish(),
  };
}

/** Models that record their requests. */
export function recordedModels(): { readonly models: ModelProvider; readonly requests: ModelRequest[] } {
  const demo = createDemoProvider();
  const requests: ModelRequest[] = [];
  return {
    requests,
    models: {
      ...demo,
      generate(request, options) {
        requests.push(request);
        return demo.generate(request, options);
      },
    },
  };
}

/** Two turns of a new conversation; the second question is typed while the first answer is pending. */
export async function composerRound(window: Window, workplace: Place, finish: () => void): Promise<void> {
  const { page, complaints } = window;
  await signUp(window, workplace);
  const message = page.getByLabel('Message');
  const sent = page.waitForRequest((request) => request.url().endsWith('/api/chat'));
  await page.getByLabel('Model', { exact: true }).selectOption({ label: 'Demo echo (offline)' });
  await page.getByLabel('Tools').check();
  await message.fill('first');
  await page.keyboard.press('Enter');
  expect((await sent).postDataJSON()).toMatchObject({ message: 'first', newConversation: true });
  await page.waitForURL(/#\/chat\/[0-9a-f]{24}$/);
  await page.keyboard.type('second');
  // Enter while an answer arrives sends nothing and keeps the text.
  await page.keyboard.press('Enter');
  finish();
  await page.getByRole('button', { name: 'Copy answer' }).waitFor();

  expect(await message.inputValue()).toBe('second');
  expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('demo-echo');
  expect(await page.getByLabel('Tools').isChecked()).toBe(true);
  expect(await message.and(page.locator(':focus')).count()).toBe(1);
  const next = page.waitForRequest((request) => request.url().endsWith('/api/chat'));
  await page.keyboard.press('Enter');
  expect((await next).postDataJSON()).toMatchObject({
    message: 'second',
    sessionId: /[0-9a-f]{24}$/.exec(page.url())?.[0],
    model: 'demo-echo',
    toolMode: 'smart',
  });
  const answers = page.locator('.message.assistant');
  await answers.nth(1).getByRole('button', { name: 'Copy answer' }).waitFor();
  await answers.nth(1).getByRole('heading', { name: 'Demo echo (offline)' }).waitFor();

  // Repeats the question, and keeps unsent text during a visit to another page and another conversation.
  await answers.nth(1).getByRole('button', { name: 'Retry' }).click();
  await answers.nth(2).getByRole('button', { name: 'Copy answer' }).waitFor();
  await message.fill('unsent');
  await openPage(page, 'Files');
  await page.goBack();
  expect(await message.inputValue()).toBe('unsent');
  const conversation = page.url();
  await page.getByRole('link', { name: 'New conversation' }).click();
  await page.getByText('How can I help').waitFor();
  expect(await message.inputValue()).toBe('');
  await page.goto(conversation);
  await expect.poll(() => message.inputValue()).toBe('unsent');
  expect(complaints).toEqual([]);
}

/**
 * An agent is created on its page, selected in a conversation, affects its answers, and is still selected at
 * the next visit.
 */
export async function agentsRound(
  window: Window,
  workplace: Place,
  requests: readonly ModelRequest[],
): Promise<void> {
  const { page, complaints } = window;
  const answers = page.locator('.message.assistant').getByRole('button', { name: 'Copy answer' });
  const getPrompt = (): string => JSON.stringify(requests.at(-1));
  await signUp(window, workplace);
  await openPage(page, 'Agents');
  await page.getByRole('button', { name: 'New agent' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Bard');
  await page.getByLabel('Instructions').fill('Answer in verse.');
  await page.getByLabel('Preferred model').selectOption({ label: 'Demo echo (offline)' });
  await page.getByLabel('Dice').or(page.getByLabel('Weather')).first().uncheck();
  await page.getByLabel('Access').selectOption('public');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: 'Bard' }).getByText('Public').waitFor();

  await page.getByRole('link', { name: 'New conversation' }).click();
  await page.getByRole('button', { name: 'Agents' }).click();
  await page.getByRole('button', { name: /^Bard/ }).click();
  await page.keyboard.press('Escape');
  await page.getByLabel('Message').fill('Sing of rivers.');
  await page.keyboard.press('Enter');
  await answers.first().waitFor();
  expect(getPrompt()).toContain('Answer in verse.');
  await page.locator('.message.assistant').getByRole('heading', { name: 'Demo echo (offline)' }).waitFor();

  // It stays in the conversation until it is removed.
  await page.reload();
  await page.getByRole('button', { name: 'Agents: Bard' }).waitFor();
  await page.getByLabel('Message').fill('And of lakes.');
  await page.keyboard.press('Enter');
  await answers.nth(1).waitFor();
  expect(getPrompt()).toContain('Answer in verse.');
  await page.getByRole('button', { name: 'Agents: Bard' }).click();
  const detached = page.waitForResponse((response) => response.request().method() === 'DELETE');
  await page.getByRole('button', { name: /^Bard/ }).click();
  expect((await detached).status()).toBe(200);
  await page.getByLabel('Message').fill('And of seas.');
  await page.keyboard.press('Enter');
  await answers.nth(2).waitFor();
  expect(getPrompt()).not.toContain('Answer in verse.');
  expect(complaints).toEqual([]);
}

const DIAGRAMS: Readonly<Record<string, string>> = {
  flowchart: 'flowchart LR\n  A([Rain]) --> B{Soaks in?}\n  B -- yes --> C[Spring]',
  sequence:
    'sequenceDiagram\n  Ann->>Bob: Hello\n  alt well\n  Bob-->>Ann: Hi\n  else ill\n  Bob-->>Ann: Not today\n  end',
  class: 'classDiagram\n  River <|-- Danube\n  River : +flow()',
  state: 'stateDiagram-v2\n  [*] --> Open\n  Open --> [*]',
  gantt: 'gantt\n  title Plan\n  dateFormat YYYY-MM-DD\n  section A\n  Task :a1, 2026-01-01, 30d',
  mindmap: 'mindmap\n  root((Rivers))\n    Danube\n    Rhine',
};

/** Artifacts of each kind, and one with an invalid source. */
export async function diagramsRound(window: Window, workplace: Place): Promise<void> {
  const { page, complaints } = window;
  await signUp(window, workplace);
  const token = String(await page.evaluate("localStorage.getItem('questline.token')"));
  const make = async (title: string, content: string): Promise<string> => {
    const answer = await fetch(`${workplace.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ type: 'mermaid', title, content }),
    });
    return ((await answer.json()) as { id: string }).id;
  };
  const open = async (title: string, content: string): Promise<void> => {
    await page.goto(`${workplace.url}/#/artifacts/${await make(title, content)}`);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  };
  const getWidth = (): Promise<unknown> =>
    page.evaluate("document.querySelector('img.diagram')?.naturalWidth");
  for (const [kind, source] of Object.entries(DIAGRAMS)) {
    await open(kind, source);
    await page.getByRole('img', { name: kind, exact: true }).waitFor();
    await expect.poll(getWidth).toBeGreaterThan(50);
  }
  await open('faulty', 'flowchart LR\n  A[open --> B');
  await page.getByText('This diagram cannot be drawn').waitFor();
  // Markup in a label stays text; the frame has neither the origin of the page nor its storage.
  await open('hostile', 'flowchart LR\n  A["<img src=x onerror=parent.hacked=1>"] --> B');
  await page.getByRole('img', { name: 'hostile', exact: true }).waitFor();
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  const frame = page.frames().find((one) => one.url().endsWith('diagram.html'));
  await expect(frame?.evaluate('localStorage.length')).rejects.toThrow('sandboxed');
  // The policy of the frame prevents the handler from running while the layout measures the label.
  expect(complaints.filter((text) => !text.includes('inline event handler'))).toEqual([]);
}
