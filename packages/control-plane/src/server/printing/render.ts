import { apiVersionOf, type KubernetesObject } from '@bowline/kubernetes';
import { canonicalJson } from '../json/canonical-json.ts';
import type { ApiResource, Draft } from '../registry/api-resource.ts';
import { objectOf, type Stored } from '../storage/stored.ts';

/** typedText is the text of a stored object as a client gets it. Nothing is parsed. */
export function typedText(resource: ApiResource, { json }: Pick<Stored, 'json'>): string {
  return `${typePrefix(resource)}${json.slice(1)}`;
}

/** typePrefix is how every text of a kind begins. No text of an object is empty: it has metadata. */
export function typePrefix(resource: ApiResource): string {
  const { kind } = resource;
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersionOf(resource))},`;
}

/** viewed is a stored object as the version that is asked for shows it. */
export function viewed({ viewOf }: ApiResource, stored: Stored): Stored {
  return viewOf ? viewOf(stored) : stored;
}

/** draftOf is a stored object to be changed. */
export function draftOf(stored: Stored): Draft {
  // What is stored has metadata.
  return objectOf(stored) as Draft;
}

/** draftText is the text of an object that is not stored: what a dry run answers. */
export function draftText(resource: ApiResource, draft: KubernetesObject): string {
  return typedText(resource, { json: canonicalJson({ ...draft, apiVersion: undefined, kind: undefined }) });
}
