import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '../models/secret-box.ts';
import type { PromptDetail } from './contract.ts';
import { keepPrompt, openSystemPrompt, sealSystemPrompt, showPrompt } from './sealed-texts.ts';

const box = createSecretBox(new Uint8Array(32).fill(1), createFakeIds());
const DETAILS: readonly PromptDetail[] = [
  { source: 'caller', name: 'systemPrompt', tokenCount: 3, wasIncluded: true },
];
const PROMPT = { shownText: 'Be brief.', details: DETAILS };

describe('system prompt of a request', () => {
  it('is stored encrypted, and opens for its own quest only', () => {
    const sealed = sealSystemPrompt(box, 'q1', 'Be brief.');
    expect(JSON.stringify(sealed)).not.toContain('brief');
    expect([openSystemPrompt(box, 'q1', sealed), openSystemPrompt(box, 'q2', sealed)]).toEqual([
      'Be brief.',
      undefined,
    ]);
    expect([sealSystemPrompt(box, 'q1', undefined), openSystemPrompt(box, 'q1', {})]).toEqual([
      {},
      undefined,
    ]);
    expect(openSystemPrompt(box, 'q1', { systemPrompt: 'of an earlier version' })).toBe(
      'of an earlier version',
    );
  });
});

describe('prompt that a request wants to see', () => {
  const keep = (shows: Parameters<typeof keepPrompt>[2]) => ({
    id: 'q1',
    ownerId: 'ada',
    ...keepPrompt(box, 'q1', shows, PROMPT),
  });

  it('is stored as far as it was asked for, its text encrypted', () => {
    expect(keep(undefined)).toEqual({ id: 'q1', ownerId: 'ada' });
    expect(keep({ details: true })).toEqual({ id: 'q1', ownerId: 'ada', promptDetails: DETAILS });
    const { sealedPrompt, promptDetails } = keep({ text: true });
    expect([promptDetails, sealedPrompt?.includes('brief')]).toEqual([undefined, false]);
  });

  it('is shown to the user who asked for it, and to no other one', () => {
    const whole = keep({ details: true, text: true });
    expect(showPrompt(box, whole, 'ada')).toEqual({ promptDetails: DETAILS, promptText: 'Be brief.' });
    expect(showPrompt(box, keep({ details: true }), 'ada')).toEqual({ promptDetails: DETAILS });
    expect(showPrompt(box, keep({ text: true }), 'ada')).toEqual({ promptText: 'Be brief.' });
    expect([showPrompt(box, keep(undefined), 'ada'), showPrompt(box, whole, 'grace')]).toEqual([{}, {}]);
    expect(showPrompt(box, { ...whole, id: 'q2' }, 'ada')).toEqual({ promptDetails: DETAILS });
  });
});
