import { createWebTools } from '@questline/providers/web';
import { describe, expect, it } from 'vitest';
import { serveSite, serveText, toFailure } from './web-site.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const place = { lat: 59.9, lon: 10.7 };
const CURRENT = {
  temperature_2m: 10,
  apparent_temperature: 7,
  relative_humidity_2m: 80,
  weather_code: 0,
  wind_speed_10m: 9,
};

async function search(answer: unknown, count = 3) {
  const { url } = await serveText(JSON.stringify(answer), JSON_TYPE);
  return createWebTools({ braveApiKey: 'k', searchUrl: url }).search?.('x', count);
}

async function weather(current: unknown) {
  const { url } = await serveText(JSON.stringify({ current }), JSON_TYPE);
  return createWebTools({ weatherUrl: url }).weather(place, 'metric');
}

describe('search of the web', () => {
  it('has at most as many results as are asked for, with empty texts for those that are missing', async () => {
    const hits = [{ title: 'A', url: 'https://a.example', description: 'a' }, { title: 7 }, null, {}];
    const empty = { title: '', url: '', snippet: '' };
    const first = { title: 'A', url: 'https://a.example', snippet: 'a' };
    expect(await search({ web: { results: hits } })).toEqual([first, empty, empty]);
    expect(await search({ web: { results: hits } }, 1)).toEqual([first]);
  });

  it.each([null, 7, {}, { web: null }, { web: 'x' }, { web: { results: 'many' } }])(
    'has no results in %j',
    async (answer) => {
      expect(await search(answer)).toEqual([]);
    },
  );

  it('asks for JSON, and needs a key', async () => {
    const { url, requests } = await serveText('{}', JSON_TYPE);
    await createWebTools({ braveApiKey: 'k', searchUrl: url }).search?.('x', 1);
    expect(requests[0]?.url).toBe('/res/v1/web/search?q=x&count=1');
    expect(requests[0]?.headers).toMatchObject({ accept: 'application/json', 'x-subscription-token': 'k' });
    expect(createWebTools({ braveApiKey: '' }).search).toBeUndefined();
  });

  it.each([
    [401, 'API_KEY_MISSING', "The search service refused the server's key."],
    [403, 'API_KEY_MISSING', "The search service refused the server's key."],
    [429, 'RATE_LIMIT', 'The search service asks to wait.'],
    [201, 'EXTERNAL_API_ERROR', 'The search service answered with status 201.'],
    [503, 'EXTERNAL_API_ERROR', 'The search service answered with status 503.'],
  ])('with status %i is an error', async (status, kind, message) => {
    const { url } = await serveText('{"web":{"results":[]}}', JSON_TYPE, status);
    const tools = createWebTools({ braveApiKey: 'k', searchUrl: url });
    expect(await toFailure(Promise.resolve(tools.search?.('x', 1)))).toEqual([kind, message]);
  });

  it('is an error without JSON, and without an answer', async () => {
    const broken = createWebTools({ braveApiKey: 'k', searchUrl: (await serveText('{', JSON_TYPE)).url });
    await expect(broken.search?.('x', 1)).rejects.toMatchObject({
      kind: 'EXTERNAL_API_ERROR',
      message: 'The search service gave no usable answer.',
      cause: expect.any(SyntaxError),
    });
    const absent = createWebTools({ braveApiKey: 'k', searchUrl: 'http://127.0.0.1:1' });
    await expect(absent.search?.('x', 1)).rejects.toMatchObject({
      kind: 'NETWORK_ERROR',
      message: 'The search service could not be reached in time.',
      cause: expect.objectContaining({ code: 'ECONNREFUSED' }),
    });
  });

  it('ends with the signal of the caller, and at the deadline', async () => {
    const { url } = await serveSite(() => undefined);
    const abort = new AbortController();
    const options = { braveApiKey: 'k', searchUrl: url, weatherUrl: url };
    const patient = createWebTools(options);
    const calls = [
      patient.search?.('x', 1, { signal: abort.signal }),
      patient.weather(place, 'metric', { signal: abort.signal }),
    ].map((call) => expect(call).rejects.toMatchObject({ kind: 'NETWORK_ERROR', cause: new Error('left') }));
    abort.abort(new Error('left'));
    await Promise.all(calls);
    const hasty = createWebTools({ ...options, timeoutMs: 50 });
    const { signal } = new AbortController();
    const late = [
      hasty.search?.('x', 1),
      hasty.search?.('x', 1, { signal }),
      hasty.weather(place, 'metric'),
    ].map((call) => expect(call).rejects.toMatchObject({ cause: { name: 'TimeoutError' } }));
    await Promise.all(late);
  });
});

describe('weather', () => {
  it.each([
    [0, 'clear sky'],
    [1, 'partly cloudy'],
    [3, 'partly cloudy'],
    [4, 'fog'],
    [48, 'fog'],
    [49, 'drizzle'],
    [57, 'drizzle'],
    [58, 'rain'],
    [67, 'rain'],
    [68, 'snow'],
    [77, 'snow'],
    [78, 'rain showers'],
    [82, 'rain showers'],
    [83, 'snow showers'],
    [86, 'snow showers'],
    [87, 'thunderstorm'],
    [99, 'thunderstorm'],
  ])('of code %i is %s', async (code, description) => {
    expect(await weather({ ...CURRENT, weather_code: code })).toEqual({
      description,
      temperature: 10,
      feelsLike: 7,
      humidity: 80,
      windSpeed: 9,
      units: 'metric',
    });
  });

  it.each([
    ['metric', ''],
    ['imperial', '&temperature_unit=fahrenheit&wind_speed_unit=mph'],
  ] as const)('is asked for in %s units', async (units, more) => {
    const { url, requests } = await serveText(JSON.stringify({ current: CURRENT }), JSON_TYPE);
    expect(await createWebTools({ weatherUrl: url }).weather(place, units)).toMatchObject({ units });
    const fields = Object.keys(CURRENT).toSorted().join(',');
    const [path = '', query = ''] = requests[0]?.url?.split('?') ?? [];
    const parameters = new URLSearchParams(query);
    expect([path, parameters.get('latitude'), parameters.get('longitude')]).toEqual([
      '/v1/forecast',
      '59.9',
      '10.7',
    ]);
    expect(parameters.get('current')?.split(',').toSorted().join(',')).toBe(fields);
    expect(query.endsWith(more)).toBe(true);
    expect(parameters.has('temperature_unit')).toBe(units === 'imperial');
  });

  it.each([...Object.keys(CURRENT), 'current'])('is an error without %s', async (field) => {
    const answer = weather(field === 'current' ? undefined : { ...CURRENT, [field]: null });
    expect(await toFailure(answer)).toEqual([
      'EXTERNAL_API_ERROR',
      'The weather service gave no usable answer.',
    ]);
  });
});
