import { ConfigMap } from '@bowline/kubernetes';
import { slow } from '@bowline/runtime';
import { isForbidden } from '@bowline/runtime/client';
import { type Content, contentOf } from '../content/content.ts';
import { contentHash } from '../content/content-hash.ts';
import { type CopyResult, untouched } from '../copies/copy-result.ts';
import type { Target } from '../targets/resolve-targets.ts';
import type { SyncContext } from './sync-controller.ts';

/** Source is the ConfigMap that is copied, as it is now. */
export interface Source {
  /** The whole object. */
  readonly object: ConfigMap;
  readonly metadata: NonNullable<ConfigMap['metadata']>;
  readonly isImmutable: boolean;
  readonly content: Content;
  readonly hash: string;
  readonly resourceVersion: string;
}

/** sourceOf returns a ConfigMap as a source. */
export function sourceOf(configMap: ConfigMap): Source {
  const { metadata = {} } = configMap;
  const content = contentOf(configMap);
  return {
    object: configMap,
    metadata,
    isImmutable: configMap.immutable === true,
    content,
    hash: contentHash(content),
    resourceVersion: metadata.resourceVersion ?? '',
  };
}

/** sourceKey returns the key of the source. */
export function sourceKey({ object }: Pick<SyncContext, 'object'>): {
  readonly namespace: string;
  readonly name: string;
} {
  return { namespace: object.spec.sourceNamespace, name: object.spec.configMapName };
}

/**
 * readSource reads the source from the API server: the cache keeps no values. It returns undefined if there is none.
 */
export async function readSource(context: SyncContext): Promise<Source | undefined> {
  const { live, status } = context;
  const source = await live.find(ConfigMap, sourceKey(context)).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    status.condition('SourceAvailable', false, 'SourceForbidden', error.message);
    throw slow('SyncFailed', error.message, { cause: error });
  });
  return source && sourceOf(source);
}

/** setSourceCondition sets the condition that reports whether the source exists. */
export function setSourceCondition(context: SyncContext, exists: boolean): void {
  const { namespace, name } = sourceKey(context);
  if (exists)
    context.status.condition('SourceAvailable', true, 'SourceFound', `the source ${namespace}/${name} exists`);
  else
    context.status.condition(
      'SourceAvailable',
      false,
      'SourceNotFound',
      `the source ${namespace}/${name} does not exist; create it, or correct spec.sourceNamespace and spec.configMapName`,
    );
}

/** waitForSource leaves every copy unchanged. */
export function waitForSource(context: SyncContext, targets: readonly Target[]): readonly CopyResult[] {
  const { namespace, name } = sourceKey(context);
  const message = `the source ${namespace}/${name} does not exist; create it, or correct spec.sourceNamespace and spec.configMapName`;
  const obstacle = { state: 'Pending', reason: 'SourceNotFound', message } as const;
  return targets.map((target) => untouched(target, context.get('copies', target), obstacle));
}
