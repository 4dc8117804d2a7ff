import type { WrittenObject } from '../../support/raw-writes.ts';

/** smallConfigMap is an object of a few hundred bytes, such as a lock or a setting is. */
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
