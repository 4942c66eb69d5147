import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { build } from './app.ts';

const secret = process.env.JWT_SECRET ?? randomBytes(32).toString('hex');
const port = Number(process.env.PORT ?? 3000);
const app = await build('journal.jsonl', secret);
createServer(app.listener).listen(port, async () => {
  console.log(`http://localhost:${port}, with the key ${await app.issueKey()}`);
});
