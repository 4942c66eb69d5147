import { exampleSuite } from '@questline/example-notes/suite';
import { build } from './app.ts';

exampleSuite('Express', async (jwtSecret) => build(jwtSecret));
