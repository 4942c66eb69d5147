import { exampleSuite } from '@questline/example-notes/suite';
import { build } from './app.ts';

exampleSuite('node:http', async (jwtSecret) => build(jwtSecret));
