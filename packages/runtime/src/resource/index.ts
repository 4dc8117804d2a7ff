// The entry of `@bowline/runtime/resource`: separate from the main entry, because it loads the CEL and RE2 engines.
export { type Read, s, type Written } from '@bowline/machinery/schema';
export * from './custom-resource.ts';
export { defineResource, type ResourceOptions } from './define-resource.ts';
