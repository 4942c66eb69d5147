/**
 * Finds optional dependencies that are missing in the lockfile, which makes `npm ci` fail. `npm install`
 * writes such a lockfile when a registry lacks the binary of one platform.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './packages.ts';

interface Entry {
  resolved?: string;
  link?: boolean;
  optionalDependencies?: Record<string, string>;
}

const lock: { packages: Record<string, Entry> } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
);
const problems: string[] = [];

/** Resolves like Node: in the package's own node_modules, then in every folder above. */
function isLocked(name: string, from: string): boolean {
  for (
    let folder = from;
    folder;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  ) {
    if (`${folder}/node_modules/${name}` in lock.packages) return true;
  }
  return `node_modules/${name}` in lock.packages;
}

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const name of Object.keys(entry.optionalDependencies ?? {})) {
    if (!isLocked(name, path))
      problems.push(`${path || 'root'}: optional dependency ${name} is missing in the lockfile`);
  }
  if (entry.resolved && !entry.link) problems.push(`${path}: the lockfile contains a registry address`);
}

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
