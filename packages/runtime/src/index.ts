export type * from './client/client.ts';
export { BowlineError, type BowlineErrorOptions } from './errors/bowline-error.ts';
export { type Fields, type Log, silentLog } from './observability/log.ts';
export * from './observability/metrics.ts';
export type * from './transport/transport.ts';
