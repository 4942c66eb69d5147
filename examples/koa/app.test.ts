import { exampleSuite } from '@questline/example-notes/suite';
import { build } from './app.ts';

exampleSuite('Koa', async (jwtSecret) => build(jwtSecret).callback());
