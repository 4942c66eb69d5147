import express from 'express';

const app = express();
app.get('/', (_request, response) => response.json({ status: 'ok' }));
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listens on http://127.0.0.1:${server.address().port}`);
  const memoryMiB = Math.round(process.memoryUsage.rss() / 2 ** 20);
  console.log(JSON.stringify({ readyMs: Math.round(performance.now()), memoryMiB }));
});
process.once('SIGTERM', () => process.exit());
