import { library } from '../../tsup.shared.ts';

/**
 * zod is built in, as far as it is used: read from its own hundred files it was a third of the time to the first answer.
 * It stays a dependency, for its types and for the hosts' own schemas. See docs/decisions/built-in.md.
 */
export default library(['src/index.ts', 'src/bridge.ts', 'src/directory/index.ts', 'src/memory/index.ts'], {
  builtIn: ['zod'],
});
