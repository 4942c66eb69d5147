import { randomBytes } from 'node:crypto';
import { build } from './app.ts';

// An application of your own keeps one secret, or every restart ends all tokens.
const secret = process.env.JWT_SECRET ?? randomBytes(32).toString('hex');
console.log(await build(secret).listen({ port: Number(process.env.PORT ?? 3000) }));
