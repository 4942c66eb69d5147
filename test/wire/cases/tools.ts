import { WebToolError, type WebToolErrorKind, type WebTools } from '@questline/core/ports';
import { ID, type WireCase } from './case.ts';

const web: WebTools = {
  search: async (query, count) => [{ title: query, url: 'https://found.example', snippet: String(count) }],
  fetchPage: async (url) => {
    if (url.includes('inside'))
      throw new WebToolError('INVALID_INPUT', 'url: this address is not on the open internet.');
    if (url.includes('odd'))
      throw new WebToolError('TEAPOT' as WebToolErrorKind, 'url: this page is a teapot.');
    throw new Error('a secret of the remote');
  },
};

const failure = (errorType: string, error: string) => ({
  success: false,
  error,
  errorType,
  executionTimeMs: 0,
  request_id: ID,
});

export const executeTool: readonly WireCase[] = [
  {
    title: 'returns the result of a tool as a value and as text',
    app: () => ({ web }),
    ask: { body: { toolName: 'web_search', input: { query: 'lighthouse', num_results: 2 } } },
    status: 200,
    body: {
      success: true,
      result: [{ title: 'lighthouse', url: 'https://found.example', snippet: '2' }],
      content: '[{"title":"lighthouse","url":"https://found.example","snippet":"2"}]',
      executionTimeMs: 0,
      request_id: ID,
    },
    everywhere: true,
  },
  {
    title: 'reports why a tool failed',
    app: () => ({ web }),
    ask: { body: { toolName: 'web_fetch', input: { url: 'http://inside.example' } } },
    status: 500,
    body: failure('INVALID_INPUT', 'url: this address is not on the open internet.'),
  },
  {
    title: 'hides an unknown failure',
    app: () => ({ web }),
    ask: { body: { toolName: 'web_fetch', input: { url: 'http://broken.example' } } },
    status: 500,
    body: failure('UNKNOWN', 'The tool failed.'),
  },
  {
    title: 'reports a failure of a kind that does not exist as unknown',
    app: () => ({ web }),
    ask: { body: { toolName: 'web_fetch', input: { url: 'http://odd.example' } } },
    status: 500,
    body: failure('UNKNOWN', 'url: this page is a teapot.'),
  },
  {
    title: 'reports that a tool is not configured',
    ask: { body: { toolName: 'weather_info', input: { lat: 59.9, lon: 10.7 } } },
    status: 500,
    body: failure('API_KEY_MISSING', 'Weather is not configured on this server.'),
  },
];
