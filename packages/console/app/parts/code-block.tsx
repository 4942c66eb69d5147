import { useEffect, useState } from 'preact/hooks';
import { CopyButton } from './copy.tsx';

/** Longer code is shown without colors: they would cost more than a frame. */
const MAX_COLORED = 20_000;

/** Code with its language, colors and a button that copies it. */
export function CodeBlock({ code, language }: { code: string; language: string }) {
  const html = useHighlight(code, language);
  return (
    <div class="code">
      <div class="code-head">
        <span>{language || 'text'}</span>
        <CopyButton text={code} name="Copy code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable. */}
      <section class="code-text" tabIndex={0} aria-label={`Code${language && `: ${language}`}`}>
        <pre>
          {html === undefined ? <code>{code}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}
        </pre>
      </section>
    </div>
  );
}

/** The library is loaded with the first code block. */
function useHighlight(code: string, language: string): string | undefined {
  const [colored, setColored] = useState<{ code: string; html: string | undefined }>();
  useEffect(() => {
    if (language === '' || code.length > MAX_COLORED) return;
    let isCurrent = true;
    void import('../highlight.ts').then(({ highlight }) => {
      if (isCurrent) setColored({ code, html: highlight(code, language) });
    });
    return () => {
      isCurrent = false;
    };
  }, [code, language]);
  return colored?.code === code ? colored.html : undefined;
}
