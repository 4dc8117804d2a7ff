import { apiVersionOf, type KubernetesObject } from '@bowline/kubernetes';
import { canonicalJson } from '@bowline/machinery';
import type { ApiResource, Draft } from '../registry/api-resource.ts';
import { objectOf, type Stored } from '../storage/stored.ts';

/** typedText returns the text of a stored object as clients receive it. It parses nothing. */
export function typedText(resource: ApiResource, { json }: Pick<Stored, 'json'>): string {
  return `${typePrefix(resource)}${json.slice(1)}`;
}

/**
 * typePrefix returns the beginning of the text of every object of a kind. The text of an object always has a member
 * after it, because every object has metadata.
 */
export function typePrefix(resource: ApiResource): string {
  const { kind } = resource;
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersionOf(resource))},`;
}

/** viewed returns a stored object as the requested version represents it. */
export function viewed({ viewOf }: ApiResource, stored: Stored): Stored {
  return viewOf ? viewOf(stored) : stored;
}

/** draftOf returns a stored object as a draft to be changed. */
export function draftOf(stored: Stored): Draft {
  // Every stored object has metadata.
  return objectOf(stored) as Draft;
}

/** draftText returns the text of an object that is not stored, such as the result of a dry run. */
export function draftText(resource: ApiResource, draft: KubernetesObject): string {
  return typedText(resource, { json: canonicalJson({ ...draft, apiVersion: undefined, kind: undefined }) });
}
