import { ArrowDown } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { Icon } from './icon.tsx';

/** Nearer to the end than this, the reader follows the answer. */
const NEAR_END_PX = 120;

const SUGGESTIONS = [
  'Explain a difficult concept in simple words',
  'Draw a flowchart of a release process',
  'Compare three options in a table',
  'Write a polite reply to an e-mail',
];

interface ThreadProps {
  readonly isEmpty: boolean;
  /** Changes that may make the thread longer. */
  readonly watched: readonly unknown[];
  readonly onSuggestion: (text: string) => void;
  readonly children: ComponentChildren;
}

/** The scrolling part of a conversation. It follows a growing answer until the reader scrolls up. */
export function Thread({ isEmpty, watched, onSuggestion, children }: ThreadProps) {
  const ref = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [isAway, setAway] = useState(false);
  const toEnd = (): void => {
    const { current } = ref;
    current?.scrollTo({ top: current.scrollHeight });
  };
  useEffect(() => {
    if (follows.current) toEnd();
  }, watched);
  // Drawings and images grow after the text is there.
  useEffect(() => {
    if (content.current === null) return;
    const watcher = new ResizeObserver(() => {
      if (follows.current) toEnd();
    });
    watcher.observe(content.current);
    return () => watcher.disconnect();
  }, []);
  return (
    <div class="thread-frame">
      <div
        class="thread"
        ref={ref}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
          setAway(!follows.current);
        }}
      >
        <div ref={content} class={isEmpty ? 'thread-content empty-thread' : 'thread-content'}>
          {isEmpty && <Welcome onSuggestion={onSuggestion} />}
          {children}
        </div>
      </div>
      {isAway && (
        <button type="button" class="to-end round" aria-label="Scroll to the end" onClick={toEnd}>
          <Icon of={ArrowDown} />
        </button>
      )}
    </div>
  );
}

function Welcome({ onSuggestion }: { onSuggestion: (text: string) => void }) {
  const { user } = useApp();
  return (
    <div class="welcome">
      <h1>{user === undefined ? 'How can I help?' : `How can I help, ${user.username}?`}</h1>
      <ul class="suggestions">
        {SUGGESTIONS.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => onSuggestion(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
