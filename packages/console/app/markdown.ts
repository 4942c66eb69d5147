import createPurifier from 'dompurify';
import { marked } from 'marked';

const purifier = createPurifier(window);

// Links leave a page that holds a session: open them in a new tab, without a referrer.
purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});

const ALLOWED = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'img', 'video', 'audio', 'iframe'],
  FORBID_ATTR: ['style', 'id', 'class', 'name'],
};

const OPTIONS = { async: false, gfm: true, breaks: true } as const;

/** A part of a model's markdown: a code block, or sanitized HTML. */
export type Block =
  | { readonly kind: 'code'; readonly language: string; readonly text: string; readonly isClosed: boolean }
  | { readonly kind: 'html'; readonly html: string };

/** Splits markdown into its blocks, so that a growing answer changes only its last one. */
export function readMarkdown(text: string): readonly Block[] {
  return marked.lexer(text, OPTIONS).flatMap((token): Block[] => {
    if (token.type === 'space') return [];
    if (token.type === 'code') {
      const [language = ''] = (token.lang ?? '').split(/\s/);
      const isClosed = token.codeBlockStyle === 'indented' || /\n\s*(?:`{3,}|~{3,})\s*$/.test(token.raw);
      return [{ kind: 'code', language: language.toLowerCase(), text: token.text, isClosed }];
    }
    const html = marked.parser([token], OPTIONS);
    return [{ kind: 'html', html: purifier.sanitize(html, ALLOWED) }];
  });
}
