import { toExpress } from '@questline/express';
import { type Host, type HostSetup, listen } from '@questline/testing';
import compression from 'compression';
import cors from 'cors';
import type express from 'express';

type Express = typeof express;

/** The application for both major versions of Express; only `express()` differs. */
export async function createExpressHost(express: Express, setup: HostSetup): Promise<Host> {
  const errors: unknown[] = [];
  const seen: number[] = [];
  const app = express();
  app.disable('x-powered-by');
  if (setup.trustProxy === true) app.set('trust proxy', 1);
  if (setup.stamp === true) {
    app.use((_request, response, next) => {
      response.setHeader('X-Host', 'yes');
      response.on('finish', () => seen.push(response.statusCode));
      next();
    });
  }
  if (setup.compression === true) app.use(compression({ threshold: 0 }));
  if (setup.cors === true) app.use(cors({ origin: 'https://app.example' }));
  if (setup.bodyParser === 'json') app.use(express.json());
  if (setup.bodyParser === 'raw') app.use(express.raw({ type: () => true }));
  if (setup.bodyParser === 'text') app.use(express.text());

  const mountApi = () => {
    if (setup.asRoute === true) app.post('/ask/:id', toExpress(setup.api));
    else if (setup.mountPath !== undefined) app.use(setup.mountPath, toExpress(setup.api));
    else app.use(toExpress(setup.api));
  };
  if (setup.mountedAfter !== true) mountApi();

  app.get('/host', (_request, response) => {
    response.type('text').send('the host');
  });
  app.post('/host/echo', express.json(), (request, response) => {
    response.json(request.body);
  });
  app.get('/host/fails', () => {
    throw new Error('a failure of the host');
  });
  for (const { method, path } of setup.ownRoutes ?? []) {
    app[method === 'GET' ? 'get' : 'post'](path, (_request, response) => {
      response.type('text').send(`the host: ${method} ${path}`);
    });
  }
  if (setup.mountedAfter === true) mountApi();
  app.use((_request, response) => {
    response.status(404).type('text').send('the host knows no such path');
  });
  const onError: express.ErrorRequestHandler = (error, _request, response, _next) => {
    errors.push(error);
    response.status(500).type('text').send('the host failed');
  };
  app.use(onError);
  return listen(app, { errors, seen });
}
