import { createServer, get } from 'node:http';

/** Listens, sends one request, prints the milliseconds since the start of the process, and exits. */
export function answerOnce(app, path, headers = {}) {
  const server = createServer(app);
  server.listen(0, '127.0.0.1', () => {
    get({ host: '127.0.0.1', port: server.address().port, path, headers, agent: false }, (answer) => {
      if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
      answer.resume().on('end', () => {
        const { user, system } = process.cpuUsage();
        console.log(JSON.stringify({ cpu: (user + system) / 1000, elapsed: performance.now() }));
        process.exit();
      });
    });
  });
}
