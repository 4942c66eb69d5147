/** The built app carries the license texts of what it bundles. */
import { readFileSync } from 'node:fs';

const notices = readFileSync(new URL('../dist/app/THIRD-PARTY-NOTICES.txt', import.meta.url), 'utf8');
const missing = ['dompurify', 'highlight.js', 'lucide', 'marked', 'mermaid', 'preact'].filter(
  (name) => !notices.includes(`${name} `),
);
if (missing.length > 0)
  throw new Error(`no license text of ${missing.join(', ')} in THIRD-PARTY-NOTICES.txt`);
