import { useMemo } from 'preact/hooks';
import { Diagram } from '../drawings/diagram.tsx';
import { readMarkdown } from '../markdown.ts';
import { CodeBlock } from './code-block.tsx';

/** A model's text. Code blocks with Mermaid are drawn. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => readMarkdown(text), [text]);
  return (
    <div class="markdown">
      {blocks.map((block, at) => {
        if (block.kind === 'html') {
          // Sanitized by DOMPurify.
          return <div key={at} dangerouslySetInnerHTML={{ __html: block.html }} />;
        }
        return block.language === 'mermaid' && block.isClosed ? (
          <Diagram key={at} source={block.text} title={undefined} />
        ) : (
          <CodeBlock key={at} code={block.text} language={block.language} />
        );
      })}
    </div>
  );
}
