import { randomBytes } from 'node:crypto';
import { serve } from '@hono/node-server';
import { build } from './app.ts';

// Your application needs a permanent secret: with a new one, all tokens become invalid.
const secret = process.env.JWT_SECRET ?? randomBytes(32).toString('hex');
const port = Number(process.env.PORT ?? 3000);
serve({ fetch: build(secret).fetch, port }, () => console.log(`http://localhost:${port}`));
