import { useMemo } from 'preact/hooks';
import { renderMarkdown } from '../markdown.ts';
import type { QuestFile, ToolPayload } from '../records.ts';

interface SaidProps {
  readonly by: 'user' | 'assistant';
  readonly text: string;
  readonly payloads?: readonly ToolPayload[];
  readonly files?: readonly QuestFile[];
  readonly isFault?: boolean;
  readonly isGrowing?: boolean;
}

/** One thing that was said. What people say is shown as they typed it; what models say is markdown. */
export function Said({ by, text, payloads = [], files = [], isFault = false, isGrowing = false }: SaidProps) {
  const html = useMemo(() => (by === 'assistant' ? renderMarkdown(text) : ''), [by, text]);
  return (
    <li class={`said ${by}${isFault ? ' failed' : ''}`} aria-busy={isGrowing}>
      <p class="who">{by === 'user' ? 'You' : 'Model'}</p>
      {by === 'user' ? (
        <p class="typed">{text}</p>
      ) : (
        // The purifier has been over it.
        <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />
      )}
      {payloads.map((payload, at) => (
        <details key={`${at} ${payload.type}`}>
          <summary>{payload.type}</summary>
          <pre>
            {typeof payload.payload === 'string' ? payload.payload : JSON.stringify(payload.payload, null, 2)}
          </pre>
        </details>
      ))}
      {files.map(({ name, url, isImage }) =>
        isImage ? (
          <img key={url} src={url} alt={name} />
        ) : (
          <a key={url} href={url} download={name}>
            {name}
          </a>
        ),
      )}
      {isGrowing && <span class="growing" aria-hidden="true" />}
    </li>
  );
}
