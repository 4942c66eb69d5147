export { createRealtime, type Realtime, type RealtimeOptions, type RealtimeServices } from './realtime.ts';
