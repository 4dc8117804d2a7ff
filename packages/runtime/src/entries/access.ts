// The entry of `@bowline/runtime/access`: who may use an HTTP API of an operator.
export { type AccessDecision, TokenAccess, type TokenAccessOptions } from '../access/token-access.ts';
