import { expect, it } from 'vitest';
import { apiVersionOf, parseApiVersion } from './resource.ts';

it.each([
  ['v1', { group: '', version: 'v1' }],
  ['apps/v1', { group: 'apps', version: 'v1' }],
  ['sync.bowline.dev/v1alpha1', { group: 'sync.bowline.dev', version: 'v1alpha1' }],
])('%s is group and version, and back', (apiVersion, parts) => {
  expect(parseApiVersion(apiVersion)).toEqual(parts);
  expect(apiVersionOf(parts)).toBe(apiVersion);
});
