/** The interfaces through which Questline reaches the host's infrastructure, with their types and errors. */

export type {
  CreditMovement,
  ModelCall,
  ModelCallEnd,
  ModelCallSpan,
  ObservedJob,
  ObservedRequest,
  Observer,
  UsageRejection,
} from './observability/observer.ts';
export * from './ports/index.ts';
export type {
  Consultation,
  ToolCall,
  ToolOffer,
  ToolRegistry,
  ToolScope,
  ToolServerOffer,
  ToolServerOffers,
} from './tools/registry.ts';
