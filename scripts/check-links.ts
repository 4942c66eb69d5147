/**
 * Checks that every relative link, every anchor and every link to the repository in its Markdown has a
 * target. READMEs of packages may have no relative links, which break on npm.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from './packages.ts';

const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'];
const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file && existsSync(join(root, file)))
  .map((file) => join(root, file));

/** The text without code, whose brackets are not links; keeps line breaks for the line numbers. */
function prose(text: string): string {
  const blank = (code: string) => code.replace(/[^\n]/g, ' ');
  return text
    .replace(/^ {0,3}(```+|~~~+)[\s\S]*?^ {0,3}\1[^\n]*$/gm, blank)
    .replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, blank);
}

/** Anchors that forges generate from headings, and explicit ones. */
function getAnchors(text: string): Set<string> {
  const anchors = new Set<string>();
  const withoutFences = text.replace(/^ {0,3}(```+|~~~+)[\s\S]*?^ {0,3}\1[^\n]*$/gm, '');
  for (const [, heading = ''] of withoutFences.matchAll(/^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$/gm)) {
    const plain = heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-');
    let unique = slug;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${slug}-${count}`;
    anchors.add(unique);
  }
  for (const [, id = ''] of withoutFences.matchAll(/<[a-z][^>]*\s(?:id|name)="([^"]+)"/gi)) anchors.add(id);
  return anchors;
}

const known = new Map<string, Set<string>>();
function hasAnchor(file: string, anchor: string): boolean {
  let anchors = known.get(file);
  if (!anchors) {
    anchors = getAnchors(readFileSync(file, 'utf8'));
    known.set(file, anchors);
  }
  return anchors.has(anchor);
}

const REPOSITORY = /^https:\/\/github\.com\/questline\/questline\/(?:blob|tree)\/main\//;
const inline = /\]\(\s*<?([^)\s>]+)>?(?:\s+["'(][^)]*)?\)/g;
const reference = /^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/gm;
const html = /<(?:a|img)\b[^>]*\s(?:href|src)="([^"]+)"/gi;

const problems: string[] = [];
let links = 0;
for (const file of files) {
  const text = prose(readFileSync(file, 'utf8'));
  for (const match of [inline, reference, html].flatMap((pattern) => [...text.matchAll(pattern)])) {
    const link = match[1] ?? '';
    const isOwn = REPOSITORY.test(link);
    const target = link.replace(REPOSITORY, '');
    if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target)) continue;
    links += 1;
    const [path = '', anchor] = target.split('#', 2);
    const where = `${relative(root, file)}:${text.slice(0, match.index).split('\n').length}`;
    const to = path ? resolve(isOwn ? root : dirname(file), decodeURIComponent(path)) : file;
    if (!isOwn && path && /^packages\/[^/]+\/README\.md$/.test(relative(root, file))) {
      problems.push(`${where}: ${target} is relative, so it breaks on npm`);
    }
    if (!to.startsWith(root) || !existsSync(to)) problems.push(`${where}: ${target} does not exist`);
    else if (
      anchor &&
      to.endsWith('.md') &&
      statSync(to).isFile() &&
      !hasAnchor(to, decodeURIComponent(anchor))
    ) {
      problems.push(`${where}: ${target} has no such heading`);
    }
  }
}

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(`${links} links in ${files.length} files are valid`);
