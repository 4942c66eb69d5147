import { library } from '../../tsup.shared.ts';

/** Kysely's three hundred files take a tenth of a second to read, and nothing of it shows. See docs/decisions/built-in.md. */
export default library(['src/index.ts'], { builtIn: ['kysely'] });
