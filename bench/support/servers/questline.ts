import { createServer } from 'node:http';
import { toNodeListener } from '@questline/core';
import { serve } from '../child.ts';
import { createBenchApi } from './questline-api.ts';

serve(createServer(toNodeListener(await createBenchApi())));
