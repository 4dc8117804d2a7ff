import type { WrittenObject } from '../../support/raw-writes.ts';

/** smallConfigMap returns an object of a few hundred bytes, such as a lock or a setting. */
export function smallConfigMap(
  metadata: { readonly name?: string; readonly namespace?: string },
  revision: string,
): WrittenObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, labels: { 'app.kubernetes.io/name': 'small' } },
    data: { word: 'a few words of text', revision },
  };
}
