export { type JasmOptions, jasm, jasmWith } from './operator.ts';
export { MockProvider, type MockValue } from './providers/mock/mock-provider.ts';
export type * from './providers/provider.ts';
export {
  PathInvalid,
  ProviderError,
  type ProviderErrorKind,
  type ProviderErrorOptions,
} from './providers/provider-error.ts';
export {
  type ConfiguredKind,
  configureProvider,
  type ProviderConfig,
  providerKinds,
} from './providers/provider-kinds.ts';
