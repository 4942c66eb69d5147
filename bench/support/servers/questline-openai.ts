import { createServer } from 'node:http';
import { createApi, toNodeListener } from '@questline/core';
import { createOpenAIApi } from '@questline/openai';
import { serve } from '../child.ts';
import { createBenchServices } from './questline-api.ts';

/** Our own API, and the OpenAI API at `/openai`. */
const services = await createBenchServices();
const own = toNodeListener(createApi(services));
serve(createServer(toNodeListener(createOpenAIApi(services), own, { mountPath: '/openai' })));
