import { randomBytes } from 'node:crypto';
import { build } from './app.ts';

// Your application needs a permanent secret: with a new one, all tokens become invalid.
const secret = process.env.JWT_SECRET ?? randomBytes(32).toString('hex');
console.log(await build(secret).listen({ port: Number(process.env.PORT ?? 3000) }));
