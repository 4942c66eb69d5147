import { createServer } from 'node:http';
import { createApi, toNodeListener } from '@questline/core';
import { serve } from '../child.ts';
import { openPostgresWorkspace } from './postgres-workspace.ts';

const { services } = await openPostgresWorkspace();
const api = createApi(services);
await api.start();
serve(createServer(toNodeListener(api)));
