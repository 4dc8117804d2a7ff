import type { SecretRef } from './provider.ts';
import { ProviderError } from './provider-error.ts';

/** OptionalField is what a request may say about where a secret is read, and not every store knows. */
export type OptionalField = 'versionStage' | 'versionId' | 'region' | 'role';

const ALL: readonly OptionalField[] = ['versionStage', 'versionId', 'region', 'role'];

/** refuseUnsupported throws for a request with a field that the store does not know: read without it, it would be another secret. */
export function refuseUnsupported(
  ref: SecretRef,
  { provider, supported }: { readonly provider: string; readonly supported: readonly OptionalField[] },
): void {
  const field = ALL.find((each) => ref[each] !== undefined && !supported.includes(each));
  if (field === undefined) return;
  const others = supported.length === 0 ? '' : `; it knows ${supported.join(' and ')}`;
  // The role is the only one that a policy gives to who asks for none.
  const place = field === 'role' ? 'the annotation, or from the rule of the policy' : 'the annotation';
  throw new ProviderError(`the provider ${provider} knows no ${field}: remove it from ${place}${others}`, {
    kind: 'refused',
    provider,
    operation: 'read',
    code: 'Unsupported',
  });
}
