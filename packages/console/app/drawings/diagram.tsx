import { Download } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { toMessage } from '../api.ts';
import { useApp } from '../context.ts';
import type { Drawn } from '../diagram/draw.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { useIsDark } from '../parts/theme.tsx';

interface DiagramProps {
  /** Mermaid. */
  readonly source: string;
  readonly title: string | undefined;
}

/** A diagram as an image, with its source. A faulty source is shown as it is, with the reason. */
export function Diagram({ source, title }: DiagramProps) {
  const { drawn, failure } = useDrawn(source);
  const name = title ?? 'Diagram';
  return (
    <figure class="drawing">
      <figcaption>
        <span>{name}</span>
        {drawn !== undefined && (
          <a
            class="button ghost icon-only small"
            href={drawn.url}
            download={`${name}.svg`}
            aria-label={`Download ${name}`}
          >
            <Icon of={Download} size={16} />
          </a>
        )}
        <CopyButton text={source} name={`Copy source of ${name}`} />
      </figcaption>
      {drawn !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable.
        <section class="scroll" aria-label={name} tabIndex={0}>
          <img class="diagram" src={drawn.url} width={drawn.width} height={drawn.height} alt={name} />
        </section>
      )}
      {drawn === undefined && failure === undefined && <p class="quiet">Drawing…</p>}
      {failure !== undefined && <p class="quiet">This diagram cannot be drawn: {failure}</p>}
      <details open={failure !== undefined}>
        <summary>Source</summary>
        <pre>{source}</pre>
      </details>
    </figure>
  );
}

function useDrawn(source: string) {
  const { draw } = useApp();
  const isDark = useIsDark();
  const [state, setState] = useState<{ drawn?: Drawn; failure?: string }>({});
  useEffect(() => {
    let isCurrent = true;
    let url: string | undefined;
    draw(source, isDark).then(
      (drawn) => {
        url = drawn.url;
        if (isCurrent) setState({ drawn });
        else URL.revokeObjectURL(url);
      },
      (error: unknown) => {
        if (isCurrent) setState({ failure: toMessage(error) });
      },
    );
    return () => {
      isCurrent = false;
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [source, isDark]);
  return state;
}
