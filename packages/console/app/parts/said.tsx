import { useMemo } from 'preact/hooks';
import { Payload } from '../drawings/payload.tsx';
import { renderMarkdown } from '../markdown.ts';
import type { QuestFile, ToolPayload } from '../records.ts';
import { MediaShown } from './media.tsx';

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
        <Payload key={`${at} ${payload.type}`} payload={payload} />
      ))}
      {files.map((file) => (
        <Made key={file.url} file={file} />
      ))}
      {isGrowing && <span class="growing" aria-hidden="true" />}
    </li>
  );
}

/** A file the turn has made: what can be shown is shown. */
function Made({ file: { name, url, isImage, isAudio, isVideo } }: { file: QuestFile }) {
  const kind = isImage ? 'image' : isAudio ? 'audio' : isVideo ? 'video' : undefined;
  return (
    <p class="made">
      {kind !== undefined && <MediaShown name={name} url={url} mimeType={`${kind}/*`} />}
      <a href={url} download={name} target="_blank" rel="noopener noreferrer">
        {name}
      </a>
    </p>
  );
}
