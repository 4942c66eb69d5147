import createPurifier from 'dompurify';
import { marked } from 'marked';

const purifier = createPurifier(window);

// Links lead away from a page that holds a session: they open apart, and tell nobody where they came from.
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

/** What a model wrote, as HTML that can do nothing but be read. */
export function renderMarkdown(text: string): string {
  return purifier.sanitize(marked.parse(text, { async: false, gfm: true, breaks: true }), ALLOWED);
}
