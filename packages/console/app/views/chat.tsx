import { useCallback, useRef, useState } from 'preact/hooks';
import { go } from '../hooks.ts';
import { Conversation } from './conversation.tsx';

interface Opened {
  readonly key: string;
  /** Undefined: not begun yet. */
  readonly id: string | undefined;
  readonly isBusy: boolean;
}

interface ChatProps {
  readonly id: string | undefined;
  readonly isShown: boolean;
  readonly onChange: () => void;
}

/**
 * The open conversation. One that begins keeps its component when it gets its id, and one whose answer still arrives stays
 * while the user is elsewhere.
 */
export function Chat({ id, isShown, onChange }: ChatProps) {
  const [opened, setOpened] = useState<readonly Opened[]>([]);
  const count = useRef(0);
  let current = opened.find((one) => one.id === id);
  if (isShown && current === undefined) {
    count.current += 1;
    current = { key: `conversation ${count.current}`, id, isBusy: false };
    setOpened([...opened.filter(({ isBusy }) => isBusy), current]);
  }
  const change = useCallback(
    (key: string, next: Partial<Opened>) =>
      setOpened((before) => before.map((one) => (one.key === key ? { ...one, ...next } : one))),
    [],
  );
  return (
    <>
      {opened.map(({ key, id: own, isBusy }) => {
        const isCurrent = isShown && own === id;
        return isCurrent || isBusy || !isShown ? (
          <Conversation
            key={key}
            id={own}
            isShown={isCurrent}
            onBegun={(begun) => {
              change(key, { id: begun });
              // The user may have gone elsewhere since.
              if (isAtNew()) go('chat', begun);
              onChange();
            }}
            onBusy={(busy) => {
              change(key, { isBusy: busy });
              if (!busy) onChange();
            }}
          />
        ) : null;
      })}
    </>
  );
}

function isAtNew(): boolean {
  return /^#?\/?(?:chat\/?)?$/.test(location.hash);
}
