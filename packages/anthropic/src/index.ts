export { type AnthropicApiOptions, type AnthropicApiServices, createAnthropicApi } from './api.ts';
