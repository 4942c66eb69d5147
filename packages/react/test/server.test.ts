import { createClient } from '@questline/client';
import {
  QuestlineProvider,
  useConversation,
  useCredits,
  useGeneration,
  useQuest,
  useUpload,
} from '@questline/react';
import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';

const client = createClient({
  baseUrl: 'http://questline.test',
  fetch: () => expect.unreachable('a request while a server renders'),
});

function Everything(): ReactElement {
  const { messages, status } = useConversation({ storageKey: 'main' });
  const shown = [
    ...[messages.length, status, useQuest('6a0000000000000000000000').status],
    ...[useGeneration('video').status, useUpload().status, useCredits().balance],
  ];
  return createElement('p', null, shown.join(' '));
}

describe('on a server', () => {
  it('renders every hook in its initial state without a request', () => {
    const page = createElement(QuestlineProvider, { client }, createElement(Everything));
    expect(renderToString(page)).toBe('<p>0 loading running idle idle </p>');
  });

  it('asks for a provider', () => {
    expect(() => renderToString(createElement(Everything))).toThrow('QuestlineProvider');
  });
});
