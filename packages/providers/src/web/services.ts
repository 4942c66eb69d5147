import { WebToolError, type WebTools } from '@questline/core/ports';
import { request } from 'undici/index.js';

interface JsonService {
  readonly name: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Brave's search API. @see https://api-dashboard.search.brave.com/app/documentation/web-search/get-started */
export function createBraveSearch(
  key: string,
  baseUrl: string,
  timeoutMs: number,
): NonNullable<WebTools['search']> {
  return async (query, count, options) => {
    const url = new URL(`${baseUrl}/res/v1/web/search`);
    url.searchParams.set('q', query);
    url.searchParams.set('count', String(count));
    const headers = { 'x-subscription-token': key, accept: 'application/json' };
    const found = await askJson({ name: 'The search service', url, headers, timeoutMs }, options?.signal);
    const results = objectAt(objectAt(found, 'web'), 'results');
    if (!Array.isArray(results)) return [];
    return results.slice(0, count).map((hit: unknown) => ({
      title: textAt(hit, 'title'),
      url: textAt(hit, 'url'),
      snippet: textAt(hit, 'description'),
    }));
  };
}

/** Open-Meteo's forecast API, which needs no key. @see https://open-meteo.com/en/docs */
export function createOpenMeteoWeather(baseUrl: string, timeoutMs: number): NonNullable<WebTools['weather']> {
  return async ({ lat, lon }, units, options) => {
    const url = new URL(`${baseUrl}/v1/forecast`);
    url.searchParams.set('latitude', String(lat));
    url.searchParams.set('longitude', String(lon));
    url.searchParams.set(
      'current',
      'temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,wind_speed_10m',
    );
    if (units === 'imperial') {
      url.searchParams.set('temperature_unit', 'fahrenheit');
      url.searchParams.set('wind_speed_unit', 'mph');
    }
    const answer = await askJson(
      { name: 'The weather service', url, headers: {}, timeoutMs },
      options?.signal,
    );
    const current = objectAt(answer, 'current');
    return {
      description: describeWeather(numberAt(current, 'weather_code')),
      temperature: numberAt(current, 'temperature_2m'),
      feelsLike: numberAt(current, 'apparent_temperature'),
      humidity: numberAt(current, 'relative_humidity_2m'),
      windSpeed: numberAt(current, 'wind_speed_10m'),
      units,
    };
  };
}

async function askJson(service: JsonService, caller: AbortSignal | undefined): Promise<unknown> {
  const deadline = AbortSignal.timeout(service.timeoutMs);
  const signal = caller === undefined ? deadline : AbortSignal.any([deadline, caller]);
  try {
    const { statusCode, body } = await request(service.url, { headers: service.headers, signal });
    if (statusCode === 429) throw new WebToolError('RATE_LIMIT', `${service.name} asks to wait.`);
    if (statusCode === 401 || statusCode === 403) {
      throw new WebToolError('API_KEY_MISSING', `${service.name} refused the server's key.`);
    }
    if (statusCode !== 200) {
      throw new WebToolError('EXTERNAL_API_ERROR', `${service.name} answered with status ${statusCode}.`);
    }
    return await body.json();
  } catch (error) {
    if (error instanceof WebToolError) throw error;
    if (error instanceof SyntaxError) {
      throw new WebToolError('EXTERNAL_API_ERROR', `${service.name} gave no usable answer.`, {
        cause: error,
      });
    }
    throw new WebToolError('NETWORK_ERROR', `${service.name} could not be reached in time.`, {
      cause: error,
    });
  }
}

function objectAt(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function textAt(value: unknown, key: string): string {
  const text = objectAt(value, key);
  return typeof text === 'string' ? text : '';
}

function numberAt(value: unknown, key: string): number {
  const number = objectAt(value, key);
  if (typeof number !== 'number') {
    throw new WebToolError('EXTERNAL_API_ERROR', 'The weather service gave no usable answer.');
  }
  return number;
}

/** Codes of the World Meteorological Organization (table 4677), in ranges. */
function describeWeather(code: number): string {
  if (code === 0) return 'clear sky';
  if (code <= 3) return 'partly cloudy';
  if (code <= 48) return 'fog';
  if (code <= 57) return 'drizzle';
  if (code <= 67) return 'rain';
  if (code <= 77) return 'snow';
  if (code <= 82) return 'rain showers';
  if (code <= 86) return 'snow showers';
  return 'thunderstorm';
}
