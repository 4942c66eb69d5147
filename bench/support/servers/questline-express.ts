import { createServer } from 'node:http';
import { toExpress } from '@questline/express';
import express from 'express';
import { serve } from '../child.ts';
import { createBenchApi } from './questline-api.ts';

const app = express();
app.use(toExpress(await createBenchApi()));
serve(createServer(app));
