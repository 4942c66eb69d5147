import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { build } from './app.ts';

// Your application needs a permanent secret: with a new one, all tokens become invalid.
const secret = process.env.JWT_SECRET ?? randomBytes(32).toString('hex');
const port = Number(process.env.PORT ?? 3000);
createServer(build(secret)).listen(port, () => console.log(`http://localhost:${port}`));
