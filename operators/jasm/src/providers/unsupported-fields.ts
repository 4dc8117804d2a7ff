import type { SecretRef } from './provider.ts';
import { ProviderError } from './provider-error.ts';

/** OptionalField is a field of a request that not every store supports. */
export type OptionalField = 'versionStage' | 'versionId' | 'region' | 'role';

const ALL: readonly OptionalField[] = ['versionStage', 'versionId', 'region', 'role'];

/**
 * rejectUnsupported throws for a request with a field that the store does not support: without the field, it would read
 * another secret.
 */
export function rejectUnsupported(
  ref: SecretRef,
  { provider, supported }: { readonly provider: string; readonly supported: readonly OptionalField[] },
): void {
  const field = ALL.find((each) => ref[each] !== undefined && !supported.includes(each));
  if (field === undefined) return;
  const others = supported.length === 0 ? '' : `; it supports ${supported.join(' and ')}`;
  // The role is the only field that a policy can add to a request without one.
  const location = field === 'role' ? 'the annotation, or from the rule of the policy' : 'the annotation';
  throw new ProviderError(`the provider ${provider} does not support ${field}: remove it from ${location}${others}`, {
    kind: 'refused',
    provider,
    operation: 'read',
    code: 'Unsupported',
  });
}
