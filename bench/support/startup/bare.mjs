import express from 'express';
import { answerOnce } from './first-request.mjs';

const app = express();
app.get('/api/v1/me', (_request, response) => response.json({ id: 'user' }));
answerOnce(app, '/api/v1/me');
