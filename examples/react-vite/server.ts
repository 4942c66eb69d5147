import { randomBytes } from 'node:crypto';
import { build } from './app.ts';

const secret = process.env.JWT_SECRET ?? randomBytes(32).toString('hex');
build(secret, 'dist').listen(3000, () => console.log('http://localhost:3000'));
