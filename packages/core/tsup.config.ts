import { copyFile } from 'node:fs/promises';
import { library } from '../../tsup.shared.ts';

/**
 * zod is built in, as far as it is used: read from its own hundred files it was a third of the time to the first answer.
 * It stays a dependency, for its types and for the hosts' own schemas. See docs/decisions/zod-built-in.md.
 */
export default library(['src/index.ts', 'src/bridge.ts', 'src/directory/index.ts', 'src/memory/index.ts'], {
  builtIn: ['zod'],
  onSuccess: () => copyFile('../../node_modules/zod/LICENSE', 'dist/zod.LICENSE.txt'),
});
